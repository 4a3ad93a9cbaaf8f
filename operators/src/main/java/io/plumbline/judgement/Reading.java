package io.plumbline.judgement;

import io.plumbline.judgement.Threshold.Level;
import org.jspecify.annotations.Nullable;

/**
 * One statistic of one window beside its levels.
 *
 * @param value null where it is undefined in this window
 * @param score the value's distance from the mean of the clean windows, in their standard deviations; null where the
 *     level was not taken from clean windows
 * @param level above it the statistic speaks for drift
 * @param clear at or below it the statistic speaks against
 * @param undecided null where it can be judged, otherwise why not
 * @param leftOut whether the other statistics are judged without it, because no clean window of the baseline has it or
 *     this window came without totals of its requests
 */
public record Reading(
        String statistic,
        @Nullable Double value,
        @Nullable Double score,
        Level level,
        Level clear,
        @Nullable String undecided,
        boolean leftOut) {

    /** Returns the level, or null where there is none. */
    public @Nullable Double threshold() {
        return level instanceof Level.Known known ? known.value() : null;
    }

    /** Returns the clean windows behind the level, or null where it was not taken from any. */
    public @Nullable Basis basis() {
        return level instanceof Level.Known known ? known.basis() : null;
    }

    /** Returns whether it is above its level; null where that cannot be said. */
    public @Nullable Boolean exceeded() {
        if (undecided != null || value == null || !(level instanceof Level.Known known)) {
            return null;
        }
        return value > known.value();
    }

    public Reading undecidedBecause(String reason) {
        return new Reading(statistic, value, score, level, clear, reason, leftOut);
    }

    public boolean isAboveClear() {
        return value != null && clear instanceof Level.Known known && value > known.value();
    }

    /** Returns the number that orders several statistics: the score, otherwise how many times its level it is. */
    public double height() {
        if (score != null) {
            return score;
        }
        if (value == null || !(level instanceof Level.Known known)) {
            return Double.NEGATIVE_INFINITY;
        }
        if (known.value() > 0.0) {
            return value / known.value();
        }
        return value > known.value() ? Double.POSITIVE_INFINITY : 1.0;
    }
}
