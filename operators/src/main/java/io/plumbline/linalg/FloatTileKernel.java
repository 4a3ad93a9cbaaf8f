package io.plumbline.linalg;

/**
 * {@link TileKernel} in float32, for what is only asked whether it can be factored: see {@link FloatDefiniteness}.
 *
 * <p>An entry's sum depends on {@code count} and its operands alone. Stateless.
 */
interface FloatTileKernel {

    /** Rows of a tile. */
    int ROWS = TileKernel.ROWS;

    /** Columns of a strip: three vectors of 512 bits, six of 256. */
    int WIDTH = 2 * TileKernel.WIDTH;

    /**
     * {@code C += A^T B} for a tile C: entry (h, i) of A at {@code a + h WIDTH + i}, i below {@value #ROWS}, and entry (h, j) of B at
     * {@code b + h WIDTH + j}. The products are summed before they are added to C. {@code 768 count} flops.
     */
    void add(float[] left, int a, float[] right, int b, int count, float[] tile, int c);

    /**
     * {@code C := -R^-T C} by substitution, R upper triangular: entry (h, i) at {@code r + h ROWS + i} for {@code h < i}, and the
     * negative reciprocal of entry (h, h). What is below its diagonal is not read.
     */
    void solve(float[] triangle, int r, float[] tile, int c);
}
