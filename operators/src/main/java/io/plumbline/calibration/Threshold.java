package io.plumbline.calibration;

import java.util.Arrays;
import java.util.Locale;

/**
 * The level a statistic must exceed for a window to count against its site. A further rule (a false-alarm rate over a
 * conformal sample, say) is one more record here.
 */
public sealed interface Threshold {

    /**
     * The level for one statistic of one site.
     *
     * @param statistic its name, for messages
     * @param largest the largest value the statistic can take; NaN where there is none
     * @param cleanWindows its value in clean windows of the baseline, of the size judged; empty where there are none
     */
    Level resolve(String statistic, double largest, double[] cleanWindows);

    /** What a threshold comes to. */
    sealed interface Level {
        /** A number, and how it came about. */
        record Known(double value, String origin) implements Level {}

        /** There is none, with what is missing. */
        record Unknown(String reason) implements Level {}
    }

    /** A number in the statistic's own unit. */
    record Fixed(double value) implements Threshold {
        public Fixed {
            if (!(value >= 0.0) || Double.isInfinite(value)) {
                throw new IllegalArgumentException("threshold = %s: expected a number of 0 or more".formatted(value));
            }
        }

        @Override
        public Level resolve(String statistic, double largest, double[] cleanWindows) {
            return new Level.Known(value, "fixed");
        }
    }

    /** A share of the largest value possible. */
    record Share(double share) implements Threshold {
        public Share {
            if (!(share > 0.0 && share <= 1.0)) {
                throw new IllegalArgumentException(
                        "threshold share = %s: expected a share in (0, 1]; 0.6 alerts at 60 %% of the largest possible gap"
                                .formatted(share));
            }
        }

        @Override
        public Level resolve(String statistic, double largest, double[] cleanWindows) {
            if (Double.isNaN(largest)) {
                return new Level.Unknown("%s has no largest possible value to take a share of".formatted(statistic));
            }
            return new Level.Known(
                    share * largest, String.format(Locale.ROOT, "%s of the largest possible %.4f", share, largest));
        }
    }

    /**
     * An order statistic of the baseline's own clean windows: with K of them, the {@code ⌈(K + 1) q⌉}-th smallest value.
     * A further clean window exceeds it with probability at most {@code 1 - q} when clean windows are exchangeable.
     */
    record Quantile(double quantile) implements Threshold {
        public Quantile {
            if (!(quantile > 0.0 && quantile < 1.0)) {
                throw new IllegalArgumentException(
                        "threshold quantile = %s: expected a number in (0, 1), such as 0.95".formatted(quantile));
            }
        }

        @Override
        public Level resolve(String statistic, double largest, double[] cleanWindows) {
            int windows = cleanWindows.length;
            int order = orderFor(windows);
            if (order > windows) {
                return new Level.Unknown(
                        "the %s quantile of %s needs %d clean windows, the baseline has %d of this rank and size; collect more activations and run `plumbline baseline` again, or set a number"
                                .formatted(quantile, statistic, windowsNeeded(), windows));
            }
            double[] sorted = cleanWindows.clone();
            Arrays.sort(sorted);
            return new Level.Known(sorted[order - 1], "%d-th smallest of %d clean windows".formatted(order, windows));
        }

        private int orderFor(int windows) {
            // (K + 1) q is often meant to be whole: do not let 0.9 * 10 = 9.000000000000002 round up.
            return (int) Math.ceil((windows + 1) * quantile - 1e-9);
        }

        private int windowsNeeded() {
            int windows = 1;
            while (orderFor(windows) > windows) {
                windows++;
            }
            return windows;
        }
    }
}
