package io.plumbline.linalg;

import io.plumbline.linalg.kernel.MatrixView;
import io.plumbline.linalg.kernel.PackedMatrix;
import io.plumbline.linalg.kernel.UpdateKernel;
import io.plumbline.linalg.kernel.UpdateKernels;

/**
 * Computes the dense products everything else is made of, by the {@link UpdateKernel} of this process.
 *
 * <p>An entry of a product is summed in an order that depends on the inner size alone, so results are deterministic for
 * one kernel; on integer-valued rows every sum below 2^53 is exact in any order.
 */
public final class Kernels {

    /** The number of flops below which plain loops are done before the vector kernel is compiled. */
    private static final double FEW_FLOPS = 1e5;

    /** Columns of a symmetric product that are made together: a multiple of what kernels work on. */
    private static final int STRIP = 192;

    private Kernels() {}

    /** Returns {@code A B}: (n x m)(m x p), {@code 2 n m p} flops; B is laid out anew, {@code 8 m p} bytes. */
    public static Matrix multiply(Matrix a, Matrix b) {
        requireInner(a.columns(), b.rows(), a, b);
        return product(a.view(), b.view());
    }

    /** Returns {@code A^T B}: (n x m)^T (n x p), {@code 2 n m p} flops. */
    public static Matrix transposeMultiply(Matrix a, Matrix b) {
        requireInner(a.rows(), b.rows(), a, b);
        return product(a.transposedView(), b.view());
    }

    /** Returns {@code A B^T}: (n x m)(p x m)^T, {@code 2 n m p} flops. */
    public static Matrix multiplyTranspose(Matrix a, Matrix b) {
        requireInner(a.columns(), b.columns(), a, b);
        return product(a.view(), b.transposedView());
    }

    /**
     * The half H of {@code A^T B} where that is symmetric, (n x p)^T (n x p): {@code A^T B = H + H^T}, what is above
     * the diagonal and not in its strip being 0. {@code n p (p + 192)} flops.
     */
    public static Matrix halfOfSymmetricProduct(Matrix a, Matrix b) {
        requireInner(a.rows(), b.rows(), a, b);
        int p = a.columns();
        if (b.columns() != p) {
            throw new IllegalArgumentException("%d and %d columns have no symmetric product".formatted(p, b.columns()));
        }
        Matrix half = Matrix.zeros(p, p);
        addLowerStrips(a.transposedView(), b, half);
        for (int from = 0; from < p; from += STRIP) {
            int to = Math.min(from + STRIP, p);
            for (int i = from; i < to; i++) {
                for (int j = from; j < to; j++) {
                    half.values()[i * p + j] *= 0.5;
                }
            }
        }
        return half;
    }

    /**
     * Adds a product {@code A B} that is symmetric, (p x n)(n x p), without what is above the diagonal and not in its
     * strip: that comes with {@link #mirror} once all are added. {@code n p (p + 192)} flops.
     */
    public static void addSymmetricProduct(Matrix a, Matrix b, Matrix sum) {
        requireInner(a.columns(), b.rows(), a, b);
        if (a.rows() != b.columns() || sum.rows() != a.rows() || sum.columns() != a.rows()) {
            throw new IllegalArgumentException("no symmetric product of %d x %d: %d rows and %d columns"
                    .formatted(sum.rows(), sum.columns(), a.rows(), b.columns()));
        }
        addLowerStrips(a.view(), b, sum);
    }

    /** Writes what {@link #addSymmetricProduct} left out. */
    public static void mirror(Matrix sum) {
        int p = sum.rows();
        for (int from = STRIP; from < p; from += STRIP) {
            for (int i = from; i < Math.min(from + STRIP, p); i++) {
                for (int j = 0; j < from; j++) {
                    sum.values()[j * p + i] = sum.values()[i * p + j];
                }
            }
        }
    }

    private static void addLowerStrips(MatrixView a, Matrix b, Matrix sum) {
        int p = b.columns();
        UpdateKernel kernel = kernelFor(1.0 * b.rows() * p * p);
        for (int from = 0; from < p; from += STRIP) {
            // From the strip's first row on; what is above is below in the strips before.
            kernel.pack(b.partView(0, b.rows(), from, Math.min(from + STRIP, p)))
                    .addProduct(a.rowRange(from, p), sum.values(), from * p + from, p);
        }
    }

    private static Matrix product(MatrixView a, MatrixView b) {
        Matrix product = Matrix.zeros(a.rows(), b.columns());
        double flops = 2.0 * a.rows() * a.columns() * b.columns();
        kernelFor(flops).pack(b).addProduct(a, product.values());
        return product;
    }

    /**
     * Lays out B for products with as many rows in all as said, by the kernel that {@link #multiply} would take for
     * them.
     */
    public static PackedMatrix pack(MatrixView b, int rowsInAll) {
        return kernelFor(2.0 * rowsInAll * b.rows() * b.columns()).pack(b);
    }

    private static UpdateKernel kernelFor(double flops) {
        return flops < FEW_FLOPS ? UpdateKernels.plain() : UpdateKernels.kernel();
    }

    /** Computes {@code y[yOffset ..] += factor * x[xOffset ..]}. */
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

    /**
     * The squared distance of two stretches, summed as {@link #dot} is. Not by that of the difference: this is the loop
     * that windows' moments are read by, and a difference would be written and read once more.
     */
    static double squaredDistance(double[] x, int xOffset, double[] y, int yOffset, int length) {
        double a = 0.0;
        double b = 0.0;
        double c = 0.0;
        double e = 0.0;
        int j = 0;
        for (; j + 4 <= length; j += 4) {
            double first = x[xOffset + j] - y[yOffset + j];
            double second = x[xOffset + j + 1] - y[yOffset + j + 1];
            double third = x[xOffset + j + 2] - y[yOffset + j + 2];
            double fourth = x[xOffset + j + 3] - y[yOffset + j + 3];
            a += first * first;
            b += second * second;
            c += third * third;
            e += fourth * fourth;
        }
        for (; j < length; j++) {
            double one = x[xOffset + j] - y[yOffset + j];
            a += one * one;
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
