package io.plumbline.linalg;

import io.plumbline.linalg.kernel.RowUpdates;
import io.plumbline.linalg.kernel.TileKernel;
import io.plumbline.linalg.kernel.UpdateKernels;
import io.plumbline.parallel.Cores;
import java.util.Arrays;

/**
 * The upper triangular R of a QR factorisation {@code X = Q R} of a tall matrix, without Q.
 *
 * <p>{@code R^T R = X^T X}, so R has the singular values and the right singular vectors of X: for the weights of a
 * decoder (one feature per row) these are the singular directions of the dictionary in the target space. The shorter
 * way, an eigendecomposition of {@code X^T X}, squares the condition number and cannot tell singular values below
 * {@code 1e-8} of the largest from zero; at 2 n d^2 flops against n d^2 this one costs little more and can.
 *
 * <p>Householder reflections, folded in block of rows after block of rows: backward stable. Those of {@value
 * TileKernel#WIDTH} columns are applied together as {@code I - V T V^T} (Schreiber and Van Loan 1989,
 * doi:10.1137/0910005), in tiles as they lie ({@link TileKernel}). A very tall matrix is cut into {@value #PARTS} parts
 * whose triangles are folded into one, so that all cores work; what the parts are depends on the shape alone, and so do
 * the bits of R.
 *
 * <p><b>Size.</b> {@code 4 d^2} bytes and {@code 8 d} {@value #BLOCK} for each part, however many rows there are.
 */
public final class TriangularFactor {

    private static final int WIDTH = TileKernel.WIDTH;
    private static final int TILE = WIDTH * WIDTH;

    /** Rows per fold, a multiple of a tile's. */
    private static final int BLOCK = 240;

    private static final int PARTS = 4;

    /** Rows of a part for each column: folding its triangle into another costs a third as much as one of them. */
    private static final int LEAST_ROWS = 2;

    private final TileKernel kernel;

    /** Strips of R, rows one after the other down to the diagonal. */
    private final double[][] triangle;

    /** Strips of the rows that are folded in; those of columns that are done hold V. */
    private final double[][] block;

    /** V transposed: for each {@value TileKernel#WIDTH} rows of the block, a row for each reflector. */
    private final double[][] flat = new double[BLOCK / WIDTH][TILE];

    private final double[][] columns = new double[WIDTH][BLOCK];
    private final double[] negativeT = new double[TILE];
    private final double[] gram = new double[TILE];

    private TriangularFactor(int d, TileKernel kernel) {
        this.kernel = kernel;
        int strips = (d + WIDTH - 1) / WIDTH;
        triangle = new double[strips][];
        for (int strip = 0; strip < strips; strip++) {
            triangle[strip] = new double[(strip + 1) * TILE];
        }
        block = new double[strips][BLOCK * WIDTH];
    }

    /** R, d x d for an n x d matrix; with n < d its last d - n rows are 0. */
    public static Matrix of(Matrix tall) {
        return of(tall, UpdateKernels.kernel().tiles());
    }

    static Matrix of(Matrix tall, TileKernel kernel) {
        int n = tall.rows();
        int d = tall.columns();
        int parts = (int) Math.max(1, Math.min(PARTS, n / ((long) LEAST_ROWS * d + BLOCK)));
        int share = (n + parts - 1) / parts;
        Matrix[] factors = new Matrix[parts];
        Cores.each(parts, 2.0 * n * d * d, part -> {
            TriangularFactor factor = new TriangularFactor(d, kernel);
            for (int row = part * share; row < Math.min((part + 1) * share, n); row += BLOCK) {
                factor.fold(tall, row, Math.min(row + BLOCK, Math.min((part + 1) * share, n)), 0);
            }
            factors[part] = factor.toMatrix(d);
        });
        if (parts == 1) {
            return factors[0];
        }
        TriangularFactor all = new TriangularFactor(d, kernel);
        for (Matrix factor : factors) {
            for (int row = 0; row < d; row += BLOCK) {
                all.fold(factor, row, Math.min(row + BLOCK, d), row / WIDTH);
            }
        }
        return all.toMatrix(d);
    }

    private Matrix toMatrix(int d) {
        Matrix factor = Matrix.zeros(d, d);
        for (int row = 0; row < d; row++) {
            for (int column = row; column < d; column++) {
                factor.set(row, column, triangle[column / WIDTH][row * WIDTH + column % WIDTH]);
            }
        }
        return factor;
    }

