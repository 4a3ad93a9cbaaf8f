package io.plumbline.linalg.kernel;

/**
 * The twin of {@link TileKernel} in float32: for moments of float rows, encoders, and what is only asked whether it can
 * be factored.
 *
 * <p>An entry's sum depends on {@code count} and its operands alone. Stateless.
 */
public interface FloatTileKernel {

    /** Rows of a tile. */
    int ROWS = TileKernel.ROWS;

    /** Columns of a strip, and rows and columns of a square: three vectors of 512 bits, six of 256. */
    int WIDTH = 2 * TileKernel.WIDTH;

    /**
     * Computes {@code C = A^T B} for a square C of {@value #WIDTH} rows and columns. The caller wants its first
     * {@code rows} and {@code columns}; entries beyond them may be written too. Entry (h, i) of A is at
     * {@code a + h WIDTH + i}, entry (h, j) of B at {@code b + h WIDTH + j}. {@code 2 rows columns count} flops.
     */
    void square(float[] left, int a, float[] right, int b, int count, int rows, int columns, float[] after, int c);

    /** Computes {@code C += A^T B} for a whole square; an entry's products are summed before they are added to it. */
    void addSquare(float[] left, int a, float[] right, int b, int count, float[] square, int c);

    /**
     * Computes {@code C += A^T B} for a tile C of {@value #ROWS} rows: entry (h, i) of A at {@code a + h WIDTH + i}, i
     * below {@value #ROWS}, and entry (h, j) of B at {@code b + h WIDTH + j}. The products are summed before they are
     * added to C. {@code 768 count} flops.
     */
    void add(float[] left, int a, float[] right, int b, int count, float[] tile, int c);

    /**
     * Computes {@code C := -R^-T C} by substitution, R upper triangular: entry (h, i) at {@code r + h ROWS + i} for
     * {@code h < i}, and the negative reciprocal of entry (h, h). What is below its diagonal is not read.
     */
    void solve(float[] triangle, int r, float[] tile, int c);

    /** Returns room for pieces of strips, of {@code rows} rows each. */
    default FloatPieces pieces(int pieces, int rows) {
        float[][] strips = new float[pieces][];
        int[] starts = new int[pieces];
        return new FloatPieces() {
            @Override
            public void take(int piece, float[] strip, int at) {
                strips[piece] = strip;
                starts[piece] = at;
            }

            @Override
            public void addSquare(int left, int right, float[] square, int c) {
                FloatTileKernel.this.addSquare(
                        strips[left], starts[left], strips[right], starts[right], rows, square, c);
            }
        };
    }
}
