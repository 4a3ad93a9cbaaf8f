package io.plumbline.linalg.kernel;

import io.plumbline.parallel.Cores;

/**
 * The right-hand matrix B (m x p) of products {@code C += A B}, laid out once as an {@link UpdateKernel} wants it and
 * then multiplied any number of times, in float64.
 *
 * <p>Every entry is a sum over m in the same order whatever rows are multiplied together and by however many {@link
 * Cores}: rows are independent to the last bit.
 *
 * <p><b>Size.</b> {@code 8 m p} bytes, {@code p} rounded up to a multiple of 24. <b>Accuracy.</b> An entry errs by at
 * most {@code (m + 1) 2^-53 Σ |a_h b_h|}. Immutable and thread-safe.
 */
public abstract class PackedMatrix {

    /**
     * The number of flops that are worth sharing: some tenths of a millisecond; handing work over costs some
     * hundredths.
     */
    private static final double FLOPS_WORTH_SHARING = 1e7;

    /** The number of shares, more than there are cores, so that none waits long for another. */
    private static final int SHARES = 16;

    /** The fewest rows of a share: whole strips of any kernel. */
    private static final int LEAST_ROWS = 2 * TileKernel.WIDTH;

    private final int rows;
    private final int columns;

    PackedMatrix(MatrixView b) {
        this.rows = b.rows();
        this.columns = b.columns();
    }

    public final int rows() {
        return rows;
    }

    public final int columns() {
        return columns;
    }

    /** Computes {@code C += A B}; C is n x p, row-major from the start of {@code c}. {@code 2 n m p} flops. */
    public final void addProduct(MatrixView a, double[] c) {
        addProduct(a, c, 0, columns);
    }

    /**
     * Adds a product, like {@link #addProduct(MatrixView, double[])}, to a part of a larger matrix, whose rows are
     * {@code stride} apart.
     */
    public final void addProduct(MatrixView a, double[] c, int offset, int stride) {
        if (a.columns() != rows
                || stride < columns
                || (a.rows() > 0 && offset + (a.rows() - 1L) * stride + columns > c.length)) {
            throw new IllegalArgumentException("a product of %d x %d and %d x %d into %d numbers, from %d on, %d a row"
                    .formatted(a.rows(), a.columns(), rows, columns, c.length, offset, stride));
        }
        double flops = 2.0 * a.rows() * rows * columns;
        if (flops < FLOPS_WORTH_SHARING) {
            multiply(a, c, offset, stride);
            return;
        }
        int share = (a.rows() + SHARES * LEAST_ROWS - 1) / (SHARES * LEAST_ROWS) * LEAST_ROWS;
        Cores.each((a.rows() + share - 1) / share, index -> {
            int from = index * share;
            multiply(a.rowRange(from, Math.min(from + share, a.rows())), c, offset + from * stride, stride);
        });
    }

    public abstract void multiply(MatrixView a, double[] c, int offset, int stride);
}
