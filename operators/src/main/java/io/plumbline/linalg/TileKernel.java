package io.plumbline.linalg;

/**
 * What triangular factors and systems are made of: tiles of {@value #ROWS} rows of a strip that is {@value #WIDTH} columns wide, one
 * row after the other. See {@link TriangularStrips}.
 *
 * <p>An entry's sum depends on {@code count} and its operands alone. Stateless.
 */
interface TileKernel {

    /** Rows of a tile. */
    int ROWS = 8;

    /** Columns of a strip: three vectors of 512 bits, six of 256. */
    int WIDTH = 24;

    /**
     * {@code C += A^T B} for a tile C: entry (h, i) of A at {@code a + h WIDTH + i}, i below {@value #ROWS}, and entry (h, j) of B at
     * {@code b + h WIDTH + j}. {@code 384 count} flops.
     */
    void add(double[] left, int a, double[] right, int b, int count, double[] tile, int c);

    /**
     * {@code C := -R^-T C} by substitution, R upper triangular: entry (h, i) at {@code r + h ROWS + i} for {@code h < i}, and the
     * negative reciprocal of entry (h, h). What is below its diagonal is not read.
     */
    void solve(double[] triangle, int r, double[] tile, int c);
}
