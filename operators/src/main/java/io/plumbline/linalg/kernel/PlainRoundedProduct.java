package io.plumbline.linalg.kernel;

import java.util.Arrays;

/** Adds rows of B, of arrays that are read at one index, see {@link RowUpdates}. */
final class PlainRoundedProduct implements RoundedProduct {

    private final double[][] b;

    PlainRoundedProduct(MatrixView right) {
        b = new double[right.rows()][right.columns()];
        for (int h = 0; h < b.length; h++) {
            right.copyRow(h, 0, b[h], 0, right.columns());
        }
    }

    /** Four rows of B at a time over all rows of A, so that those four stay near. */
    @Override
    public void multiply(double[][] a, double[][] c) {
        for (double[] row : c) {
            Arrays.fill(row, 0.0);
        }
        int h = 0;
        for (; h + 4 <= b.length; h += 4) {
            for (int i = 0; i < a.length; i++) {
                RowUpdates.addFour(
                        c[i], a[i][h], b[h], a[i][h + 1], b[h + 1], a[i][h + 2], b[h + 2], a[i][h + 3], b[h + 3]);
            }
        }
        for (; h < b.length; h++) {
            for (int i = 0; i < a.length; i++) {
                RowUpdates.add(c[i], a[i][h], b[h]);
            }
        }
    }
}
