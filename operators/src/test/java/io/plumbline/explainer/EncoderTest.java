package io.plumbline.explainer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.plumbline.linalg.Matrix;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Compares encoders with the definition written out, over sizes that leave remainders of every block. */
class EncoderTest {

    private static final long SEED = 7;

    @Test
    void reluKeepsThePositivePart() {
        forManySizes((weights, bias, rows, where) -> {
            SparseCodes codes = ReluEncoder.of(weights, bias).encode(rows);
            Matrix expected = preActivations(weights, bias, rows);
            for (int i = 0; i < expected.values().length; i++) {
                expected.values()[i] = Math.max(expected.values()[i], 0.0);
            }
            assertClose(expected, codes.toDense(), where);
        });
    }

    @Test
    void jumpReluKeepsWhatIsAboveItsThreshold() {
        forManySizes((weights, bias, rows, where) -> {
            double[] threshold =
                    new SplittableRandom(SEED).doubles(bias.length, -0.5, 1.0).toArray();
            SparseCodes codes = JumpReluEncoder.of(weights, bias, threshold).encode(rows);
            Matrix expected = preActivations(weights, bias, rows);
            for (int i = 0; i < expected.values().length; i++) {
                if (expected.values()[i] <= threshold[i % bias.length]) {
                    expected.values()[i] = 0.0;
                }
            }
            assertClose(expected, codes.toDense(), where);
        });
    }

    @Test
    void topKKeepsTheLargestAndClampsThem() {
        forManySizes((weights, bias, rows, where) -> {
            for (int k : new int[] {1, bias.length / 2 + 1, bias.length}) {
                SparseCodes codes = TopKEncoder.of(weights, bias, k).encode(rows);
                assertClose(topKBySorting(preActivations(weights, bias, rows), k), codes.toDense(), where + ", k " + k);
            }
        });
    }

    @Test
    void topKGivesTiesToTheLowerIndex() {
        // One input, so a row's pre-activations are its value times the weights.
        Matrix weights = new Matrix(7, 1, new double[] {1, 3, 2, 3, -1, 2, 2});
        Matrix row = new Matrix(1, 1, new double[] {1});
        double[] bias = new double[7];
        assertArrayEquals(
                new int[] {1, 2, 3},
                TopKEncoder.of(weights, bias, 3).encode(row).feature());
        assertArrayEquals(
                new int[] {1}, TopKEncoder.of(weights, bias, 1).encode(row).feature());
        assertArrayEquals(
                new int[] {1, 2, 3, 5},
                TopKEncoder.of(weights, bias, 4).encode(row).feature());
    }

