package io.plumbline.explainer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Comparator;
import java.util.SplittableRandom;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares selections with sorting. */
class LargestCodesTest {

    private static final int FEATURES = 1_000;

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void whatIsKeptIsWhatSortingFinds(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        double[][] rows = new double[5][];
        for (int row = 0; row < rows.length; row++) {
            rows[row] = values(random, row);
        }
        for (int k : new int[] {1, 2, 31, 32, 100, 500, FEATURES}) {
            compare(LargestCodes.ofValue(rows.length, k), rows, k, v -> v, false);
            compare(LargestCodes.ofAmount(rows.length, k), rows, k, Math::abs, false);
            compare(LargestCodes.positive(rows.length, k), rows, k, v -> v, true);
        }
    }

    /** Returns values that are all different, or of few kinds, in any, rising or falling order, of any size. */
    private static double[] values(SplittableRandom random, int kind) {
        return switch (kind) {
            case 0 -> random.doubles(FEATURES, -1, 1).toArray();
            case 1 -> random.ints(FEATURES, -3, 4).asDoubleStream().toArray();
            case 2 -> random.doubles(FEATURES, -1, 1).sorted().toArray();
            case 3 ->
                random.doubles(FEATURES, -1, 1)
                        .map(v -> Math.scalb(v, random.nextInt(-1_000, 1_000)))
                        .toArray();
            default ->
                IntStream.range(0, FEATURES)
                        .mapToDouble(j -> j % 2 == 0 ? 0.0 : -0.0)
                        .toArray();
        };
    }

    /** Hands rows over in stretches of many lengths, rows in between each other, without those below their level. */
    private static void compare(
            LargestCodes selection, double[][] rows, int k, DoubleUnaryOperator rank, boolean positive) {
        int stretch = 1;
        for (int from = 0; from < FEATURES; from += stretch) {
            stretch = Math.min(from % 150 + 1, FEATURES - from);
            for (int row = 0; row < rows.length; row++) {
                double level = selection.level(row);
                if (Arrays.stream(rows[row], from, from + stretch).anyMatch(v -> v > level)) {
                    selection.take(row, from, rows[row], from, stretch);
                }
            }
        }
        SparseCodes.Builder builder = new SparseCodes.Builder(rows.length, FEATURES);
        SparseCodes.Builder expected = new SparseCodes.Builder(rows.length, FEATURES);
        for (int row = 0; row < rows.length; row++) {
            double[] values = rows[row];
            selection.finish(row, builder);
            IntStream.range(0, FEATURES)
                    .boxed()
                    // Stable: equal ones stay in the order of their index.
                    .sorted(Comparator.comparingDouble(j -> 0.0 - rank.applyAsDouble(values[j])))
                    .limit(k)
                    .filter(j -> !positive || values[j] > 0)
                    .sorted()
                    .forEach(j -> expected.add(j, values[j]));
            expected.endRow();
        }
        assertEquals(expected.build(), builder.build(), "k = " + k);
    }

    @Test
    void ofEqualCodesThoseOfLowerIndexAreKept() {
        LargestCodes selection = LargestCodes.positive(1, 5);
        selection.take(0, 0, new double[] {2, 5, 2, 7, 2, 2, 1, 5}, 0, 8);
        SparseCodes.Builder codes = new SparseCodes.Builder(1, 8);
        selection.finish(0, codes);
        assertArrayEquals(new int[] {0, 1, 2, 3, 7}, codes.build().feature());
    }

    @Test
    void valuesThatAreNoNumbersAreNotTaken() {
        double[] values = new double[FEATURES];
        Arrays.fill(values, Double.NaN);
        values[3] = Double.NEGATIVE_INFINITY;
        values[5] = Double.POSITIVE_INFINITY;
        values[700] = 1;
        LargestCodes selection = LargestCodes.ofValue(1, 2);
        selection.take(0, 0, values, 0, FEATURES);
        SparseCodes.Builder codes = new SparseCodes.Builder(1, FEATURES);
        selection.finish(0, codes);
        assertArrayEquals(new int[] {5, 700}, codes.build().feature());
    }

    @Test
    void theLevelRisesAsRowsAreRead() {
        double[] values = new SplittableRandom(1).doubles(FEATURES, 1, 2).toArray();
        LargestCodes selection = LargestCodes.positive(1, 3);
        selection.take(0, 0, values, 0, FEATURES);
        double third = Arrays.stream(values).sorted().toArray()[FEATURES - 3];
        assertTrue(selection.level(0) > 1 && selection.level(0) < third, "level " + selection.level(0));
    }
}
