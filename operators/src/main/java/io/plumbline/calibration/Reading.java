package io.plumbline.calibration;

import io.plumbline.calibration.Threshold.Level;
import org.jspecify.annotations.Nullable;

/**
 * One statistic of one window beside its levels.
 *
 * @param value null where it is undefined in this window
 * @param level above it the statistic speaks for drift
 * @param clear at or below it the statistic speaks against
 * @param undecided null where it can be judged, otherwise why not
 */
public record Reading(
        String statistic,
        @Nullable Double value,
        Level level,
        Level clear,
        @Nullable String undecided) {

    /** The level, where there is one. */
    public @Nullable Double threshold() {
        return level instanceof Level.Known known ? known.value() : null;
    }

    /** What stands behind the level, where it was taken from clean windows. */
    public @Nullable Basis basis() {
        return level instanceof Level.Known known ? known.basis() : null;
    }

    /** Whether it is above its level; null where that cannot be said. */
    public @Nullable Boolean exceeded() {
        if (undecided != null || value == null || !(level instanceof Level.Known known)) {
            return null;
        }
        return value > known.value();
    }

    /** How far above its level, 1 being at it: what orders several statistics. */
    double ratio() {
        return ratioTo(level);
    }

    /** The same for the level to come back below. */
    double ratioToClear() {
        return Math.max(ratio(), ratioTo(clear));
    }

    private double ratioTo(Level other) {
        if (value == null || !(other instanceof Level.Known known)) {
            return Double.NaN;
        }
        if (known.value() > 0.0) {
            return value / known.value();
        }
        return value > known.value() ? Double.POSITIVE_INFINITY : 1.0;
    }
}
