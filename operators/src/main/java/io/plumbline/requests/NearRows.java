package io.plumbline.requests;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampledRow;
import io.plumbline.moments.SplitMix;
import java.util.List;

/**
 * Finds the pairs of rows that may be near each other, by squared Euclidean distances in {@value #SIGNS} random signed
 * sums.
 *
 * <p><b>Cost.</b> {@code 64 N^2} flops and 8 MB at a time: 1.1 GFLOP for 4,096 rows. A pair at the limit is missed with
 * probability .001.
 */
final class NearRows {

    private static final int SIGNS = 64;
    private static final int BLOCK = 256;
    /** The share of signs below which rows are near: 3.4 standard deviations of a mean of 64 squares. */
    private static final double NEAR_IN_SIGNS = 1.6;

    private NearRows() {}

    /** Takes the numbers of two rows. */
    interface Pair {
        void accept(int row, int earlier);
    }

    /**
     * Hands over each pair of rows once whose distance may be at most the limit; most of the others are left out.
     *
     * @param limit squared distance
     */
    static void forEach(List<SampledRow> rows, double limit, Pair pair) {
        Matrix sums = Kernels.multiply(
                RowContents.activations(rows), signs(rows.get(0).activation().length));
        double[] squares = RowContents.squares(sums);
        double nearInSigns = NEAR_IN_SIGNS * SIGNS * limit;
        for (int from = 0; from < rows.size(); from += BLOCK) {
            int to = Math.min(from + BLOCK, rows.size());
            Matrix products = Kernels.multiplyTranspose(sums.rowRange(from, to), sums.rowRange(0, to));
            for (int i = from; i < to; i++) {
                for (int j = 0; j < i; j++) {
                    if (squares[i] + squares[j] - 2.0 * products.get(i - from, j) <= nearInSigns) {
                        pair.accept(i, j);
                    }
                }
            }
        }
    }

    private static Matrix signs(int width) {
        Matrix signs = Matrix.zeros(width, SIGNS);
        for (int j = 0; j < width; j++) {
            long bits = SplitMix.mix(j);
            for (int sign = 0; sign < SIGNS; sign++) {
                signs.set(j, sign, (bits >>> sign & 1) == 0 ? 1.0 : -1.0);
            }
        }
        return signs;
    }
}
