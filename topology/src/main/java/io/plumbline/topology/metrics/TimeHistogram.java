package io.plumbline.topology.metrics;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.distribution.TimeWindowMax;
import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import io.prometheus.metrics.model.snapshots.Labels;

/**
 * Times of one kind: how many of them are in each classic and each native bucket, and the longest of the last three
 * minutes. Micrometer's timers have no native buckets. Thread-safe.
 */
final class TimeHistogram {

    private static final long MINUTE_MS = 60_000;
    private static final int MINUTES = 3;

    private final DistributionDataPoint times;
    private final TimeWindowMax longest = new TimeWindowMax(Clock.SYSTEM, MINUTE_MS, MINUTES);

    /**
     * @param times in seconds
     * @param longest name of the gauge of the longest time
     */
    TimeHistogram(DistributionDataPoint times, MeterRegistry meters, String longest, String description, Tags tags) {
        this.times = times;
        Gauge.builder(longest, this.longest, TimeWindowMax::poll)
                .description(description)
                .tags(tags)
                .register(meters);
    }

    void took(long nanoseconds) {
        times.observe(seconds(nanoseconds));
    }

    /** Adds a time whose trace may become the exemplar of its bucket. */
    void took(long nanoseconds, Labels trace) {
        times.observeWithExemplar(seconds(nanoseconds), trace);
    }

    private double seconds(long nanoseconds) {
        double seconds = nanoseconds / 1e9;
        longest.record(seconds);
        return seconds;
    }
}
