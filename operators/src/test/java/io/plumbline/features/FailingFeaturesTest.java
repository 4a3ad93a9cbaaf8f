package io.plumbline.features;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Sixty features in 24 dimensions, each active in a tenth of the rows; a decoder with one turned column makes the
 * targets.
 */
class FailingFeaturesTest {

    private static final int FEATURES = 60;
    private static final int DIMENSION = 24;
    private static final int ROWS = 1_600;
    private static final int TURNED = 17;
    private static final double NOISE = 0.1;

    private final Decoder trained = new Decoder(gaussian(new Random(1), FEATURES, DIMENSION), new double[DIMENSION]);
    private final SparseCodes codes = codes(2, ROWS);
    private final SparseCodes clean = codes(3, ROWS);

    @Test
    void aTurnedColumnIsListedFirstWithTheErrorItMakes() {
        Matrix change = gaussian(new Random(4), 1, DIMENSION);
        Matrix targets = targets(codes, change, 5);
        FailingFeature worst = list(targets, requests(40)).get(0);
        assertEquals(TURNED, worst.feature());
        double expected = norm(trained.weights().rowRange(TURNED, TURNED + 1))
                * norm(change)
                * variance(TURNED)
                / spread(targets);
        assertEquals(expected, worst.systematicResidual(), 0.08 * expected);
        assertTrue(worst.systematicResidualLow() > 0.8 * expected, worst.toString());
        assertTrue(worst.systematicResidual() > 5 * requireBaseline(worst), worst.toString());
        double error = Math.pow(norm(change), 2) * variance(TURNED);
        assertEquals(error / (error + NOISE * NOISE * DIMENSION), worst.shareOfError(), 0.1);
        assertEquals(0.1, worst.frequency(), 0.03);
    }

    @Test
    void whereNothingFailsHardlyAFeatureIsListed() {
        int listed = 0;
        for (int seed = 0; seed < 10; seed++) {
            listed += list(targets(codes, Matrix.zeros(1, DIMENSION), 100 + seed), requests(40))
                    .size();
        }
        assertTrue(listed <= 10, listed + " listed in ten windows");
    }

    @Test
    void usefulnessIsTheErrorThatTakingTheColumnOutAdds() {
        Matrix targets = targets(codes, gaussian(new Random(4), 1, DIMENSION), 5);
        for (FailingFeature feature : list(targets, requests(40))) {
            Matrix weights = trained.weights().toMatrix();
            Arrays.fill(weights.values(), feature.feature() * DIMENSION, (feature.feature() + 1) * DIMENSION, 0.0);
            double with = Math.pow(norm(targets.minus(trained.reconstruct(codes))), 2);
            double without = Math.pow(norm(targets.minus(new Decoder(weights, trained.bias()).reconstruct(codes))), 2);
            assertEquals((without - with) / ROWS / spread(targets), feature.usefulness(), 1e-9);
        }
    }

    /**
     * Tests another scale: which multiple of a column is stored, and the code with the inverse, is a convention of the
     * file.
     */
    @Test
    void theScaleOfAColumnDoesNotMatter() {
        Matrix targets = targets(codes, gaussian(new Random(4), 1, DIMENSION), 5);
        Matrix weights = trained.weights().toMatrix();
        for (int j = 0; j < DIMENSION; j++) {
            weights.set(TURNED, j, 8.0 * weights.get(TURNED, j));
        }
        Matrix dense = codes.toDense();
        for (int i = 0; i < ROWS; i++) {
            dense.set(i, TURNED, dense.get(i, TURNED) / 8.0);
        }
        FailingFeature plain = FailingFeatures.of(trained)
                .list(codes, targets, requests(40), null, 1)
                .get(0);
        FailingFeature scaled = FailingFeatures.of(new Decoder(weights, trained.bias()))
                .list(SparseCodes.fromDense(dense), targets, requests(40), null, 1)
                .get(0);
        assertEquals(plain.systematicResidual(), scaled.systematicResidual(), 1e-9);
        assertEquals(plain.shareOfError(), scaled.shareOfError(), 1e-9);
        assertEquals(plain.usefulness(), scaled.usefulness(), 1e-9);
    }