    /** Folds rows {@code from .. to-1} in, whose columns before strip {@code first} are 0. */
    private void fold(Matrix rows, int from, int to, int first) {
        int d = rows.columns();
        int groups = (to - from + WIDTH - 1) / WIDTH;
        for (int strip = first; strip < block.length; strip++) {
            int count = Math.min(WIDTH, d - strip * WIDTH);
            for (int row = from; row < to; row++) {
                System.arraycopy(rows.values(), row * d + strip * WIDTH, block[strip], (row - from) * WIDTH, count);
            }
            Arrays.fill(block[strip], (to - from) * WIDTH, groups * TILE, 0.0);
        }
        double[] shares = new double[TILE];
        double[] taken = new double[TILE];
        for (int strip = first; strip < block.length; strip++) {
            factorStrip(strip, groups * WIDTH);
            for (int other = strip + 1; other < block.length; other++) {
                reflect(strip, other, groups, shares, taken);
            }
        }
    }

    /** Reflects the columns of a strip onto the triangle, and gathers V and T. */
    private void factorStrip(int strip, int rows) {
        double[] values = block[strip];
        double[] top = triangle[strip];
        int start = strip * TILE;
        for (int c = 0; c < WIDTH; c++) {
            for (int row = 0; row < rows; row++) {
                columns[c][row] = values[row * WIDTH + c];
            }
        }
        double[] weights = new double[WIDTH];
        for (int c = 0; c < WIDTH; c++) {
            weights[c] = reflector(columns[c], rows, top, start + c * WIDTH + c);
            for (int j = c + 1; j < WIDTH && weights[c] != 0.0; j++) {
                int at = start + c * WIDTH + j;
                double share = weights[c] * (top[at] + Kernels.dot(columns[c], 0, columns[j], 0, rows));
                top[at] -= share;
                RowUpdates.subtractOne(columns[j], share, columns[c], 0, rows);
            }
        }
        for (int c = 0; c < WIDTH; c++) {
            for (int row = 0; row < rows; row++) {
                values[row * WIDTH + c] = columns[c][row];
            }
            for (int group = 0; group < rows / WIDTH; group++) {
                System.arraycopy(columns[c], group * WIDTH, flat[group], c * WIDTH, WIDTH);
            }
        }
        Arrays.fill(gram, 0.0);
        addProduct(values, values, rows, gram);
        // T is upper triangular: T_cc the weight, the column above it -T (V^T v_c) times that.
        Arrays.fill(negativeT, 0.0);
        for (int c = 0; c < WIDTH; c++) {
            for (int i = 0; i < c; i++) {
                double sum = 0.0;
                for (int j = i; j < c; j++) {
                    sum += negativeT[i * WIDTH + j] * gram[j * WIDTH + c];
                }
                negativeT[i * WIDTH + c] = -weights[c] * sum;
            }
            negativeT[c * WIDTH + c] = -weights[c];
        }
    }

    /**
     * Makes the reflector (1, v) of a column that takes (alpha, below) to (beta, 0), puts beta in alpha's place and
     * returns its weight.
     */
    private static double reflector(double[] column, int rows, double[] top, int at) {
        double largest = Math.abs(top[at]);
        for (int row = 0; row < rows; row++) {
            largest = Math.max(largest, Math.abs(column[row]));
        }
        double belowSquared = 0.0;
        for (int row = 0; row < rows; row++) {
            double scaled = largest == 0.0 ? 0.0 : column[row] / largest;
            belowSquared += scaled * scaled;
        }
        if (belowSquared == 0.0) {
            Arrays.fill(column, 0, rows, 0.0);
            return 0.0;
        }
        // Beta has the sign opposite to alpha, so that alpha - beta does not cancel.
        double alpha = top[at] / largest;
        double beta = -Math.copySign(Math.sqrt(alpha * alpha + belowSquared), alpha);
        for (int row = 0; row < rows; row++) {
            column[row] = column[row] / largest / (alpha - beta);
        }
        top[at] = beta * largest;
        return (beta - alpha) / beta;
    }

    /** Applies {@code I - (1, V) T^T (1, V)^T} to the columns of another strip. */
    private void reflect(int strip, int other, int groups, double[] shares, double[] taken) {
        int at = strip * TILE;
        System.arraycopy(triangle[other], at, shares, 0, TILE);
        addProduct(block[strip], block[other], groups * WIDTH, shares);
        Arrays.fill(taken, 0.0);
        addProduct(negativeT, shares, WIDTH, taken);
        for (int i = 0; i < TILE; i++) {
            triangle[other][at + i] += taken[i];
        }
        for (int group = 0; group < groups; group++) {
            kernel.addSquare(flat[group], 0, taken, 0, WIDTH, block[other], group * TILE);
        }
    }

    /** Adds {@code A^T B} to a square tile. */
    private void addProduct(double[] a, double[] b, int rows, double[] square) {
        kernel.addSquare(a, 0, b, 0, rows, square, 0);
    }
}
