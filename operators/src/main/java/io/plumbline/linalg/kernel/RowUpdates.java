package io.plumbline.linalg.kernel;

/**
 * Subtracts multiples of whole rows from a row, eight at a time, or adds them, four at a time.
 *
 * <p>Every array is a row of its own and all are read at the same index: the one form of {@code y += a x} that the
 * compiler of the JVM turns into vector instructions (with two different offsets it does not). Several rows per pass,
 * so that the target is loaded and stored once for them.
 */
public final class RowUpdates {

    private RowUpdates() {}

    /**
     * Computes {@code target[j] -= sum over h in [first, last) of factors[h] * rows[h][j]}, for j in
     * {@code [from, to)}.
     */
    public static void subtract(
            double[] target, double[] factors, double[][] rows, int first, int last, int from, int to) {
        int h = first;
        for (; h + 8 <= last; h += 8) {
            subtractEight(target, factors, rows, h, from, to);
        }
        for (; h < last; h++) {
            subtractOne(target, factors[h], rows[h], from, to);
        }
    }

    public static void subtractOne(double[] target, double factor, double[] row, int from, int to) {
        if (factor != 0.0) {
            for (int j = from; j < to; j++) {
                target[j] -= factor * row[j];
            }
        }
    }

    /**
     * Adds multiples of four rows, one term after the other and each step rounded: the bits are those of four calls of
     * {@link #add}, since Java neither reorders nor fuses floating-point operations (JLS 15.4), vectorised or not.
     */
    public static void addFour(
            double[] sum, double a, double[] x, double b, double[] y, double c, double[] z, double e, double[] u) {
        for (int j = 0; j < sum.length; j++) {
            sum[j] = (((sum[j] + a * x[j]) + b * y[j]) + c * z[j]) + e * u[j];
        }
    }

    /** Computes {@code sum += factor * row}. */
    public static void add(double[] sum, double factor, double[] row) {
        for (int j = 0; j < sum.length; j++) {
            sum[j] += factor * row[j];
        }
    }

    private static void subtractEight(double[] target, double[] factors, double[][] rows, int h, int from, int to) {
        double a0 = factors[h];
        double a1 = factors[h + 1];
        double a2 = factors[h + 2];
        double a3 = factors[h + 3];
        double a4 = factors[h + 4];
        double a5 = factors[h + 5];
        double a6 = factors[h + 6];
        double a7 = factors[h + 7];
        double[] x0 = rows[h];
        double[] x1 = rows[h + 1];
        double[] x2 = rows[h + 2];
        double[] x3 = rows[h + 3];
        double[] x4 = rows[h + 4];
        double[] x5 = rows[h + 5];
        double[] x6 = rows[h + 6];
        double[] x7 = rows[h + 7];
        for (int j = from; j < to; j++) {
            target[j] -= ((a0 * x0[j] + a1 * x1[j]) + (a2 * x2[j] + a3 * x3[j]))
                    + ((a4 * x4[j] + a5 * x5[j]) + (a6 * x6[j] + a7 * x7[j]));
        }
    }
}
