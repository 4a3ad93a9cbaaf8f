package io.plumbline.topology.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class StandstillsTest {

    private static final TopicPartition FIRST = new TopicPartition("requests", 0);
    private static final TopicPartition SECOND = new TopicPartition("requests", 1);

    private long now;
    private final Repeats repeats = new Repeats();
    private final Standstills standstills = new Standstills(
            "adapter",
            Map.of("adaptation_requests", "requests", "moments", "tiles"),
            Duration.ofSeconds(901),
            repeats,
            () -> now);

    @Test
    void timeRunsWhileRecordsWaitAtOneOffsetAndTheWorstPartitionCounts() {
        at(0, () -> standstills.saw(FIRST, 5, 9));
        at(100, () -> {
            standstills.saw(FIRST, 5, 30);
            standstills.saw(SECOND, 7, 8);
        });
        at(130, () -> {
            assertEquals(130.0, standstills.stalledSeconds("adaptation_requests"));
            assertEquals(0.0, standstills.stalledSeconds("moments"));
            standstills.saw(FIRST, 6, 30);
            assertEquals(30.0, standstills.stalledSeconds("adaptation_requests"), "it moved; the other did not");
            standstills.saw(FIRST, 30, 30);
            standstills.saw(SECOND, 8, 8);
            assertEquals(0.0, standstills.stalledSeconds("adaptation_requests"), "nothing waits");
        });
    }

    @Test
    void offsetsThatNobodyCanReadAreNoStandstillUntilARecordComes() {
        at(0, () -> standstills.saw(FIRST, 5, 9));
        at(40, () -> {
            assertEquals(Map.of(FIRST, 5L), standstills.standingFor(Duration.ofSeconds(30)));
            standstills.sawNothingToRead(FIRST);
            standstills.saw(FIRST, 5, 9);
            assertEquals(0.0, standstills.stalledSeconds("adaptation_requests"));
            assertEquals(Map.of(), standstills.standingFor(Duration.ofSeconds(30)));
        });
        at(50, () -> standstills.saw(FIRST, 5, 10));
        at(60, () -> assertEquals(10.0, standstills.stalledSeconds("adaptation_requests")));
    }

    @Test
    void anInstanceThatHoldsWhatStandsTooLongIsNotReadyAndSaysWhere() {
        at(0, () -> standstills.saw(FIRST, 5, 9));
        at(902, () -> {
            assertEquals(Optional.empty(), standstills.moving().complaint(), "another instance holds it");
            repeats.handed("requests", 0, 5);
            String sentence = standstills.moving().complaint().orElseThrow();
            assertTrue(sentence.contains("adapter: requests-0 has stood at offset 5 for 902 s"), sentence);
            assertTrue(sentence.contains("expected progress within 901 s"), sentence);
        });
    }

    @Test
    void aSlowRecordIsNoComplaintButOneThatIsReadAgainAndAgainIs() {
        at(0, () -> standstills.saw(FIRST, 5, 9));
        repeats.handed("requests", 0, 5);
        repeats.handed("requests", 0, 5);
        repeats.handed("requests", 0, 5);
        at(20, () -> {
            assertEquals(Optional.empty(), standstills.moving().complaint());
            assertEquals(2.0, standstills.repeats("adaptation_requests"));
            repeats.handed("requests", 0, 5);
            assertEquals(3.0, standstills.repeats("adaptation_requests"));
            assertTrue(standstills.moving().complaint().orElseThrow().contains("read again from there 3 times"));
            standstills.saw(FIRST, 6, 9);
            assertEquals(0.0, standstills.repeats("adaptation_requests"));
            assertEquals(Optional.empty(), standstills.moving().complaint());
        });
    }

    private void at(long seconds, Runnable step) {
        now = TimeUnit.SECONDS.toNanos(seconds);
        step.run();
    }
}
