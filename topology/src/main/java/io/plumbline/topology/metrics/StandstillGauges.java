package io.plumbline.topology.metrics;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.plumbline.topology.progress.Standstills;
import java.util.List;

/** Exports the gauges of {@link Standstills}: each is asked at every scrape. */
final class StandstillGauges {

    private StandstillGauges() {}

    static void register(MeterRegistry meters, Standstills standstills) {
        Tag application = Tag.of("application", standstills.application());
        Gauge.builder("plumbline.stall.limit", standstills, Standstills::limitSeconds)
                .description("Longest time that may rightly pass between two commits: the poll interval and a commit"
                        + " interval")
                .baseUnit("seconds")
                .tags(List.of(application))
                .strongReference(true)
                .register(meters);
        for (String topic : standstills.labels()) {
            List<Tag> tags = List.of(application, Tag.of("topic", topic));
            Gauge.builder("plumbline.stalled", standstills, all -> all.stalledSeconds(topic))
                    .description(
                            "Time for which records have waited at an unmoved committed offset, the worst partition"
                                    + " of the topic")
                    .baseUnit("seconds")
                    .tags(tags)
                    .strongReference(true)
                    .register(meters);
            Gauge.builder("plumbline.offset.repeats", standstills, all -> all.repeats(topic))
                    .description("Times in a row this process began again at the offset where a partition of the topic"
                            + " still stands")
                    .tags(tags)
                    .strongReference(true)
                    .register(meters);
        }
    }
}
