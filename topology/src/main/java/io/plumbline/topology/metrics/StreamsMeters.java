package io.plumbline.topology.metrics;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.config.MeterFilterReply;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Exports the handful of Kafka's own metrics that answer a question at night: is it behind, is it working, are its
 * threads alive, is it restoring. Micrometer would bind several hundred names per application, most of them per node,
 * task and partition.
 *
 * <p>Kafka puts a random process id into client and thread ids; it is taken out, or every restart would start new
 * series. The number of tags is left as it is: Micrometer compares it with Kafka's to tell a metric from its coarser
 * namesake and would drop meters that lost one.
 */
final class StreamsMeters implements MeterFilter {
    static final Set<String> ALLOWED = Set.of(
            "kafka.consumer.fetch.manager.records.lag.max",
            "kafka.stream.thread.process.rate",
            "kafka.stream.thread.process.latency.avg",
            "kafka.stream.thread.process.latency.max",
            "kafka.stream.thread.commit.rate",
            "kafka.stream.thread.commit.latency.avg",
            "kafka.stream.thread.commit.latency.max",
            "kafka.stream.alive.stream.threads",
            "kafka.stream.failed.stream.threads",
            "kafka.stream.state.updater.active.restoring.tasks",
            "kafka.stream.state.updater.restore.records.rate");

    private static final Pattern PROCESS_ID =
            Pattern.compile("-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");

    @Override
    public MeterFilterReply accept(Meter.Id id) {
        return id.getName().startsWith("kafka.") && !ALLOWED.contains(id.getName())
                ? MeterFilterReply.DENY
                : MeterFilterReply.NEUTRAL;
    }

    @Override
    public Meter.Id map(Meter.Id id) {
        if (!id.getName().startsWith("kafka.")) {
            return id;
        }
        return id.replaceTags(id.getTags().stream()
                .map(tag ->
                        Tag.of(tag.getKey(), PROCESS_ID.matcher(tag.getValue()).replaceAll("")))
                .toList());
    }
}
