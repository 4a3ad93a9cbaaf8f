package io.plumbline.comparison;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The share of rows after whose nearest row before, by cosine, is that of the same request and position.
 *
 * <p>Asked of {@value #ROWS_OF_A_REQUEST} rows each of the first requests, {@value #MOST_ROWS} in all. Rows before that
 * are equal, such as those of the token that every request begins with, are one row here.
 *
 * <p><b>Size.</b> {@code 8 KB} a column at most. <b>Cost</b> of {@link #share}: {@value #MOST_ROWS} products of a row
 * with as many. Not thread-safe.
 */
final class NearestRows {

    private static final int ROWS_OF_A_REQUEST = 4;
    private static final int MOST_ROWS = 512;
    private static final double ROUNDING = 1e-9;

    private final List<double[]> before = new ArrayList<>();
    private final List<double[]> after = new ArrayList<>();

    /** Adds a request, and keeps some of its rows. */
    void add(Matrix rowsBefore, Matrix rowsAfter) {
        int kept = Math.min(Math.min(ROWS_OF_A_REQUEST, rowsBefore.rows()), MOST_ROWS - before.size());
        for (int i = 0; i < kept; i++) {
            int row = (int) ((long) i * rowsBefore.rows() / kept);
            before.add(unit(rowsBefore, row));
            after.add(unit(rowsAfter, row));
        }
    }

    private static double[] unit(Matrix rows, int row) {
        Matrix one = rows.rowRange(row, row + 1);
        double length = one.frobeniusNorm();
        return Arrays.stream(one.values())
                .map(value -> length == 0.0 ? 0.0 : value / length)
                .toArray();
    }

    /** Returns the share, in [0, 1]; 1 where no row was added. */
    double share() {
        if (before.isEmpty()) {
            return 1.0;
        }
        Matrix cosines = Kernels.multiplyTranspose(matrix(after), matrix(before));
        int nearest = 0;
        for (int i = 0; i < cosines.rows(); i++) {
            double most =
                    Arrays.stream(cosines.rowRange(i, i + 1).values()).max().orElseThrow();
            nearest += cosines.get(i, i) >= most - ROUNDING ? 1 : 0;
        }
        return (double) nearest / cosines.rows();
    }

    private static Matrix matrix(List<double[]> rows) {
        return new Matrix(
                rows.size(),
                rows.get(0).length,
                rows.stream().flatMapToDouble(Arrays::stream).toArray());
    }
}
