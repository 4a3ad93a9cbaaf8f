package io.plumbline.baseline;

import io.plumbline.judgement.Amounts;
import io.plumbline.judgement.Threshold;
import io.plumbline.judgement.Threshold.Level;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;

/**
 * The clean windows of one size as a threshold takes them for statistics that are judged together: calibrated as one
 * statistic, the largest normal score of a window, so that none of them costs the others a share of the promise.
 *
 * <p><b>Score.</b> A window's score in a statistic is its distance from the mean of the clean windows in their standard
 * deviations, {@code t = (x - mean)/deviation}. Scores have no unit, so that the largest one over the statistics says
 * how unusual a window is.
 *
 * <p><b>Clean windows and a new one must be treated alike</b>, or the new one passes the largest clean score too often:
 * with three statistics and 15 clean windows 1.4 to 2 times as often as promised. Scored among all {@code n = K+1}
 * windows, itself included, {@code z = (x - mean_n)/deviation_n}, the new window's largest score has a rank that is
 * uniform for every distribution (full conformal prediction: Vovk, Gammerman and Shafer, Algorithmic Learning in a
 * Random World, 2005); by these scores windows stand in the same order as by leave-one-out scores. What a new window
 * must have in statistic j for its score to be above the largest score of clean window i, whatever it has in the other
 * statistics, follows in closed form. With {@code a = (K-1)/K}:
 *
 * <ul>
 *   <li>above the score in the same statistic: {@code t > t_ij};
 *   <li>above the score in another statistic k: {@code t K/(K+1) / sqrt(a + t^2/(K+1)) > sqrt(max(t_ik, 0)^2/a +
 * 1/(K+1))}, where the right side is the largest score that window i can have in k for any value of the new window in
 * k.
 * </ul>
 *
 * <p>The value of statistic j at which both hold is what window i <em>asks</em> of it. Hence a new window is above the
 * c-th largest of these values, in any of the statistics, with probability at most {@code c/(K+1)}: what holds for one
 * statistic, whose values asked are its clean values themselves. Each statistic so has a threshold in its own unit. The
 * rate is exact for one window; for debounced windows and for the promise with confidence the law of one statistic is
 * taken, which simulations of normal, skewed and correlated statistics keep to (CleanScoresTest).
 *
 * <p><b>Price.</b> With few clean windows their mean and deviation are uncertain, and the values asked are higher: with
 * 8 windows twice as far from the mean, with 51 a tenth.
 *
 * <p><b>Other sites</b> of a model that have the same clean windows are further statistics; their largest score in each
 * window stands in the sample.
 *
 * <p>Cost: {@code O(m^2 K)} for m statistics. Immutable.
 */
final class CleanScores {

    /** The fewest clean windows whose deviation can tell one statistic's scale from another's. */
    private static final int FEWEST_WINDOWS = 3;

    /** Mean and standard deviation of clean values, in the statistic's unit. */
    record Spread(double mean, double deviation) {}

    /**
     * The clean values of one statistic.
     *
     * @param values one per window, NaN where it is undefined
     */
    private record Series(double[] values, int windows, Spread spread) {

        static Series of(double[] values) {
            double[] known =
                    Arrays.stream(values).filter(value -> !Double.isNaN(value)).toArray();
            double mean = Arrays.stream(known).average().orElse(Double.NaN);
            double squares = Arrays.stream(known)
                    .map(value -> (value - mean) * (value - mean))
                    .sum();
            double deviation = known.length < 2 ? 0.0 : Math.sqrt(squares / (known.length - 1));
            return new Series(values, known.length, new Spread(mean, deviation));
        }

        private double factor() {
            return (windows - 1.0) / windows;
        }

        /**
         * Returns the largest score clean window i can have among these and one new window; -infinity where it has
         * none.
         */
        double largestScore(int window) {
            double value = values[window];
            if (Double.isNaN(value)) {
                return Double.NEGATIVE_INFINITY;
            }
            double distance =
                    spread.deviation() == 0.0 ? 0.0 : Math.max(0.0, (value - spread.mean()) / spread.deviation());
            return Math.sqrt(distance * distance / factor() + 1.0 / (windows + 1.0));
        }

