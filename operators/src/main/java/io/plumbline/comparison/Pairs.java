package io.plumbline.comparison;

import io.plumbline.explainer.SparseCodes;
import io.plumbline.features.ActivityComparison;
import io.plumbline.features.FalseDiscovery;
import io.plumbline.features.FeatureActivity;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import java.util.Comparator;
import java.util.List;
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
 * <p><b>Size.</b> {@code 40 G} bytes a feature for G groups. Not thread-safe.
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
        for (int i = 0; i < before.rows(); i++) {
            Matrix b = before.activations().rowRange(i, i + 1);
            Matrix a = after.activations().rowRange(i, i + 1);
            double length = b.frobeniusNorm() == 0.0 ? 1.0 : b.frobeniusNorm();
            double ratio = a.frobeniusNorm() / length;
            double error = a.distance(b) / length;
            // By the law of cosines, so that equal rows have 1 to the bit.
            double cosine = error == 0.0
                    ? 1.0
                    : (1.0 + ratio * ratio - error * error) / (2.0 * Math.max(ratio, Double.MIN_NORMAL));
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

    /** Returns which features survive, with so many of the others. */
    FeatureSurvival survival(FeatureActivity activityBefore, FeatureActivity activityAfter, int most) {
        long fewest = Math.min(ActivityComparison.FEWEST_REQUESTS, activityBefore.requests());
        int[] active = IntStream.range(0, activityBefore.features())
                .filter(j -> activityBefore.activeRequests()[j] >= fewest)
                .toArray();
        double[] logChances =
                IntStream.of(active).mapToDouble(j -> Math.log(chanceBelow(j))).toArray();
        double level = FalseDiscovery.level(logChances, active.length, ActivityComparison.DEFAULT_FALSE_DISCOVERY_RATE);
        List<FeatureSurvival.Change> changes = IntStream.range(0, active.length)
                .mapToObj(i -> new FeatureSurvival.Change(
                        active[i],
                        correlationWithout(Estimate.NONE, active[i]),
                        logChances[i] <= level,
                        (double) activityBefore.activeRows()[active[i]] / activityBefore.rows(),
                        (double) activityAfter.activeRows()[active[i]] / activityAfter.rows()))
                .filter(change -> change.correlation() < SURVIVES)
                .sorted(Comparator.comparingDouble(FeatureSurvival.Change::correlation))
                .toList();
        return new FeatureSurvival(
                active.length,
                active.length - changes.size(),
                (int) changes.stream()
                        .filter(FeatureSurvival.Change::beyondChance)
                        .count(),
                Estimate.of(rows.length, 0.0, 1.0, group -> IntStream.of(active)
                        .mapToDouble(j -> correlationWithout(group, j) >= SURVIVES ? 1.0 : 0.0)
                        .average()
                        .orElse(Double.NaN)),
                changes.stream().limit(most).toList());
    }

    /** Returns the chance that a feature with a correlation of {@value #SURVIVES} correlates as little. */
    private double chanceBelow(int feature) {
        long groups = IntStream.range(0, rows.length)
                .filter(g -> ofCodes[1][g][feature] > 0.0)
                .count();
        double below = fisher(correlationWithout(Estimate.NONE, feature)) - fisher(SURVIVES);
        double error = Estimate.error(rows.length, group -> fisher(correlationWithout(group, feature)));
        return below >= 0.0 || groups < 2
                ? 1.0
                : error == 0.0 ? 0.0 : new TDistribution(null, groups - 1.0).cumulativeProbability(below / error);
    }

    private static double fisher(double correlation) {
        double r = Math.max(-LARGEST, Math.min(LARGEST, correlation));
        return 0.5 * Math.log((1.0 + r) / (1.0 - r));
    }
}
