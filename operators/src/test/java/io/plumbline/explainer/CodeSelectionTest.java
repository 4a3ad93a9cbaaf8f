package io.plumbline.explainer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CodeSelectionTest {

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void theLargestIsTheOneThatSortingFinds(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int length = random.nextInt(1, 200);
        // Few different values: most of them are equal to others.
        double[] values =
                random.ints(length, 0, 1 + (int) seed * 5).asDoubleStream().toArray();
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        for (int k = 1; k <= length; k++) {
            int rank = k;
            assertEquals(sorted[length - k], CodeSelection.largest(k, values.clone()), () -> "number %d of %s"
                    .formatted(rank, Arrays.toString(values)));
        }
    }

    @Test
    void valuesThatAreNoNumbersDoNotKeepItFromEnding() {
        double[] values = {3, Double.NaN, 1, Double.NaN, Double.NEGATIVE_INFINITY, 2, Double.POSITIVE_INFINITY};
        for (int k = 1; k <= values.length; k++) {
            int rank = k;
            Assertions.assertTimeoutPreemptively(
                    Duration.ofSeconds(10), () -> CodeSelection.largest(rank, values.clone()));
        }
    }

    @Test
    void ofEqualCodesThoseOfLowerIndexAreKept() {
        CodeSelection selection = new CodeSelection(1, 4) {
            @Override
            void take(int row, int first, double[] preActivations, int at, int count) {
                for (int j = 0; j < count; j++) {
                    add(row, first + j, preActivations[at + j]);
                }
            }
        };
        selection.take(0, 0, new double[] {2, 5, 2, 7, 2, 2, 1, 5}, 0, 8);
        assertEquals(2.0, selection.keepLargest(0, 5));
        SparseCodes.Builder codes = new SparseCodes.Builder(1, 8);
        selection.finish(0, codes);
        assertEquals(
                "[0, 1, 2, 3, 7]", Arrays.toString(Arrays.copyOf(codes.build().feature(), 5)));
    }
}
