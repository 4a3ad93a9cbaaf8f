package io.plumbline.moments;

import io.plumbline.linalg.Matrix;

/**
 * The count, sum and sum of products of activation rows: from them the mean, the uncentred second moment
 * {@code M = (1/N) Σ y yᵀ} and the covariance.
 *
 * <p>Immutable; every array that leaves is a copy. <b>Size.</b> {@code 4 d(d+3)} bytes. The moment of no rows exists
 * (it is the neutral element of merging) but has no mean and no matrix: those throw {@link IllegalStateException}.
 */
public final class SecondMoment {

    private static final int TILE = 32;

    private final int dimension;
    private final long rows;
    private final double[] state;

    SecondMoment(int dimension, long rows, double[] state) {
        this.dimension = dimension;
        this.rows = rows;
        this.state = state;
    }

    /** The moment of the rows of one matrix. */
    public static SecondMoment of(Matrix rows) {
        return SecondMomentAccumulator.ofDimension(rows.columns()).add(rows).snapshot();
    }

    /** Returns the moment of numbers laid out as {@link SecondMomentAccumulator#state()}; copied. */
    public static SecondMoment ofState(int dimension, long rows, double[] state) {
        MomentState.requireRows(rows);
        MomentState.requireLength(dimension, state.length);
        return new SecondMoment(dimension, rows, state.clone());
    }

    public long rows() {
        return rows;
    }

    public int dimension() {
        return dimension;
    }

    /** Returns {@code (1/N) Σ y}. */
    public double[] mean() {
        requireSomeRows();
        double[] mean = new double[dimension];
        for (int i = 0; i < dimension; i++) {
            mean[i] = state[i] / rows;
        }
        return mean;
    }

    /**
     * Returns M, d x d, exactly symmetric, divided by N and not centred. Unfolded anew at every call: {@code 8 d^2}
     * bytes.
     */
    public Matrix matrix() {
        requireSomeRows();
        Matrix moment = Matrix.zeros(dimension, dimension);
        double[] values = moment.values();
        int next = dimension;
        for (int i = 0; i < dimension; i++) {
            for (int j = 0; j <= i; j++) {
                values[i * dimension + j] = state[next++] / rows;
            }
        }
        // Mirrored tile by tile: a column at a time would miss the cache at every entry. Tiles follow each other along
        // the rows that are written.
        for (int left = 0; left < dimension; left += TILE) {
            for (int top = left; top < dimension; top += TILE) {
                for (int j = left; j < Math.min(left + TILE, dimension); j++) {
                    for (int i = Math.max(top, j + 1); i < Math.min(top + TILE, dimension); i++) {
                        values[j * dimension + i] = values[i * dimension + j];
                    }
                }
            }
        }
        return moment;
    }

    /**
     * Returns {@code M - mean meanᵀ}, divided by N. Where the mean is large against the spread this cancels: an entry
     * has an absolute error of about {@code 2^-53} times the same entry of M.
     */
    public Matrix covariance() {
        Matrix covariance = matrix();
        double[] mean = mean();
        for (int i = 0; i < dimension; i++) {
            for (int j = 0; j < dimension; j++) {
                covariance.set(i, j, covariance.get(i, j) - mean[i] * mean[j]);
            }
        }
        return covariance;
    }

    /** Returns {@code tr M}: the mean squared length of a row. */
    public double trace() {
        requireSomeRows();
        double sum = 0.0;
        int diagonal = dimension - 1;
        for (int i = 0; i < dimension; i++) {
            diagonal += i + 1;
            sum += state[diagonal];
        }
        return sum / rows;
    }

    /** Returns {@code |M - M_old|_F / |M_old|_F}, with neither matrix unfolded. */
    public double shiftFrom(SecondMoment old) {
        MomentState.requireSameDimension(dimension, old.dimension);
        requireSomeRows();
        old.requireSomeRows();
        double shift = 0.0;
        double norm = 0.0;
        int next = dimension;
        for (int i = 0; i < dimension; i++) {
            for (int j = 0; j <= i; j++) {
                double was = old.state[next] / old.rows;
                double moved = state[next++] / rows - was;
                double times = i == j ? 1.0 : 2.0;
                shift += times * moved * moved;
                norm += times * was * was;
            }
        }
        return Math.sqrt(shift / norm);
    }

    /**
     * Returns this moment without the rows of {@code part}, which must be among them: for judging a window against
     * everything else. Exact on integer-valued rows; otherwise the error is that of the larger moment.
     */
    public SecondMoment minus(SecondMoment part) {
        MomentState.requireSameDimension(dimension, part.dimension);
        if (part.rows > rows) {
            throw new IllegalArgumentException("cannot take %d rows from %d".formatted(part.rows, rows));
        }
        double[] rest = state.clone();
        for (int i = 0; i < rest.length; i++) {
            rest[i] -= part.state[i];
        }
        return new SecondMoment(dimension, rows - part.rows, rest);
    }

    /** A copy of the numbers, laid out as {@link SecondMomentAccumulator#state()}. */
    public double[] state() {
        return state.clone();
    }

    double[] sharedState() {
        return state;
    }

    @Override
    public String toString() {
        return "SecondMoment[%d rows of dimension %d]".formatted(rows, dimension);
    }

    private void requireSomeRows() {
        if (rows == 0) {
            throw new IllegalStateException("the moment of no rows has no mean and no matrix");
        }
    }
}
