package io.plumbline.features;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.explainer.CodesByFeature;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class RemovableErrorsTest {

    private static final int ROWS = 160;
    private static final int DIMENSION = 24;

    /** The numbers of rows a feature is active in: none, one group, some groups, all of them. */
    private static final int[] EVERY = {0, 80, 31, 7, 2, 1, 1};

    private final Random random = new Random(3);
    private final Matrix codes = codes();
    private final long[] requests = requests(20);

    @Test
    void productsOfGroupsInWhichAFeatureIsNotActiveAreThoseOfTheirSums() {
        Residuals residuals = residuals();
        RemovableErrors found =
                RemovableErrors.of(CodesByFeature.of(SparseCodes.fromDense(codes)), residuals, requests, norms());
        RequestGroups groups = RequestGroups.of(requests);
        for (int j = 0; j < EVERY.length; j++) {
            double[] direct = direct(j, residuals, groups, groups.whole());
            assertEquals(direct[0], found.value()[j], 1e-12 * (1.0 + direct[1]), "feature " + j);
            assertEquals((int) direct[2], found.activeGroups()[j]);
        }
    }

    @Test
    void noiseIsTheVarianceOverTheSamples() {
        Residuals residuals = residuals();
        RemovableErrors found =
                RemovableErrors.of(CodesByFeature.of(SparseCodes.fromDense(codes)), residuals, requests, norms());
        RequestGroups groups = RequestGroups.of(requests);
        List<RequestGroups.Sample> samples = groups.samples();
        for (int j = 1; j < EVERY.length; j++) {
            int feature = j;
            double[] drawn = samples.stream()
                    .mapToDouble(sample ->
                            direct(feature, residuals, groups, sample)[0] * groups.count() / (groups.count() - 1))
                    .sorted()
                    .toArray();
            double mean = Arrays.stream(drawn).average().orElseThrow();
            double variance =
                    Arrays.stream(drawn).map(one -> (one - mean) * (one - mean)).sum() / (drawn.length - 1);
            assertEquals(variance, found.noise()[j], 1e-12 + 1e-9 * variance, "feature " + j);
        }
    }

    @Test
    void oneRequestSaysNothing() {
        RemovableErrors found = RemovableErrors.of(
                CodesByFeature.of(SparseCodes.fromDense(codes)), residuals(), new long[ROWS], norms());
        assertArrayEquals(new double[EVERY.length], found.estimate());
    }

    /** Returns the value by the formula as printed, over every pair of groups; its scale; and the active groups. */
    private double[] direct(int feature, Residuals residuals, RequestGroups groups, RequestGroups.Sample sample) {
        double mean = 0.0;
        for (int i = 0; i < ROWS; i++) {
            mean += codes.get(i, feature) / ROWS;
        }
        double[][] sums = new double[groups.count()][DIMENSION];
        double[] squares = new double[groups.count()];
        boolean[] active = new boolean[groups.count()];
        for (int i = 0; i < ROWS; i++) {
            int group = groups.ofRow()[i];
            double z = codes.get(i, feature) - mean;
            active[group] |= codes.get(i, feature) != 0.0;
            squares[group] += z * z;
            for (int a = 0; a < DIMENSION; a++) {
                sums[group][a] += z * (residuals.errors().get(i, a) - residuals.mean()[a]);
            }
        }
        double sum = 0.0;
        double scale = 0.0;
        double total = 0.0;
        for (int g = 0; g < sums.length; g++) {
            total += sample.groups()[g] * squares[g];
            for (int h = 0; h < sums.length; h++) {
                if (h != g) {
                    double product = 0.0;
                    for (int a = 0; a < DIMENSION; a++) {
                        product += sums[g][a] * sums[h][a];
                    }
                    sum += sample.groups()[g] * sample.groups()[h] * product;
                    scale += Math.abs(product);
                }
            }
        }
        double unit = total > 0.0 ? 1.0 / total / ROWS * sums.length / (sums.length - 1) : 0.0;
        int groupsActive = 0;
        for (boolean one : active) {
            groupsActive += one ? 1 : 0;
        }
        return new double[] {sum * unit, scale * unit, groupsActive};
    }

    private Residuals residuals() {
        Matrix targets = Matrix.zeros(ROWS, DIMENSION);
        for (int at = 0; at < targets.values().length; at++) {
            targets.values()[at] = 2.0 + random.nextGaussian();
        }
        Decoder nothing = new Decoder(Matrix.zeros(EVERY.length, DIMENSION), new double[DIMENSION]);
        return Residuals.of(nothing, SparseCodes.fromDense(codes), targets);
    }

    private Matrix codes() {
        Matrix made = Matrix.zeros(ROWS, EVERY.length);
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < EVERY.length; j++) {
                made.set(i, j, EVERY[j] > 0 && i % EVERY[j] == 0 ? 1.0 + random.nextDouble() : 0.0);
            }
        }
        return made;
    }

    private static long[] requests(int number) {
        long[] requests = new long[ROWS];
        for (int i = 0; i < ROWS; i++) {
            requests[i] = (long) i * number / ROWS;
        }
        return requests;
    }

    private static double[] norms() {
        double[] norms = new double[EVERY.length];
        Arrays.fill(norms, 1.0);
        return norms;
    }
}
