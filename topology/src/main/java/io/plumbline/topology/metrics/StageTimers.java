package io.plumbline.topology.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/** Times the stages, and how long they kept a stream thread from taking records. Thread-safe. */
final class StageTimers {

    /**
     * Buckets of the stage times: a tenth of a millisecond to read a record, 36 ms to assess at d = 768, 400 ms at
     * 2,048, seconds to adapt.
     */
    private static final Duration[] STAGE_BUCKETS = {
        Duration.ofNanos(100_000),
        Duration.ofMillis(1),
        Duration.ofMillis(5),
        Duration.ofMillis(25),
        Duration.ofMillis(100),
        Duration.ofMillis(500),
        Duration.ofSeconds(2),
        Duration.ofSeconds(10),
        Duration.ofSeconds(60),
        Duration.ofSeconds(300)
    };

    /**
     * Buckets of stalls: sending a report takes milliseconds, half a second is what a fast assessment at d = 2,048
     * takes.
     */
    private static final Duration[] STALL_BUCKETS = {
        Duration.ofMillis(1),
        Duration.ofMillis(5),
        Duration.ofMillis(25),
        Duration.ofMillis(50),
        Duration.ofMillis(100),
        Duration.ofMillis(250),
        Duration.ofMillis(500),
        Duration.ofSeconds(1),
        Duration.ofSeconds(5),
        Duration.ofSeconds(30)
    };

    private final Map<Stage, Timer> stages = new EnumMap<>(Stage.class);
    private final Timer stalls;

    StageTimers(MeterRegistry meters) {
        for (Stage stage : Stage.values()) {
            stages.put(
                    stage,
                    Timer.builder("plumbline.stage")
                            .description("Time one unit of work takes in a stage: a record, a commit, a window, an"
                                    + " adaptation, a decoder")
                            .tag("stage", stage.label())
                            .serviceLevelObjectives(STAGE_BUCKETS)
                            .register(meters));
        }
        stalls = Timer.builder("plumbline.ingestion.stall")
                .description(
                        "Time at a stretch for which a stream thread took no records because windows were closed or"
                                + " assessed")
                .serviceLevelObjectives(STALL_BUCKETS)
                .register(meters);
    }

    void took(Stage stage, long nanoseconds) {
        Objects.requireNonNull(stages.get(stage), "every stage has one").record(Duration.ofNanos(nanoseconds));
    }

    void stalled(long nanoseconds) {
        stalls.record(Duration.ofNanos(nanoseconds));
    }
}
