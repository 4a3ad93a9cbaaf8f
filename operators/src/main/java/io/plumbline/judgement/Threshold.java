package io.plumbline.judgement;

import io.plumbline.geometry.FaithfulnessGap;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The way in which the level is found above which a statistic counts as drift. Sealed: every rule is a record here, and
 * each answers with a {@link Level} or with what is missing.
 */
public sealed interface Threshold {

    /** A level, or why there is none. */
    sealed interface Level {
        /** A level; values above it count. {@code basis} is null for a level someone wrote down. */
        record Known(double value, @Nullable Basis basis) implements Level {}

        /** The reason why there is no level yet; {@code reason} says what to collect. */
        record Unknown(String reason) implements Level {}
    }

    /**
     * The values that the baseline's own windows have in one statistic, or, where several statistics are judged
     * together, the values of {@code CleanScores}.
     *
     * @param rowsPerWindow rows those windows were filled to
     * @param values one per window, in any order; may be empty
     * @param together how many statistics are judged as one
     */
    record Clean(int rowsPerWindow, double[] values, int together) {

        /** The clean values where there is no baseline to ask. */
        public static final Clean NONE = new Clean(0, new double[0]);

        /** Creates the clean values of one statistic by itself. */
        Clean(int rowsPerWindow, double[] values) {
            this(rowsPerWindow, values, 1);
        }

        public int windows() {
            return values.length;
        }

        /** Returns the {@code fromTop}-th largest value, 1 for the largest. */
        public double fromTop(int fromTop) {
            double[] sorted = values.clone();
            Arrays.sort(sorted);
            return sorted[sorted.length - fromTop];
        }

        String rule(int fromTop) {
            String which = fromTop == 1 ? "the largest" : "number %d from the top".formatted(fromTop);
            String rule = "%s of %s of %s"
                    .formatted(which, Amounts.count(windows(), "clean window"), Amounts.count(rowsPerWindow, "row"));
            return together < 2 ? rule : rule + ", %d statistics judged as one".formatted(together);
        }
    }

    /** Returns the level for one statistic. */
    Level level(int rank, int dimension, Clean clean);

    /** Returns whether the level is taken from clean windows, and so depends on the rows of a window. */
    default boolean isCalibrated() {
        return false;
    }

    /** A value in the statistic's own units: {@code threshold: 4.0}. */
    record Fixed(double value) implements Threshold {
        public Fixed {
            if (!(value >= 0.0 && value < Double.POSITIVE_INFINITY)) {
                throw new IllegalArgumentException("threshold = %s: expected 0 or more".formatted(value));
            }
        }

        @Override
        public Level level(int rank, int dimension, Clean clean) {
            return new Level.Known(value, null);
        }
    }

    /** A share of the largest possible gap {@code sqrt(2 min(r, d-r))}; for statistics that are gaps. */
    record ShareOfLargestGap(double share) implements Threshold {
        public ShareOfLargestGap {
            if (!(share > 0.0 && share <= 1.0)) {
                throw new IllegalArgumentException(("gap share threshold = %s: expected a share in (0, 1]; "
                                + "0.3 alerts at 30 %% of the largest possible gap")
                        .formatted(share));
            }
        }

        @Override
        public Level level(int rank, int dimension, Clean clean) {
            return new Level.Known(share * new FaithfulnessGap(0.0, rank, dimension).largest(), null);
        }
    }

