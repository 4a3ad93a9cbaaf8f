package io.plumbline.linalg.kernel;

import java.util.Arrays;

/** Adds rows of B, of arrays that are read at one index, see {@link RowUpdates}. */
final class PlainRoundedProduct implements RoundedProduct {

    private final double[][] b;

    PlainRoundedProduct(double[][] b) {
        this.b = b;
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
                addFour(c[i], a[i], h, b[h], b[h + 1], b[h + 2], b[h + 3]);
            }
        }
        for (; h < b.length; h++) {
            for (int i = 0; i < a.length; i++) {
                addOne(c[i], a[i][h], b[h]);
            }
        }
    }

    private static void addFour(double[] sum, double[] factors, int h, double[] x, double[] y, double[] z, double[] u) {
        double a = factors[h];
        double b = factors[h + 1];
        double c = factors[h + 2];
        double e = factors[h + 3];
        for (int j = 0; j < sum.length; j++) {
            sum[j] = (((sum[j] + a * x[j]) + b * y[j]) + c * z[j]) + e * u[j];
        }
    }

    private static void addOne(double[] sum, double factor, double[] row) {
        for (int j = 0; j < sum.length; j++) {
            sum[j] += factor * row[j];
        }
    }
}
