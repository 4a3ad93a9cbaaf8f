package io.plumbline.comparison;

import io.plumbline.explainer.SparseCodes;
import io.plumbline.features.ActivityComparison;
import io.plumbline.features.FalseDiscoveries;
import io.plumbline.features.FeatureActivity;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.apache.commons.math3.distribution.TDistribution;

/**
 * Sums over pairs of rows, the same token before and after, and of their codes, by group of requests.
 *
 * <p>{@code r_j} is Pearson's correlation of a feature's codes over all rows, those in which it is silent too. Whether
 * it is below {@value #SURVIVES} beyond chance is tested by Fisher's {@code artanh r}, its error over groups of
 * requests, and Student's t with one degree of freedom less than there are groups in which the feature is active. Those
 * counted keep a false discovery rate of a tenth.
 *
 * <p>The ends of the share that survives are not a jackknife of it: where no feature is near {@value #SURVIVES} without
 * any one group, its width would be zero. The low end counts the features whose own 95 % interval of {@code artanh r}
 * lies at {@value #SURVIVES} or above, the high end those whose interval reaches it. Such an interval is wider than one
 * of the share, since errors of features that are independent would partly cancel. The error of {@code artanh r} is
 * here that of r times the slope {@code 1 / (1 - r^2)}: where one group has all of a small difference, r goes from
 * 0.998 to 1 without it, and artanh so far up that the interval would reach down to 0.
 *
 * <p>The cosine of a row of zeros is 1 to another one, 0 to every other row.
 *
 * <p><b>Size.</b> {@code 40 G} bytes a feature for G groups, and those of {@link NearestRows}. Not thread-safe.
 */
final class Pairs {

    /** The correlation from which on a feature survives. */
    static final double SURVIVES = 0.9;

    /** The cosine below which a row is as far from the same row before as that of another layer. */
    static final double FAR = 0.975;

    private static final double LARGEST = 1.0 - 1e-12;

    private final double[] rows;
    private final double[][] ofRows;
    private final double[][][] ofCodes;
    private final NearestRows nearest = new NearestRows();
    private boolean identical = true;

    Pairs(int groups, int features) {
        rows = new double[groups];
        ofRows = new double[5][groups];
        ofCodes = new double[5][groups][features];
    }

    void add(
            int group, ActivationBatch before, ActivationBatch after, SparseCodes codesBefore, SparseCodes codesAfter) {
        identical &= before.activations().equals(after.activations())
                && before.targetRows().equals(after.targetRows());
        nearest.add(before.activations(), after.activations());
        for (int i = 0; i < before.rows(); i++) {
            Matrix b = before.activations().rowRange(i, i + 1);
            Matrix a = after.activations().rowRange(i, i + 1);
            double length = b.frobeniusNorm() == 0.0 ? 1.0 : b.frobeniusNorm();
            double ratio = a.frobeniusNorm() / length;
            double error = a.distance(b) / length;
            double cosine = error == 0.0
                    ? 1.0
                    : ratio == 0.0 || b.frobeniusNorm() == 0.0
                            ? 0.0
                            // By the law of cosines, so that equal rows have 1 to the bit.
                            : (1.0 + ratio * ratio - error * error) / (2.0 * ratio);
            double[] figures = {error, cosine, ratio, ratio * ratio, cosine < FAR ? 1.0 : 0.0};
            rows[group]++;
            for (int k = 0; k < figures.length; k++) {
                ofRows[k][group] += figures[k];
            }
        }
        addCodes(codesBefore, ofCodes[0][group], ofCodes[1][group]);
        addCodes(codesAfter, ofCodes[2][group], ofCodes[3][group]);
        double[] row = new double[codesBefore.features()];
        for (int i = 0; i < codesBefore.rows(); i++) {
            for (int at = codesBefore.rowStart()[i]; at < codesBefore.rowStart()[i + 1]; at++) {
                row[codesBefore.feature()[at]] = codesBefore.value()[at];
            }
            for (int at = codesAfter.rowStart()[i]; at < codesAfter.rowStart()[i + 1]; at++) {
                int feature = codesAfter.feature()[at];
                ofCodes[4][group][feature] += codesAfter.value()[at] * row[feature];
            }
            for (int at = codesBefore.rowStart()[i]; at < codesBefore.rowStart()[i + 1]; at++) {
                row[codesBefore.feature()[at]] = 0.0;
            }
        }
    }

    private static void addCodes(SparseCodes codes, double[] sums, double[] squares) {
        for (int at = 0; at < codes.nonZeros(); at++) {
            sums[codes.feature()[at]] += codes.value()[at];
            squares[codes.feature()[at]] += codes.value()[at] * codes.value()[at];
        }
    }

    boolean isIdentical() {
        return identical;
    }

    NearestRows nearest() {
        return nearest;
    }

    double errorWithout(int group) {
        return Estimate.without(ofRows[0], group) / Estimate.without(rows, group);
    }

    double cosineWithout(int group) {
        return Estimate.without(ofRows[1], group) / Estimate.without(rows, group);
    }

    /** Returns the mean of {@code |x_after| / |x_before|}. */
    double ratio() {
        return Estimate.without(ofRows[2], Estimate.NONE) / Estimate.without(rows, Estimate.NONE);
    }

    /** Returns the standard deviation of that ratio over its mean. */
    double spreadOfRatio() {
        double squares = Estimate.without(ofRows[3], Estimate.NONE) / Estimate.without(rows, Estimate.NONE);
        return Math.sqrt(Math.max(0.0, squares / (ratio() * ratio()) - 1.0));
    }