    /** Rows of one request are alike: what they have in common is no evidence of what others will have. */
    @Test
    void fourRequestsListNothingAndMoreDo() {
        Matrix targets = targets(codes, gaussian(new Random(4), 1, DIMENSION), 5);
        assertEquals(List.of(), list(targets, requests(1)));
        assertEquals(List.of(), list(targets, requests(4)));
        assertEquals(TURNED, list(targets, requests(8)).get(0).feature());
    }

    @Test
    void anErrorOfOneRequestAloneIsNoFailureOfAFeature() {
        Matrix targets = targets(codes, Matrix.zeros(1, DIMENSION), 5);
        for (int i = 0; i < ROWS / 40; i++) {
            targets.set(i, 3, targets.get(i, 3) + 4.0 * codes.toDense().get(i, TURNED));
        }
        assertTrue(list(targets, requests(40)).stream().noneMatch(feature -> feature.feature() == TURNED));
    }

    @Test
    void aDecoderInServiceSaysHowFarItsColumnTurned() {
        Matrix targets = targets(codes, gaussian(new Random(4), 1, DIMENSION), 5);
        Matrix opposite = trained.weights().toMatrix();
        for (int j = 0; j < DIMENSION; j++) {
            opposite.set(TURNED, j, -opposite.get(TURNED, j));
        }
        FailingFeatures failing = FailingFeatures.of(trained);
        assertEquals(
                2.0,
                failing.list(codes, targets, requests(40), new Decoder(opposite, trained.bias()), 1)
                        .get(0)
                        .directionChange(),
                1e-12);
        Decoder narrow = new Decoder(gaussian(new Random(6), FEATURES, 3), new double[3]);
        assertThrows(IllegalArgumentException.class, () -> failing.list(codes, targets, requests(40), narrow, 1));
        assertThrows(IllegalArgumentException.class, () -> failing.list(codes, targets, new long[3], null, 1));
    }

    private List<FailingFeature> list(Matrix targets, long[] requests) {
        return FailingFeatures.of(trained, clean, targets(clean, Matrix.zeros(1, DIMENSION), 7), requests(40))
                .list(codes, targets, requests, null, FEATURES);
    }

    private static double requireBaseline(FailingFeature feature) {
        Double baseline = feature.systematicResidualBaseline();
        return baseline == null ? Double.NaN : baseline;
    }

    private Matrix targets(SparseCodes of, Matrix change, long seed) {
        Matrix targets = trained.reconstruct(of);
        Matrix dense = of.toDense();
        Matrix noise = gaussian(new Random(seed), of.rows(), DIMENSION);
        for (int i = 0; i < of.rows(); i++) {
            for (int j = 0; j < DIMENSION; j++) {
                targets.set(
                        i, j, targets.get(i, j) + dense.get(i, TURNED) * change.get(0, j) + NOISE * noise.get(i, j));
            }
        }
        return targets;
    }

    private double variance(int feature) {
        double[] z = IntStream.range(0, ROWS)
                .mapToDouble(i -> codes.toDense().get(i, feature))
                .toArray();
        double mean = Arrays.stream(z).average().orElseThrow();
        return Arrays.stream(z).map(value -> (value - mean) * (value - mean)).sum() / ROWS;
    }

    private static double spread(Matrix rows) {
        return Residuals.of(
                        new Decoder(Matrix.zeros(1, DIMENSION), new double[DIMENSION]),
                        SparseCodes.fromDense(Matrix.zeros(rows.rows(), 1)),
                        rows)
                .spread();
    }

    private static double norm(Matrix matrix) {
        return matrix.frobeniusNorm();
    }

    private static long[] requests(int count) {
        return IntStream.range(0, ROWS).mapToLong(i -> (long) i * count / ROWS).toArray();
    }

    private static SparseCodes codes(long seed, int rows) {
        Random random = new Random(seed);
        Matrix dense = Matrix.zeros(rows, FEATURES);
        for (int at = 0; at < dense.values().length; at++) {
            dense.values()[at] = random.nextDouble() < 0.1 ? 1.0 + random.nextDouble() : 0.0;
        }
        return SparseCodes.fromDense(dense);
    }

    private static Matrix gaussian(Random random, int rows, int columns) {
        Matrix matrix = Matrix.zeros(rows, columns);
        for (int at = 0; at < matrix.values().length; at++) {
            matrix.values()[at] = random.nextGaussian();
        }
        return matrix;
    }
}
