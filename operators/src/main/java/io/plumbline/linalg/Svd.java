package io.plumbline.linalg;

import org.ojalgo.matrix.decomposition.SingularValue;
import org.ojalgo.matrix.store.MatrixStore;
import org.ojalgo.matrix.store.R064Store;

/**
 * The singular value decomposition {@code A = U diag(s) V^T} of a small dense matrix, singular values descending.
 *
 * <p>For A of n x m and {@code q = min(n, m)}: {@code left} is n x q, {@code right} is m x q, one singular vector per
 * column. Backward stable. Cost about {@code 20 q^2 max(n, m)} flops (ojAlgo: 6 ms at 128 x 128); for a tall matrix
 * take {@link TriangularFactor} first.
 */
public record Svd(Matrix left, double[] values, Matrix right) {

    public static Svd of(Matrix matrix) {
        SingularValue<Double> decomposition = SingularValue.R064.make(matrix.rows(), matrix.columns());
        if (!decomposition.decompose(toStore(matrix))) {
            throw new ArithmeticException("singular value decomposition of a %d x %d matrix did not converge"
                    .formatted(matrix.rows(), matrix.columns()));
        }
        int count = Math.min(matrix.rows(), matrix.columns());
        double[] values = new double[count];
        for (int i = 0; i < count; i++) {
            values[i] = decomposition.getSingularValues().doubleValue(i);
        }
        return new Svd(
                leadingColumns(decomposition.getU(), count), values, leadingColumns(decomposition.getV(), count));
    }

    /** The singular values alone, descending. */
    public static double[] values(Matrix matrix) {
        SingularValue<Double> decomposition = SingularValue.R064.make(matrix.rows(), matrix.columns());
        if (!decomposition.computeValuesOnly(toStore(matrix))) {
            throw new ArithmeticException(
                    "singular values of a %d x %d matrix did not converge".formatted(matrix.rows(), matrix.columns()));
        }
        double[] values = new double[Math.min(matrix.rows(), matrix.columns())];
        for (int i = 0; i < values.length; i++) {
            values[i] = decomposition.getSingularValues().doubleValue(i);
        }
        return values;
    }

    private static R064Store toStore(Matrix matrix) {
        R064Store store = R064Store.FACTORY.make(matrix.rows(), matrix.columns());
        for (int i = 0; i < matrix.rows(); i++) {
            for (int j = 0; j < matrix.columns(); j++) {
                store.set(i, j, matrix.get(i, j));
            }
        }
        return store;
    }

    private static Matrix leadingColumns(MatrixStore<Double> store, int count) {
        int rows = Math.toIntExact(store.countRows());
        Matrix columns = Matrix.zeros(rows, count);
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < count; j++) {
                columns.set(i, j, store.doubleValue(i, j));
            }
        }
        return columns;
    }
}
