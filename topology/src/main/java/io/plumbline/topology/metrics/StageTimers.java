package io.plumbline.topology.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Times the stages, and how long they kept a stream thread from taking records. Thread-safe. */
final class StageTimers {

    private static final String STAGES =
            "Time one unit of work takes in a stage: a record, a commit, a window, an adaptation, a decoder";
    private static final String STALLS =
            "Time at a stretch for which a stream thread took no records because windows were closed or assessed";

    /**
     * Buckets of the stage times in seconds: a tenth of a millisecond to read a record, 36 ms to assess at d = 768,
     * 400 ms at 2,048, seconds to adapt.
     */
    private static final double[] STAGE_BUCKETS = {0.0001, 0.001, 0.005, 0.025, 0.1, 0.5, 2, 10, 60, 300};

    /**
     * Buckets of stalls in seconds: sending a report takes milliseconds, half a second is what a fast assessment at d =
     * 2,048 takes.
     */
    private static final double[] STALL_BUCKETS = {0.001, 0.005, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30};

    /** Native buckets begin at a width of 9 %, since 2^(1/8) = 1.09, and double it where there are too many. */
    private static final int NATIVE_SCHEMA = 3;

    /** Time after a trace in which no other is read from a header: a bucket keeps its exemplar for longer. */
    static final long BETWEEN_TRACES = TimeUnit.MILLISECONDS.toNanos(250);

    private final Map<Stage, TimeHistogram> stages = new EnumMap<>(Stage.class);
    private final TimeHistogram stalls;
    private final LongSupplier nanoTime;
    private final AtomicLong nextTrace;

    StageTimers(PrometheusRegistry prometheus, MeterRegistry meters, LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        nextTrace = new AtomicLong(nanoTime.getAsLong());
        Histogram ofStages = histogram("plumbline_stage_seconds", STAGES, STAGE_BUCKETS)
                .labelNames("stage")
                .register(prometheus);
        for (Stage stage : Stage.values()) {
            stages.put(
                    stage,
                    new TimeHistogram(
                            ofStages.labelValues(stage.label()),
                            meters,
                            "plumbline.stage.seconds.max",
                            STAGES,
                            Tags.of("stage", stage.label())));
        }
        stalls = new TimeHistogram(
                histogram("plumbline_ingestion_stall_seconds", STALLS, STALL_BUCKETS)
                        .register(prometheus),
                meters,
                "plumbline.ingestion.stall.seconds.max",
                STALLS,
                Tags.empty());
    }

    private static Histogram.Builder histogram(String name, String description, double... buckets) {
        return Histogram.builder()
                .name(name)
                .help(description)
                .classicUpperBounds(buckets)
                .nativeInitialSchema(NATIVE_SCHEMA);
    }

    void took(Stage stage, long nanoseconds) {
        of(stage).took(nanoseconds);
    }

    /**
     * Adds the time of a record that was read.
     *
     * @param traceparent header of an accepted record; null without one
     */
    void read(long nanoseconds, byte @Nullable [] traceparent) {
        Labels trace = traceparent == null ? null : trace(traceparent);
        if (trace == null) {
            of(Stage.INGEST).took(nanoseconds);
        } else {
            of(Stage.INGEST).took(nanoseconds, trace);
        }
    }

    private @Nullable Labels trace(byte[] traceparent) {
        long now = nanoTime.getAsLong();
        long next = nextTrace.get();
        if (now - next < 0) {
            return null;
        }
        Labels trace = TraceParent.exemplar(traceparent);
        return trace != null && nextTrace.compareAndSet(next, now + BETWEEN_TRACES) ? trace : null;
    }

    private TimeHistogram of(Stage stage) {
        return Objects.requireNonNull(stages.get(stage), "every stage has one");
    }

    void stalled(long nanoseconds) {
        stalls.took(nanoseconds);
    }
}
