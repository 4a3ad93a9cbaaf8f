package io.plumbline.linalg;

/**
 * Plain loops of the dense products everything else is made of. They are the oracle of any faster twin.
 *
 * <p>All loops run in a fixed order, so results are deterministic. Plain {@code a * b + c}, no fused multiply-add: on
 * integer-valued rows every sum below 2^53 is exact in any order.
 */
public final class Kernels {

    private Kernels() {}

    /** {@code A B}: (n x m)(m x p), {@code 2 n m p} flops; B is copied row by row, {@code 8 m p} bytes. */
    public static Matrix multiply(Matrix a, Matrix b) {
        requireInner(a.columns(), b.rows(), a, b);
        int m = a.columns();
        int p = b.columns();
        Matrix product = Matrix.zeros(a.rows(), p);
        double[][] rows = new double[m][];
        for (int h = 0; h < m; h++) {
            rows[h] = b.rowRange(h, h + 1).values();
        }
        double[] negated = new double[m];
        for (int i = 0; i < a.rows(); i++) {
            for (int h = 0; h < m; h++) {
                negated[h] = -a.values()[i * m + h];
            }
            double[] target = new double[p];
            RowUpdates.subtract(target, negated, rows, 0, m, 0, p);
            System.arraycopy(target, 0, product.values(), i * p, p);
        }
        return product;
    }

    /** {@code A^T B}: (n x m)^T (n x p), {@code 2 n m p} flops. */
    public static Matrix transposeMultiply(Matrix a, Matrix b) {
        requireInner(a.rows(), b.rows(), a, b);
        int m = a.columns();
        int p = b.columns();
        Matrix product = Matrix.zeros(m, p);
        for (int h = 0; h < a.rows(); h++) {
            for (int i = 0; i < m; i++) {
                double factor = a.values()[h * m + i];
                if (factor != 0.0) {
                    addScaled(factor, b.values(), h * p, product.values(), i * p, p);
                }
            }
        }
        return product;
    }

    /** {@code A B^T}: (n x m)(p x m)^T, {@code 2 n m p} flops. */
    public static Matrix multiplyTranspose(Matrix a, Matrix b) {
        requireInner(a.columns(), b.columns(), a, b);
        Matrix product = Matrix.zeros(a.rows(), b.rows());
        int m = a.columns();
        for (int i = 0; i < a.rows(); i++) {
            for (int j = 0; j < b.rows(); j++) {
                product.set(i, j, dot(a.values(), i * m, b.values(), j * m, m));
            }
        }
        return product;
    }

    /** {@code y[yOffset ..] += factor * x[xOffset ..]}. */
    public static void addScaled(double factor, double[] x, int xOffset, double[] y, int yOffset, int length) {
        for (int j = 0; j < length; j++) {
            y[yOffset + j] += factor * x[xOffset + j];
        }
    }

    /** The inner product of two stretches, in four interleaved partial sums. */
    public static double dot(double[] x, int xOffset, double[] y, int yOffset, int length) {
        double a = 0.0;
        double b = 0.0;
        double c = 0.0;
        double e = 0.0;
        int j = 0;
        for (; j + 4 <= length; j += 4) {
            a += x[xOffset + j] * y[yOffset + j];
            b += x[xOffset + j + 1] * y[yOffset + j + 1];
            c += x[xOffset + j + 2] * y[yOffset + j + 2];
            e += x[xOffset + j + 3] * y[yOffset + j + 3];
        }
        for (; j < length; j++) {
            a += x[xOffset + j] * y[yOffset + j];
        }
        return (a + b) + (c + e);
    }

    private static void requireInner(int left, int right, Matrix a, Matrix b) {
        if (left != right) {
            throw new IllegalArgumentException(
                    "inner sizes differ: %d x %d and %d x %d".formatted(a.rows(), a.columns(), b.rows(), b.columns()));
        }
    }
}
