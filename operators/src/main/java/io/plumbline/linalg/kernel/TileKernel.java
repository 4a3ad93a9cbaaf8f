package io.plumbline.linalg.kernel;

/**
 * Multiplies, factors and solves squares and tiles of strips that are {@value #WIDTH} columns wide, one row after the
 * other; products, moments and triangular systems are made of them.
 *
 * <p>An entry's sum depends on {@code count} and its operands alone. Stateless.
 */
public interface TileKernel {

    /** Rows of a tile. */
    int ROWS = 8;

    /** Columns of a strip, and rows and columns of a square: three vectors of 512 bits, six of 256. */
    int WIDTH = 24;

    /**
     * Computes {@code C = A^T B} for a square C of {@value #WIDTH} rows and columns. The caller wants its first
     * {@code rows} and {@code columns}; entries beyond them may be written too. Entry (h, i) of A is at
     * {@code a + h WIDTH + i}, entry (h, j) of B at {@code b + h WIDTH + j}. {@code 2 rows columns count} flops.
     */
    void square(double[] left, int a, double[] right, int b, int count, int rows, int columns, double[] after, int c);

    /** Computes {@code C += A^T B} for a whole square. */
    void addSquare(double[] left, int a, double[] right, int b, int count, double[] square, int c);

    /**
     * Computes {@code C += A^T B} for a tile C of {@value #ROWS} rows: entry (h, i) of A at {@code a + h WIDTH + i}, i
     * below {@value #ROWS}, and entry (h, j) of B at {@code b + h WIDTH + j}. {@code 384 count} flops.
     */
    void add(double[] left, int a, double[] right, int b, int count, double[] tile, int c);

    /**
     * Computes {@code C := -R^-T C} by substitution, R upper triangular: entry (h, i) at {@code r + h ROWS + i} for
     * {@code h < i}, and the negative reciprocal of entry (h, h). What is below its diagonal is not read.
     */
    void solve(double[] triangle, int r, double[] tile, int c);

    /** Returns room for pieces of strips, of {@code rows} rows each. */
    default DoublePieces pieces(int pieces, int rows) {
        double[][] strips = new double[pieces][];
        int[] starts = new int[pieces];
        return new DoublePieces() {
            @Override
            public void take(int piece, double[] strip, int at) {
                strips[piece] = strip;
                starts[piece] = at;
            }

            @Override
            public void addSquare(int left, int right, double[] square, int c) {
                TileKernel.this.addSquare(strips[left], starts[left], strips[right], starts[right], rows, square, c);
            }
        };
    }
}
