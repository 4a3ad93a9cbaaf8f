package io.plumbline.topology.baselines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests what is offered to the topic after a record that it did not take. */
class UnwrittenTest {

    private static final BaselineVersion FIRST = Described.first("s1", "a");
    private static final BaselineVersion SECOND = Described.replacing("s1", "b", 2, "a");
    private static final BaselineVersion OTHER = Described.first("s2", "a");
    private static final BaselineVersion OTHER_NEXT = Described.replacing("s2", "b", 2, "a");

    private long nanos;
    private final Unwritten unwritten = new Unwritten(Duration.ofNanos(10), () -> nanos);
    private final Map<String, BaselineHistory> histories = new HashMap<>();
    private final List<BaselineVersion> offered = new ArrayList<>();

    @BeforeEach
    void fill() {
        unwritten.add(List.of(FIRST, SECOND, OTHER));
    }

    @Test
    void aRecordThatIsRefusedStopsThoseOfItsSiteAloneAndTheyFollowInOrder() throws InterruptedException {
        assertNotNull(write(FIRST, new RecordTooLargeException("large")));
        assertEquals(List.of(FIRST, OTHER), offered);
        assertEquals(2, unwritten.size());
        offered.clear();
        assertNull(write(null, null));
        assertEquals(List.of(FIRST, SECOND), offered);
        assertEquals(0, unwritten.size());
    }

    @Test
    void aBrokerThatDoesNotAnswerIsAskedOnce() throws InterruptedException {
        assertNotNull(write(FIRST, new TimeoutException("away")));
        assertEquals(List.of(FIRST), offered);
        assertEquals(3, unwritten.size());
    }

    @Test
    void whoCouldNotCompareWaitsForOneThatCould() throws InterruptedException {
        write(null, null);
        offered.clear();
        unwritten.add(List.of(Described.started("s1", "c", 3), OTHER_NEXT));
        assertNull(write(null, null));
        assertEquals(List.of(OTHER_NEXT), offered, "it waits, and no other site with it");
        nanos = 9;
        assertNull(write(null, null));
        assertEquals(1, unwritten.size());
        nanos = 10;
        assertNull(write(null, null));
        assertEquals(Described.hash("c"), offered.get(1).sha256());
        assertEquals(0, unwritten.size());

        unwritten.add(List.of(Described.started("s1", "d", 4)));
        write(null, null);
        histories.computeIfPresent("s1", (site, before) -> before.with(Described.replacing("s1", "d", 4, "c")));
        assertNull(write(null, null));
        assertEquals(2, offered.size(), "another instance wrote it");
        assertEquals(0, unwritten.size());
    }

    private @Nullable RuntimeException write(@Nullable BaselineVersion refused, @Nullable RuntimeException why)
            throws InterruptedException {
        return unwritten.writeTo(site -> histories.getOrDefault(site, BaselineHistory.of(site)), version -> {
            offered.add(version);
            if (why != null && version.equals(refused)) {
                throw new IllegalStateException("not taken", why);
            }
            histories.merge(
                    version.site(),
                    BaselineHistory.of(version.site()).with(version),
                    (before, one) -> before.with(version));
        });
    }
}