        /** Returns the value at which a new window has this score; infinite where no value has. */
        double valueAt(double score) {
            if (score == Double.NEGATIVE_INFINITY || spread.deviation() == 0.0) {
                return spread.mean();
            }
            double share = windows / (windows + 1.0);
            double room = share * share - score * score / (windows + 1.0);
            // At its limit nothing but rounding is left.
            return room <= 1e-12
                    ? Double.POSITIVE_INFINITY
                    : spread.mean() + spread.deviation() * score * Math.sqrt(factor() / room);
        }
    }

    private final NullSample sample;
    private final double[] others;
    private final Map<String, Series> statistics = new LinkedHashMap<>();

    private CleanScores(NullSample sample) {
        this.sample = sample;
        others = sample.scoreOfOthers();
    }

    /** Returns the largest score that each clean window can have in a statistic among all and one new window. */
    static double[] largestScores(double[] values) {
        Series series = Series.of(values);
        return IntStream.range(0, values.length)
                .mapToDouble(series::largestScore)
                .toArray();
    }

    /** Returns the windows of a sample. Statistics that none of them has are left out. */
    static CleanScores of(NullSample sample, List<String> together) {
        CleanScores scores = new CleanScores(sample);
        for (String statistic : together) {
            if (sample.values(statistic).length > 0) {
                scores.statistics.put(statistic, Series.of(sample.series(statistic)));
            }
        }
        return scores;
    }

    /** Returns the mean and deviation of a statistic that is not left out. */
    Spread spread(String statistic) {
        return Objects.requireNonNull(statistics.get(statistic), statistic).spread();
    }

    /** Returns the level of one of the statistics. */
    Level level(String statistic, Threshold threshold, int rank, int dimension) {
        Level level = threshold.level(rank, dimension, clean(statistic));
        if (level instanceof Level.Known known && !Double.isFinite(known.value())) {
            return new Level.Unknown("%s of %s: too few to judge %s together"
                    .formatted(
                            Amounts.count(clean(statistic).windows(), "clean window"),
                            Amounts.count(sample.rowsPerWindow(), "row"),
                            Amounts.count(together(), "statistic")));
        }
        return level;
    }

    /** Returns what each clean window asks of a statistic; its clean values where it is alone. */
    Threshold.Clean clean(String statistic) {
        Series own = statistics.get(statistic);
        if (own == null) {
            return new Threshold.Clean(sample.rowsPerWindow(), new double[0], together());
        }
        if (together() == 1) {
            double[] known = Arrays.stream(own.values())
                    .filter(value -> !Double.isNaN(value))
                    .toArray();
            return new Threshold.Clean(sample.rowsPerWindow(), known, 1);
        }
        double[] asked = new double[own.values().length];
        boolean tooFew = statistics.values().stream().anyMatch(series -> series.windows() < FEWEST_WINDOWS);
        for (int window = 0; window < asked.length; window++) {
            asked[window] = tooFew ? Double.POSITIVE_INFINITY : asked(statistic, own, window);
        }
        return new Threshold.Clean(sample.rowsPerWindow(), asked, together());
    }

    /** Returns how many statistics are judged as one, those of other sites among them. */
    private int together() {
        return statistics.size() + sample.statisticsOfOthers();
    }

    private double asked(String statistic, Series own, int window) {
        double ofOtherStatistics = statistics.entrySet().stream()
                .filter(other -> !other.getKey().equals(statistic))
                .mapToDouble(other -> other.getValue().largestScore(window))
                .max()
                .orElse(Double.NEGATIVE_INFINITY);
        double value = own.values()[window];
        double ofOthers =
                own.valueAt(others.length == 0 ? ofOtherStatistics : Math.max(ofOtherStatistics, others[window]));
        return Double.isNaN(value) ? ofOthers : Math.max(value, ofOthers);
    }
}
