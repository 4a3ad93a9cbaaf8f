package io.plumbline.topology.progress;

import java.util.Optional;
import org.apache.kafka.streams.KafkaStreams;

/** Makes probes over a running Kafka Streams application. */
public final class StreamsProbes {

    private StreamsProbes() {}

    /**
     * Asks whether the application is alive: not in an error or stopped, and every one of its configured threads still
     * there. One dead thread of two leaves Kafka Streams {@code RUNNING} with its tasks on the other, at half the
     * speed.
     */
    public static Probe alive(String application, KafkaStreams streams, int configuredThreads) {
        return () -> aliveComplaint(
                application, streams.state(), streams.metadataForLocalThreads().size(), configuredThreads);
    }

    /**
     * Asks whether the application works: {@code RUNNING} <em>and</em> with tasks. Kafka Streams reports
     * {@code RUNNING} with no task at all while the group still waits for a dead member to expire.
     */
    public static Probe ready(String application, KafkaStreams streams) {
        return () -> readyComplaint(
                application,
                streams.state(),
                streams.metadataForLocalThreads().stream()
                        .mapToInt(thread -> thread.activeTasks().size())
                        .sum());
    }

    static Optional<String> aliveComplaint(
            String application, KafkaStreams.State state, int threads, int configuredThreads) {
        if (state == KafkaStreams.State.ERROR
                || state == KafkaStreams.State.PENDING_ERROR
                || state == KafkaStreams.State.PENDING_SHUTDOWN
                || state == KafkaStreams.State.NOT_RUNNING) {
            return Optional.of(application + ": Kafka Streams is " + state
                    + ", expected RUNNING or REBALANCING; it will not recover by itself, see the log for the"
                    + " first exception");
        }
        if (threads < configuredThreads) {
            return Optional.of(application + ": " + threads + " of " + configuredThreads
                    + " stream threads are alive; see the log for what ended the others");
        }
        return Optional.empty();
    }

    static Optional<String> readyComplaint(String application, KafkaStreams.State state, int activeTasks) {
        if (state != KafkaStreams.State.RUNNING) {
            return Optional.of(application + ": Kafka Streams is " + state + ", expected RUNNING");
        }
        if (activeTasks == 0) {
            return Optional.of(application
                    + ": no task is assigned to this instance; the group may still wait for a dead member to expire,"
                    + " or there are more threads than partitions");
        }
        return Optional.empty();
    }
}