    /**
     * A quantile of the baseline's own windows: the {@code ceil((K+1) q)}-th smallest of K clean values. A new clean
     * window, exchangeable with them, exceeds it with probability at most {@code 1 - q}. Needs {@code K >= q / (1-q)}.
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
        public boolean isCalibrated() {
            return true;
        }

        @Override
        public Level level(int rank, int dimension, Clean clean) {
            int count = clean.windows();
            // The small step down keeps (K+1) q = 19.000000000000004 from asking for the 20th.
            int position = Math.max(1, (int) Math.ceil((count + 1) * quantile - 1e-9));
            if (position > count) {
                return new Level.Unknown(("quantile %s needs at least %d clean windows, the baseline has %d; "
                                + "add clean requests to it or ask for a lower quantile")
                        .formatted(quantile, windowsNeeded(), count));
            }
            int fromTop = count + 1 - position;
            return new Level.Known(
                    clean.fromTop(fromTop),
                    new Basis(
                            Basis.Clean.WINDOWS,
                            count,
                            fromTop / (count + 1.0),
                            null,
                            null,
                            clean.rule(fromTop),
                            null));
        }

        /** Returns the least K for which the order statistic exists. */
        public int windowsNeeded() {
            return (int) Math.ceil(quantile / (1.0 - quantile) - 1e-9);
        }
    }

    /**
     * The lowest clean value that keeps a promise about false alarms, by the law in {@link AlarmLaw}: with
     * {@value AlarmLaw#CONFIDENCE} confidence for this baseline where the clean windows suffice; otherwise on average
     * over baselines. Where they do not suffice for that either, the largest clean value, with what it keeps instead
     * and how many windows are missing in {@link Basis#shortfall()}: too few windows weaken the promise and never
     * silence the site.
     */
    record FalseAlarms(AlarmBudget budget, AlarmLaw law) implements Threshold {

        private static final double DAY_MS = 86_400_000.0;

        @Override
        public boolean isCalibrated() {
            return true;
        }

        @Override
        public Level level(int rank, int dimension, Clean clean) {
            int windows = clean.windows();
            if (windows == 0) {
                return new Level.Unknown("there is no clean window to take a threshold from; %s needs %d"
                        .formatted(budget.sentence(), law.windowsNeeded(budget)));
            }
            int confident = law.confidentlyAtOrAbove(budget, windows);
            int onAverage = law.atOrAbove(budget, windows);
            int fromTop = Math.max(1, confident > 0 ? confident : onAverage);
            return new Level.Known(
                    clean.fromTop(fromTop),
                    confident > 0
                            ? confidentBasis(clean, fromTop)
                            : new Basis(
                                    Basis.Clean.WINDOWS,
                                    windows,
                                    law.perWindow(windows, fromTop),
                                    perDay(law.alarmsPerWindow(windows, fromTop)),
                                    null,
                                    clean.rule(fromTop),
                                    onAverage == 0 ? shortfall(clean) : null));
        }

        /** Returns whether so many clean windows of a size keep the promise, at least on average over baselines. */
        public boolean isKeptBy(int windows) {
            return law.atOrAbove(budget, windows) > 0;
        }

        private Basis confidentBasis(Clean clean, int fromTop) {
            double rate = law.exceedanceAtMost(clean.windows(), fromTop);
            return new Basis(
                    Basis.Clean.WINDOWS,
                    clean.windows(),
                    rate,
                    perDay(law.alarmsGiven(rate)),
                    AlarmLaw.CONFIDENCE,
                    clean.rule(fromTop),
                    null);
        }

        private @Nullable Double perDay(double alarmsPerWindow) {
            return budget instanceof AlarmBudget.PerTime
                    ? Double.valueOf(DAY_MS / law.millisecondsBetween(alarmsPerWindow))
                    : null;
        }

        /** Says how many clean windows of a size keep the promise, on average over baselines and for this one. */
        public String windowsNeeded() {
            return ("%s takes %d clean windows of a size to keep it on average over baselines, "
                            + "%d to keep it with %.0f %% confidence for this baseline")
                    .formatted(
                            budget.sentence(),
                            law.windowsNeeded(budget),
                            law.windowsNeededConfidently(budget),
                            100.0 * AlarmLaw.CONFIDENCE);
        }

        private String shortfall(Clean clean) {
            int needed = law.windowsNeeded(budget);
            return "asked for %s, which needs %s clean windows: collect %s more, %s rows"
                    .formatted(
                            budget.sentence(),
                            Amounts.number(needed),
                            Amounts.number(needed - clean.windows()),
                            Amounts.number((double) (needed - clean.windows()) * clean.rowsPerWindow()));
        }
    }
}
