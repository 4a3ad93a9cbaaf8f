package io.plumbline.geometry;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Collects the statistics of one window: each one's number, or why it does not exist. Every statistic of the moment
 * once.
 */
final class AssessmentBuilder {

    private final Map<Statistic, Value> values = new EnumMap<>(Statistic.class);

    /** Keeps the reason where there is one, and otherwise the number, which is computed only then. */
    AssessmentBuilder put(Statistic statistic, @Nullable String reason, DoubleSupplier number) {
        Value value = reason == null ? new Value.Known(number.getAsDouble()) : new Value.Undefined(reason);
        if (values.put(statistic, value) != null) {
            throw new IllegalStateException(statistic + " was computed twice");
        }
        return this;
    }

    /**
     * Puts a bound as {@link #put(Statistic, String, DoubleSupplier)} puts a value; {@code missing} is the reason
     * where it is null.
     */
    AssessmentBuilder put(Statistic statistic, @Nullable String reason, @Nullable GapBound bound, String missing) {
        return put(
                statistic,
                unless(reason, bound == null ? missing : null),
                () -> bound == null ? Double.NaN : bound.value());
    }

    /** The first reason there is, or null. */
    static @Nullable String unless(@Nullable String... reasons) {
        for (String reason : reasons) {
            if (reason != null) {
                return reason;
            }
        }
        return null;
    }

    /**
     * The assessment; what does not come from the moment is undefined in it until it is added.
     *
     * @throws IllegalStateException if a statistic of the moment was not put
     */
    GapAssessment build(
            long rows, int dimension, int rank, @Nullable Boolean certified, @Nullable List<Double> principalAngles) {
        for (Statistic statistic : Statistic.values()) {
            if (!values.containsKey(statistic)) {
                if (statistic.source() == Statistic.Source.MOMENT) {
                    throw new IllegalStateException(statistic + " comes from the moment and was not computed");
                }
                values.put(statistic, new Value.Undefined(statistic.source().missing()));
            }
        }
        return new GapAssessment(rows, dimension, rank, values, certified, principalAngles);
    }
}