    /** Returns the share of rows whose cosine is below {@value #FAR}. */
    double farShare() {
        return Estimate.without(ofRows[4], Estimate.NONE) / Estimate.without(rows, Estimate.NONE);
    }

    /** Returns a feature's correlation without the rows of a group; 0 where one side alone does not vary. */
    double correlationWithout(int group, int feature) {
        double n = Estimate.without(rows, group);
        double[] sums = new double[ofCodes.length];
        for (int k = 0; k < sums.length; k++) {
            for (int g = 0; g < rows.length; g++) {
                sums[k] += g == group ? 0.0 : ofCodes[k][g][feature];
            }
        }
        if (sums[1] == sums[3] && sums[1] == sums[4]) {
            return 1.0; // the same codes, which may not vary
        }
        double variances = (sums[1] - sums[0] * sums[0] / n) * (sums[3] - sums[2] * sums[2] / n);
        double r = variances <= 0.0 ? 0.0 : (sums[4] - sums[0] * sums[2] / n) / Math.sqrt(variances);
        return Math.max(-1.0, Math.min(1.0, r));
    }

    /**
     * The features that survive.
     *
     * @param share of those that are active; its low end counts the features whose own 95 % interval survives as a
     *     whole, its high end those of whose interval a part does; NaN where no feature is active
     */
    record Survival(FeatureSurvival features, Estimate share) {}

    /** Returns which features survive, with so many of the others. */
    Survival survival(FeatureActivity activityBefore, FeatureActivity activityAfter, int most) {
        long fewest = Math.min(ActivityComparison.FEWEST_REQUESTS, activityBefore.requests());
        int[] active = IntStream.range(0, activityBefore.features())
                .filter(j -> activityBefore.activeRequests()[j] >= fewest)
                .toArray();
        Correlation[] correlations =
                IntStream.of(active).mapToObj(this::correlation).toArray(Correlation[]::new);
        double[] qValues = FalseDiscoveries.qValues(Arrays.stream(correlations)
                .mapToDouble(Correlation::chanceBelow)
                .toArray());
        List<FeatureSurvival.Change> changes = IntStream.range(0, active.length)
                .mapToObj(i -> new FeatureSurvival.Change(
                        active[i],
                        correlations[i].value,
                        qValues[i] <= ActivityComparison.DEFAULT_FALSE_DISCOVERY_RATE,
                        (double) activityBefore.activeRows()[active[i]] / activityBefore.rows(),
                        (double) activityAfter.activeRows()[active[i]] / activityAfter.rows()))
                .filter(change -> change.correlation() < SURVIVES)
                .sorted(Comparator.comparingDouble(FeatureSurvival.Change::correlation))
                .toList();
        FeatureSurvival features = new FeatureSurvival(
                active.length,
                active.length - changes.size(),
                (int) changes.stream()
                        .filter(FeatureSurvival.Change::beyondChance)
                        .count(),
                changes.stream().limit(most).toList());
        return new Survival(
                features,
                new Estimate(
                        share(correlations, correlation -> correlation.value >= SURVIVES),
                        share(correlations, correlation -> correlation.distance() >= correlation.width()),
                        share(correlations, correlation -> correlation.distance() >= -correlation.width())));
    }

    private static double share(Correlation[] correlations, Predicate<Correlation> survives) {
        return Arrays.stream(correlations)
                .mapToDouble(correlation -> survives.test(correlation) ? 1.0 : 0.0)
                .average()
                .orElse(Double.NaN);
    }

    private Correlation correlation(int feature) {
        double value = correlationWithout(Estimate.NONE, feature);
        double[] without = IntStream.range(0, rows.length)
                .mapToDouble(group -> correlationWithout(group, feature))
                .toArray();
        return new Correlation(
                value,
                Estimate.error(rows.length, group -> fisher(without[group])),
                Estimate.error(rows.length, group -> without[group]) / (1.0 - cut(value) * cut(value)),
                IntStream.range(0, rows.length)
                        .filter(g -> ofCodes[1][g][feature] > 0.0)
                        .count());
    }

    /**
     * The correlation of a feature's codes.
     *
     * @param error of {@code artanh r}
     * @param errorHere the same from the error of r and the slope of artanh there
     * @param groups in which the feature is active before
     */
    private record Correlation(double value, double error, double errorHere, long groups) {

        /** Returns how far {@code artanh r} is above that of {@value #SURVIVES}. */
        double distance() {
            return fisher(value) - fisher(SURVIVES);
        }

        /** Returns half the width of the 95 % interval of {@code artanh r}; infinite where one group has it all. */
        double width() {
            return errorHere == 0.0
                    ? 0.0
                    : groups < 2 ? Double.POSITIVE_INFINITY : errorHere * Estimate.quantile(groups);
        }

        /** Returns the chance that a feature with a correlation of {@value #SURVIVES} correlates as little. */
        double chanceBelow() {
            return distance() >= 0.0 || groups < 2
                    ? 1.0
                    : error == 0.0
                            ? 0.0
                            : new TDistribution(null, groups - 1.0).cumulativeProbability(distance() / error);
        }
    }

    private static double fisher(double correlation) {
        double r = cut(correlation);
        return 0.5 * Math.log((1.0 + r) / (1.0 - r));
    }

    private static double cut(double correlation) {
        return Math.max(-LARGEST, Math.min(LARGEST, correlation));
    }
}
