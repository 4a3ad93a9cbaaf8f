package io.plumbline.linalg;

/**
 * The full eigendecomposition {@code A = V diag(w) V^T} of a symmetric matrix, eigenvalues descending.
 *
 * <p>{@code vectors} holds one eigenvector per column, in the order of {@code values}. Backward stable: the error of an
 * eigenvalue is a small multiple of {@code 2^-53 ||A||}. Cost about {@code 9 d^3} flops ({@link SymmetricEigensolver}
 * says by what).
 */
public record SymmetricEigen(double[] values, Matrix vectors) {

    /**
     * The library that decomposes large matrices in this process.
     *
     * @throws IllegalStateException if a native one is asked for and cannot be had
     */
    public static String solver() {
        return Eigensolvers.forLarge().name();
    }

    /** Decomposes the symmetric part of {@code matrix}; the argument is not changed. */
    public static SymmetricEigen of(Matrix matrix) {
        int d = matrix.rows();
        if (d != matrix.columns()) {
            throw new IllegalArgumentException("not square: %d x %d".formatted(d, matrix.columns()));
        }
        Matrix symmetric = Matrix.zeros(d, d);
        for (int i = 0; i < d; i++) {
            for (int j = 0; j < d; j++) {
                symmetric.set(i, j, 0.5 * (matrix.get(i, j) + matrix.get(j, i)));
            }
        }
        return Eigensolvers.of(d).decompose(symmetric);
    }
}
