package io.plumbline.calibration;

import io.plumbline.geometry.FaithfulnessGap;
import java.util.Arrays;

/**
 * How the level is found above which a statistic counts as drift. Sealed: every rule is a record here, and each answers
 * with a {@link Level} or with what is missing.
 */
public sealed interface Threshold {

    /** A level, or why there is none. */
    sealed interface Level {
        /** Values above it count. */
        record Known(double value) implements Level {}

        /** There is no level yet; {@code reason} says what to collect. */
        record Unknown(String reason) implements Level {}
    }

    /**
     * The level for one statistic.
     *
     * @param cleanValues the statistic in the baseline's own windows of the size and rank judged; may be empty
     */
    Level level(int rank, int dimension, double[] cleanValues);

    /** A value in the statistic's own units: {@code threshold: 4.0}. */
    record Fixed(double value) implements Threshold {
        public Fixed {
            if (!(value >= 0.0 && value < Double.POSITIVE_INFINITY)) {
                throw new IllegalArgumentException("threshold = %s: expected 0 or more".formatted(value));
            }
        }

        @Override
        public Level level(int rank, int dimension, double[] cleanValues) {
            return new Level.Known(value);
        }
    }

    /** A share of the largest possible gap {@code sqrt(2 min(r, d-r))}; for statistics that are gaps. */
    record ShareOfLargestGap(double share) implements Threshold {
        public ShareOfLargestGap {
            if (!(share > 0.0 && share <= 1.0)) {
                throw new IllegalArgumentException(
                        "gap share threshold = %s: expected a share in (0, 1]; 0.3 alerts at 30 %% of the largest possible gap"
                                .formatted(share));
            }
        }

        @Override
        public Level level(int rank, int dimension, double[] cleanValues) {
            return new Level.Known(share * new FaithfulnessGap(0.0, rank, dimension).largest());
        }
    }

    /**
     * A quantile of the baseline's own windows: the {@code ceil((K+1) q)}-th smallest of K clean values. A new clean window,
     * exchangeable with them, exceeds it with probability at most {@code 1 - q}. Needs {@code K >= q / (1-q)}.
     */
    record QuantileOfCleanWindows(double quantile) implements Threshold {
        public QuantileOfCleanWindows {
            if (!(quantile > 0.0 && quantile < 1.0)) {
                throw new IllegalArgumentException(
                        "quantile = %s: expected a share in (0, 1); 0.95 lets one clean window in twenty alert"
                                .formatted(quantile));
            }
        }

        @Override
        public Level level(int rank, int dimension, double[] cleanValues) {
            int count = cleanValues.length;
            // The small step down keeps (K+1) q = 19.000000000000004 from asking for the 20th.
            int position = (int) Math.ceil((count + 1) * quantile - 1e-9);
            if (position > count) {
                return new Level.Unknown(
                        "quantile %s needs at least %d clean windows, the baseline has %d; add clean requests to it or ask for a lower quantile"
                                .formatted(quantile, windowsNeeded(), count));
            }
            double[] sorted = cleanValues.clone();
            Arrays.sort(sorted);
            return new Level.Known(sorted[Math.max(1, position) - 1]);
        }

        /** The least K for which the order statistic exists. */
        public int windowsNeeded() {
            return (int) Math.ceil(quantile / (1.0 - quantile) - 1e-9);
        }
    }
}