    @Test
    void topKOfManyTiesEqualsSorting() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int trial = 0; trial < 500; trial++) {
            // Some have more codes than are set aside at a time.
            int features = random.nextInt(1, trial % 10 == 0 ? 900 : 40);
            int k = random.nextInt(1, features + 1);
            Matrix weights = Matrix.zeros(features, 1);
            for (int j = 0; j < features; j++) {
                weights.values()[j] = random.nextInt(-3, 4);
            }
            Matrix row = new Matrix(1, 1, new double[] {1});
            assertEquals(
                    SparseCodes.fromDense(topKBySorting(weights.transpose(), k)),
                    TopKEncoder.of(weights, new double[features], k).encode(row),
                    "seed " + SEED + ", trial " + trial);
        }
    }

    @Test
    void encodersHeldAsFloatsAreExactOnIntegers() {
        int inputs = 512;
        int features = LinearLayer.LEAST_FLOAT_WEIGHTS / inputs;
        SplittableRandom random = new SplittableRandom(SEED);
        Matrix weights = integers(random, features, inputs);
        double[] bias = integers(random, 1, features).values();
        Matrix rows = integers(random, 131, inputs);
        Matrix expected = preActivations(weights, bias, rows);
        Encoder topK = TopKEncoder.of(weights, bias, 32);
        SparseCodes together = topK.encode(rows);
        assertEquals(SparseCodes.fromDense(topKBySorting(expected, 32)), together, "seed " + SEED);
        assertEquals(together.select(130), topK.encode(rows.rowRange(130, 131)), "seed " + SEED);
        double[] threshold = new double[features];
        // A little lower than the float next to it, which is 7.
        Arrays.fill(threshold, Math.nextDown(7.0));
        Matrix jumped = expected.copy();
        for (int i = 0; i < expected.values().length; i++) {
            expected.values()[i] = Math.max(expected.values()[i], 0.0);
            jumped.values()[i] = jumped.values()[i] >= 7.0 ? jumped.values()[i] : 0.0;
        }
        assertEquals(
                SparseCodes.fromDense(expected), ReluEncoder.of(weights, bias).encode(rows), "seed " + SEED);
        assertEquals(
                SparseCodes.fromDense(jumped),
                JumpReluEncoder.of(weights, bias, threshold).encode(rows),
                "seed " + SEED);
        // A feature that is never active, as a threshold over a length of 0 may have it.
        threshold[5] = Double.NaN;
        for (int i = 0; i < jumped.rows(); i++) {
            jumped.set(i, 5, 0.0);
        }
        assertEquals(
                SparseCodes.fromDense(jumped),
                JumpReluEncoder.of(weights, bias, threshold).encode(rows),
                "seed " + SEED);
    }

    @Test
    void selectionsSeeAllTheyWantOfALayerHeldAsFloats() {
        int inputs = 512;
        int features = LinearLayer.LEAST_FLOAT_WEIGHTS / inputs;
        int group = 4;
        SplittableRandom random = new SplittableRandom(SEED);
        Matrix weights = integers(random, features, inputs);
        double[] bias = integers(random, 1, features).values();
        Matrix rows = integers(random, 5, inputs);
        for (int h = 0; h < inputs; h++) {
            // Pre-activations of this row are -3 to 3, so that largest ones are small and have equals.
            rows.set(4, h, h == 0 ? 1 : 0);
        }
        Matrix pre = preActivations(weights, bias, rows);
        LinearLayer layer = LinearLayer.featureByInput(weights, bias);
        double[] ones = new double[features];
        Arrays.fill(ones, 1.0);
        Matrix gated = Matrix.zeros(rows.rows(), features);
        Matrix largest = Matrix.zeros(rows.rows(), features);
        for (int row = 0; row < rows.rows(); row++) {
            for (int j = 0; j < features; j++) {
                double value = pre.get(row, j);
                gated.set(row, j, value > 0 ? value + 1 : 0.0);
                boolean best = value > 0;
                for (int other = j / group * group; other < j / group * group + group; other++) {
                    best &= pre.get(row, other) < value || (pre.get(row, other) == value && other >= j);
                }
                largest.set(row, j, best ? value : 0.0);
            }
        }
        assertEquals(SparseCodes.fromDense(gated), new GatedEncoder(layer, ones, ones).encode(rows), "seed " + SEED);
        assertEquals(
                SparseCodes.fromDense(largest),
                new GroupMaxEncoder(layer, features / group).encode(rows),
                "seed " + SEED);
        for (boolean byAmount : new boolean[] {true, false}) {
            assertEquals(
                    SparseCodes.fromDense(signedTopKBySorting(pre, 32, byAmount)),
                    new SignedTopKEncoder(layer, 32, byAmount).encode(rows),
                    "seed " + SEED);
        }
    }

    private static Matrix integers(SplittableRandom random, int rows, int columns) {
        Matrix matrix = Matrix.zeros(rows, columns);
        for (int i = 0; i < matrix.values().length; i++) {
            matrix.values()[i] = random.nextInt(-3, 4);
        }
        return matrix;
    }

    @Test
    void topKOfNegativePreActivationsIsEmpty() {
        Matrix weights = new Matrix(3, 1, new double[] {1, 2, 3});
        SparseCodes codes = TopKEncoder.of(weights, new double[3], 2).encode(new Matrix(1, 1, new double[] {-1}));
        assertEquals(0, codes.nonZeros());
    }

    @Test
    void jumpReluIsStrict() {
        Matrix weights = new Matrix(2, 1, new double[] {1, 1});
        SparseCodes codes = JumpReluEncoder.of(weights, new double[2], new double[] {2, 1.5})
                .encode(new Matrix(1, 1, new double[] {2}));
        assertArrayEquals(new int[] {1}, codes.feature());
    }

    @Test
    void codesOfARowDoNotDependOnItsNeighbours() {
        SplittableRandom random = new SplittableRandom(SEED);
        Matrix rows = random(random, 131, 13);
        Encoder encoder =
                ReluEncoder.of(random(random, 300, 13), random(random, 1, 300).values());
        SparseCodes together = encoder.encode(rows);
        for (int row : new int[] {0, 63, 64, 130}) {
            assertEquals(
                    together.select(row), encoder.encode(rows.rowRange(row, row + 1)), "seed " + SEED + ", row " + row);
        }
    }

    @Test
    void encoderHasTheSizesItWasGiven() {
        Matrix weights = Matrix.zeros(5, 3);
        for (Encoder encoder : List.of(
                ReluEncoder.of(weights, new double[5]),
                TopKEncoder.of(weights, new double[5], 2),
                JumpReluEncoder.of(weights, new double[5], new double[5]))) {
            assertEquals(3, encoder.inputWidth());
            assertEquals(5, encoder.features());
            IllegalArgumentException e =
                    assertThrows(IllegalArgumentException.class, () -> encoder.encode(Matrix.zeros(1, 4)));
            assertEquals("rows of 4 values, the encoder reads 3", e.getMessage());
            assertEquals(0, encoder.encode(Matrix.zeros(0, 3)).rows());
        }
    }

    @Test
    void partsThatDoNotFitAreRefused() {
        Matrix weights = Matrix.zeros(5, 3);
        assertThrows(IllegalArgumentException.class, () -> ReluEncoder.of(weights, new double[3]));
        assertThrows(IllegalArgumentException.class, () -> TopKEncoder.of(weights, new double[5], 0));
        assertThrows(IllegalArgumentException.class, () -> TopKEncoder.of(weights, new double[5], 6));
        assertThrows(IllegalArgumentException.class, () -> JumpReluEncoder.of(weights, new double[5], new double[4]));
    }

    private interface Claim {
        void check(Matrix weights, double[] bias, Matrix rows, String where);
    }

    private static void forManySizes(Claim claim) {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int rows : new int[] {1, 64, 65}) {
            for (int inputs : new int[] {1, 4, 7}) {
                for (int features : new int[] {1, 3, 256, 259}) {
                    claim.check(
                            random(random, features, inputs),
                            random(random, 1, features).values(),
                            random(random, rows, inputs),
                            "seed %d, %d rows, %d inputs, %d features".formatted(SEED, rows, inputs, features));
                }
            }
        }
    }

    private static Matrix preActivations(Matrix weights, double[] bias, Matrix rows) {
        Matrix pre = Matrix.zeros(rows.rows(), bias.length);
        for (int i = 0; i < rows.rows(); i++) {
            for (int j = 0; j < bias.length; j++) {
                double sum = bias[j];
                for (int h = 0; h < rows.columns(); h++) {
                    sum += weights.get(j, h) * rows.get(i, h);
                }
                pre.set(i, j, sum);
            }
        }
        return pre;
    }

    private static Matrix topKBySorting(Matrix pre, int k) {
        Matrix kept = Matrix.zeros(pre.rows(), pre.columns());
        for (int i = 0; i < pre.rows(); i++) {
            int row = i;
            List<Integer> order = new ArrayList<>();
            for (int j = 0; j < pre.columns(); j++) {
                order.add(j);
            }
            // A stable sort: equal values stay in the order of their index.
            order.sort(Comparator.comparingDouble((Integer j) -> -pre.get(row, j)));
            for (int j : order.subList(0, k)) {
                kept.set(i, j, Math.max(pre.get(i, j), 0.0));
            }
        }
        return kept;
    }

    private static Matrix signedTopKBySorting(Matrix pre, int k, boolean byAmount) {
        Matrix ranks = pre.copy();
        for (int i = 0; i < ranks.values().length; i++) {
            // Above 0, so that clamping takes none away.
            ranks.values()[i] = (byAmount ? Math.abs(ranks.values()[i]) : ranks.values()[i]) + 1e6;
        }
        Matrix kept = topKBySorting(ranks, k);
        for (int i = 0; i < kept.values().length; i++) {
            kept.values()[i] = kept.values()[i] > 0.0 ? pre.values()[i] : 0.0;
        }
        return kept;
    }

    /** Sums of at most 8 products of numbers in [-1, 1], in two orders: at most 16 roundings of 2^-53 times 8. */
    private static void assertClose(Matrix expected, Matrix actual, String where) {
        assertArrayEquals(expected.values(), actual.values(), 128 * 0x1p-53, where);
    }

    private static Matrix random(SplittableRandom random, int rows, int columns) {
        return new Matrix(
                rows, columns, random.doubles((long) rows * columns, -1, 1).toArray());
    }
}
