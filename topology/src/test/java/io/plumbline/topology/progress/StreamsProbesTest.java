package io.plumbline.topology.progress;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;
import org.apache.kafka.streams.KafkaStreams;
import org.junit.jupiter.api.Test;

class StreamsProbesTest {

    @Test
    void aDeadThreadOrAStoppedClientIsNotAlive() {
        assertTrue(StreamsProbes.aliveComplaint("monitor", KafkaStreams.State.RUNNING, 2, 2)
                .isEmpty());
        assertTrue(StreamsProbes.aliveComplaint("monitor", KafkaStreams.State.REBALANCING, 2, 2)
                .isEmpty());
        assertTrue(StreamsProbes.aliveComplaint("monitor", KafkaStreams.State.RUNNING, 1, 2)
                .orElse("")
                .contains("1 of 2"));
        for (KafkaStreams.State dead : Set.of(
                KafkaStreams.State.ERROR,
                KafkaStreams.State.PENDING_ERROR,
                KafkaStreams.State.PENDING_SHUTDOWN,
                KafkaStreams.State.NOT_RUNNING)) {
            assertTrue(
                    StreamsProbes.aliveComplaint("monitor", dead, 2, 2)
                            .orElse("")
                            .contains(dead.name()),
                    dead.name());
        }
    }

    @Test
    void runningWithoutTasksIsNotReady() {
        assertTrue(StreamsProbes.readyComplaint("monitor", KafkaStreams.State.RUNNING, 1)
                .isEmpty());
        assertTrue(StreamsProbes.readyComplaint("monitor", KafkaStreams.State.RUNNING, 0)
                .orElse("")
                .contains("no task"));
        assertTrue(StreamsProbes.readyComplaint("monitor", KafkaStreams.State.REBALANCING, 4)
                .orElse("")
                .contains("REBALANCING"));
    }
}
