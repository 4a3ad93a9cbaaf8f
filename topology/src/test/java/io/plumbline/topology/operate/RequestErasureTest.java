package io.plumbline.topology.operate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.junit.jupiter.api.Test;

class RequestErasureTest {

    @Test
    void aLeaderThatDoesNotKnowTheNewPolicyYetIsAskedAgainForAWhile() {
        AtomicInteger asked = new AtomicInteger();
        PolicyViolationException compacted = new PolicyViolationException("the topic is only compacted");
        assertEquals(
                "deleted",
                RequestErasure.allowed(
                        () -> asked.incrementAndGet() < 3
                                ? CompletableFuture.failedFuture(compacted)
                                : CompletableFuture.completedFuture("deleted"),
                        Instant.MAX));
        assertEquals(3, asked.get());
        IllegalStateException refused = assertThrows(
                IllegalStateException.class,
                () -> RequestErasure.allowed(() -> CompletableFuture.failedFuture(compacted), Instant.MIN));
        assertTrue(String.valueOf(refused.getMessage()).contains("only compacted; erase again"), refused.toString());
    }

    @Test
    void anotherRefusalIsToldAtOnce() {
        AtomicInteger asked = new AtomicInteger();
        assertThrows(
                IllegalStateException.class,
                () -> RequestErasure.allowed(
                        () -> {
                            asked.incrementAndGet();
                            return CompletableFuture.failedFuture(new TopicAuthorizationException("no right"));
                        },
                        Instant.MAX));
        assertEquals(1, asked.get());
    }
}
