package io.plumbline.requests;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.kernel.MatrixView;
import io.plumbline.linalg.kernel.PackedMatrix;
import io.plumbline.moments.SplitMix;

/**
 * The few directions along which the rows of a request are added up: what is kept of it is {@code B sum x} with a basis
 * {@code B} of p rows.
 *
 * <p><b>Cost.</b> The rows are summed first, {@code n d} additions, and only their sum is multiplied, {@code 2 p d}
 * flops a request; sums of several requests together, {@link WaitingRequests}.
 * <p><b>Accuracy.</b> Sums are in double. The basis is rounded to {@value #BITS} bits of the largest entry of each of
 * its rows, as if it were float32: then sums over integer-valued rows are exact while they stay below {@code 2^29 / d}
 * in size, so that the same rows over any number of partitions give the same bits, as with moments.
 * <p><b>Size.</b> {@code 8 p d} bytes. Immutable and thread-safe.
 */
public final class RequestProjection {

    /** The most directions: totals of as many requests as are kept stay a few megabytes. */
    public static final int MOST_COMPONENTS = 1_024;

    /** The largest entry: sums of activations times larger ones could leave the range of double. */
    private static final double LARGEST_ENTRY = 1e100;

    /** Bits of an entry of the basis, at most. */
    private static final int BITS = 24;

    /**
     * Names a projection; sums under two of them must not be added up.
     *
     * @param hash of the bits of its basis
     * @param components how many numbers it gives
     */
    public record Id(long hash, int components) {
        public Id {
            if (components < 1 || components > MOST_COMPONENTS) {
                throw new IllegalArgumentException(
                        "a projection to %d components: expected 1 to %d".formatted(components, MOST_COMPONENTS));
            }
        }
    }

    private final Id id;
    private final int dimension;
    private final Matrix basis;
    private final PackedMatrix transposedBasis;

    private RequestProjection(Id id, Matrix basis) {
        this.id = id;
        this.dimension = basis.columns();
        this.basis = basis;
        this.transposedBasis = Kernels.pack(basis.transposedView(), WaitingRequests.REQUESTS);
    }

    /**
     * The projection {@code x -> basis x}; the matrix is copied, and rounded as said above.
     *
     * @param basis p x d, of any rows: orthonormal or not
     */
    public static RequestProjection of(Matrix basis) {
        long hash = SplitMix.mix(basis.columns());
        for (double value : basis.values()) {
            // Written so that NaN fails it.
            if (!(Math.abs(value) <= LARGEST_ENTRY)) {
                throw new IllegalArgumentException(
                        "a basis of requests holds %s: expected numbers up to 1e100 in size".formatted(value));
            }
            hash = SplitMix.mix(hash ^ Double.doubleToLongBits(value));
        }
        return new RequestProjection(new Id(hash, basis.rows()), rounded(basis));
    }

    private static Matrix rounded(Matrix basis) {
        Matrix rounded = basis.copy();
        double[] values = rounded.values();
        for (int from = 0; from < values.length; from += basis.columns()) {
            double largest = Double.MIN_NORMAL;
            for (int j = 0; j < basis.columns(); j++) {
                largest = Math.max(largest, Math.abs(values[from + j]));
            }
            int bits = BITS - 1 - Math.getExponent(largest);
            for (int j = 0; j < basis.columns(); j++) {
                values[from + j] = Math.scalb(Math.rint(Math.scalb(values[from + j], bits)), -bits);
            }
        }
        return rounded;
    }

    /**
     * Returns this projection for longer rows: it takes only their first values. Sums under both add up.
     *
     * @param width values of the longer rows
     */
    public RequestProjection ofLongerRows(int width) {
        Matrix longer = Matrix.zeros(basis.rows(), width);
        for (int i = 0; i < basis.rows(); i++) {
            System.arraycopy(basis.values(), i * dimension, longer.values(), i * width, dimension);
        }
        return new RequestProjection(id, longer);
    }

    public Id id() {
        return id;
    }

    /** Returns how many numbers it gives. */
    public int components() {
        return id.components();
    }

    /** The width of the rows it takes. */
    public int dimension() {
        return dimension;
    }

    /** Adds the projected sum of all {@code rows} to {@code sum}. */
    public void add(Matrix rows, double[] sum) {
        if (rows.columns() != dimension || sum.length != id.components()) {
            throw new IllegalArgumentException(
                    ("rows of %d values and a sum of %d: this projection takes rows of %d and gives %d; "
                                    + "nothing was added")
                            .formatted(rows.columns(), sum.length, dimension, id.components()));
        }
        double[] total = new double[dimension];
        double[] values = rows.values();
        for (int from = 0; from < values.length; from += dimension) {
            for (int j = 0; j < dimension; j++) {
                total[j] += values[from + j];
            }
        }
        transposedBasis.addProduct(new MatrixView(total, 0, 1, dimension, dimension, 1), sum);
    }

    /** The projections of the first {@code count} rows, one after the other; the basis is read once for all of them. */
    double[] project(double[] rows, int count) {
        double[] projected = new double[count * id.components()];
        transposedBasis.addProduct(new MatrixView(rows, 0, count, dimension, dimension, 1), projected);
        return projected;
    }
}
