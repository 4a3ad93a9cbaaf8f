package io.plumbline.requests;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampledRow;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Measures how alike the requests of clean traffic are, which the requests of a window are compared with. Made once for
 * a baseline.
 *
 * <p><b>Tolerance.</b> Two rows are taken for copies when their squared distance is at most a quarter of what one row
 * in ten has to the nearest row of another request, and at most {@value #NEAREST_COPY} of the median distance of two
 * rows. Rows that the baseline itself repeats are left out of that tenth. On recorded English the tenth is about .1,
 * and 44 of 9,273 rows are within .02 of a row of another request.
 *
 * <p><b>Near.</b> Rows of near copies ({@link LinkedRequests}) may be at {@value #NEAR} of the median distance, and at
 * most at three quarters of that tenth: rows with few degrees of freedom are near each other by chance.
 *
 * <p>Means of requests were not taken to compare requests by: corrected for their sampling error, the distance of one
 * pair in a hundred of different requests was as small as that of two halves of one request, at 50 rows a half, on four
 * recordings.
 *
 * @param tolerance squared distance of two copies of a row, in units of the median over pairs of rows
 * @param near squared distance of rows of near copies, in the same units
 * @param effect how much the rows of a clean request resemble each other; null without rows
 */
public record CleanRequests(
        double tolerance, double near, @Nullable RequestEffect effect) {

    /**
     * The share of a row's length below which rows differ by the order of a sum in half precision: some 3 % of a row's
     * bits.
     */
    private static final double ROUNDING = 1e-3;

    private static final double NEAREST_COPY = 0.02;
    private static final double SHARE_OF_NEAREST = 0.25;
    private static final double NEAR = 0.06;
    private static final double NEAR_OF_NEAREST = 0.75;
    private static final int ONE_IN = 10;
    private static final int BLOCK = 256;

    /** The measure without rows of the baseline: only rows that are equal up to rounding are copies. */
    public static final CleanRequests UNKNOWN = new CleanRequests(ROUNDING, NEAR, null);

    /**
     * Measures the rows of a baseline, in {@code N^2 d} flops.
     *
     * @param rows of a baseline, request after request
     */
    public static CleanRequests of(List<SampledRow> rows) {
        double[] nearest = rows.isEmpty() ? new double[0] : nearest(rows);
        if (nearest.length == 0) {
            return UNKNOWN;
        }
        double tenth = nearest[nearest.length / ONE_IN];
        return new CleanRequests(
                Math.max(ROUNDING, Math.min(NEAREST_COPY, SHARE_OF_NEAREST * tenth)),
                Math.max(ROUNDING, Math.min(NEAR, NEAR_OF_NEAREST * tenth)),
                RequestEffect.of(rows));
    }

    /** Returns each row's distance to the nearest of another request, but for repeats, ascending. */
    private static double[] nearest(List<SampledRow> rows) {
        Matrix matrix = RowContents.activations(rows);
        double[] squares = RowContents.squares(matrix);
        double scale = RowContents.scale(rows);
        double[] nearest = new double[rows.size()];
        for (int from = 0; from < rows.size(); from += BLOCK) {
            int to = Math.min(from + BLOCK, rows.size());
            Matrix products = Kernels.multiplyTranspose(matrix.rowRange(from, to), matrix);
            for (int i = from; i < to; i++) {
                double least = Double.POSITIVE_INFINITY;
                for (int j = 0; j < rows.size(); j++) {
                    if (rows.get(i).request() != rows.get(j).request()) {
                        least = Math.min(least, squares[i] + squares[j] - 2.0 * products.get(i - from, j));
                    }
                }
                nearest[i] = least / scale;
            }
        }
        return Arrays.stream(nearest)
                .filter(distance -> distance > ROUNDING && distance < Double.POSITIVE_INFINITY)
                .sorted()
                .toArray();
    }
}
