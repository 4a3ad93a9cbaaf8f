package io.plumbline.linalg;

import io.plumbline.linalg.kernel.DoublePieces;
import io.plumbline.linalg.kernel.TileKernel;
import io.plumbline.parallel.Cores;

/**
 * An upper triangular matrix R in strips of {@value TileKernel#WIDTH} columns, each with its rows one after the other
 * down to the diagonal: a piece of a strip is either factor of a {@code C += A^T B} as it lies, so nothing is laid out
 * anew for a product.
 *
 * <p>What is not eliminated yet is held negative, so that a product is added to it.
 *
 * <p>It is filled up to whole strips with the identity. Rows of {@value #BLOCK} strips are eliminated from all others
 * together, so that the pieces of a product stay in the caches.
 *
 * <p><b>Accuracy.</b> That of substitution, row by row: no block is inverted, only each entry of the diagonal.
 *
 * <p>Results are the same to the last bit for any number of threads: what a tile is made of, and in which order,
 * depends on its place alone.
 */
public final class StripedTriangle {

    /** Columns of a strip. */
    public static final int WIDTH = TileKernel.WIDTH;

    private static final int ROWS = TileKernel.ROWS;
    private static final int TILES = WIDTH / ROWS;
    private static final int TRIANGLE = ROWS * ROWS;

    /** Strips whose rows are eliminated together: their piece of a strip has 23 KiB. */
    private static final int BLOCK = 5;

    /** Strips that a piece is multiplied with while it is at hand. */
    private static final int GROUP = 4;

    private final TileKernel kernel;

    /** The strips: strip J has rows 0 .. WIDTH (J + 1) - 1. What is below the diagonal of R is not looked at. */
    private final double[][] strips;

    /** The triangles on the diagonal, as {@link TileKernel#solve} wants them, for one tile after the other. */
    private final double[] triangles;

    private StripedTriangle(double[][] strips, TileKernel kernel) {
        this.kernel = kernel;
        this.strips = strips;
        triangles = new double[strips.length * TILES * TRIANGLE];
    }

    /**
     * Returns the factor of {@code R^T R}; reads only the upper triangle of {@code R^T R}.
     *
     * @throws ArithmeticException if a pivot is not positive
     */
    static StripedTriangle factorOf(int n, Cholesky.Rows matrix, TileKernel kernel) {
        double[][] negative = new double[(n + WIDTH - 1) / WIDTH][];
        for (int strip = 0; strip < negative.length; strip++) {
            negative[strip] = new double[(strip + 1) * WIDTH * WIDTH];
        }
        for (int row = n; row < negative.length * WIDTH; row++) {
            negative[negative.length - 1][row * WIDTH + row % WIDTH] = -1.0;
        }
        Cores.each(negative.length, 30.0 * n * n, part -> {
            double[] row = new double[n];
            for (int i = part * WIDTH; i < Math.min((part + 1) * WIDTH, n); i++) {
                matrix.write(i, row);
                for (int j = i; j < n; j++) {
                    negative[j / WIDTH][i * WIDTH + j % WIDTH] = -row[j];
                }
            }
        });
        return factorOf(negative, n, kernel);
    }

    /**
     * The factor of the n x n matrix whose negative is in strips, which become the factor's; what fills the last one is
     * -1 on the diagonal.
     *
     * @throws ArithmeticException if a pivot is not positive
     */
    public static StripedTriangle factorOf(double[][] negative, int n, TileKernel kernel) {
        StripedTriangle factor = new StripedTriangle(negative, kernel);
        DoublePieces pieces = kernel.pieces(negative.length, BLOCK * WIDTH);
        double[] diagonal = new double[n];
        for (int i = 0; i < n; i++) {
            diagonal[i] = -negative[i / WIDTH][i * WIDTH + i % WIDTH];
        }
        for (int first = 0; first < negative.length; first += BLOCK) {
            factor.factor(first, Math.min(first + BLOCK, negative.length), diagonal, pieces);
        }
        return factor;
    }

    /** A strip of the upper triangle of {@code matrix}; 0 below it. */
    public static double[] upperPart(Matrix matrix, int strip) {
        int n = matrix.rows();
        int first = strip * WIDTH;
        int last = first + WIDTH;
        double[] rows = new double[last * WIDTH];
        for (int row = 0; row < Math.min(last, n); row++) {
            int from = Math.max(row, first);
            System.arraycopy(
                    matrix.values(), row * n + from, rows, row * WIDTH + from - first, Math.min(last, n) - from);
        }
        return rows;
    }

    /** Factors the rows of strips {@code first .. last-1} and takes what they mean for the rest from it. */
    private void factor(int first, int last, double[] diagonal, DoublePieces pieces) {
        for (int strip = first; strip < last; strip++) {
            eliminate(strips[strip], first, strip);
            for (int tile = 0; tile < TILES; tile++) {
                factorTile(first, strip, tile, diagonal);
            }
        }
        int count = strips.length - last;
        double rows = (double) WIDTH * (last - first);
        int groups = (count + GROUP - 1) / GROUP;
        Cores.each(groups, rows * rows * WIDTH * count, group -> {
            for (int strip = last + group * GROUP; strip < groupEnd(last, group); strip++) {
                eliminate(strips[strip], first, last);
                pieces.take(strip, strips[strip], first * WIDTH * WIDTH);
            }
        });
        // The longest ones first, lest one core be left with them.
        Cores.each(groups, rows * WIDTH * count * WIDTH * count, index -> {
            int group = groups - 1 - index;
            int start = last + group * GROUP;
            int end = groupEnd(last, group);
            for (int row = last; row < end; row++) {
                for (int strip = Math.max(row, start); strip < end; strip++) {
                    pieces.addSquare(row, strip, strips[strip], row * WIDTH * WIDTH);
                }
            }
        });
    }

    private int groupEnd(int last, int group) {
        return Math.min(last + (group + 1) * GROUP, strips.length);
    }

    /** Factors a triangle on the diagonal, rows from {@code first} on having been eliminated in the strips before. */
    private void factorTile(int first, int strip, int tile, double[] diagonal) {
        double[] rows = strips[strip];
        int row = strip * WIDTH + tile * ROWS;
        int from = first * WIDTH;
        kernel.add(rows, from * WIDTH + tile * ROWS, rows, from * WIDTH, row - from, rows, row * WIDTH);
        int r = row / ROWS * TRIANGLE;
        double[] factored = new double[TRIANGLE];
        for (int h = 0; h < ROWS; h++) {
            int at = (row + h) * WIDTH + tile * ROWS;
            for (int j = h; j < ROWS; j++) {
                double sum = -rows[at + j];
                for (int i = 0; i < h; i++) {
                    sum -= factored[i * ROWS + h] * factored[i * ROWS + j];
                }
                factored[h * ROWS + j] = sum;
            }
            double pivot = factored[h * ROWS + h];
            if (!(pivot > 0.0)) {
                throw new ArithmeticException("not positive definite: pivot %d of %d is %s (of a diagonal entry %s)"
                        .formatted(row + h, diagonal.length, pivot, diagonal[row + h]));
            }
            double root = Math.sqrt(pivot);
            factored[h * ROWS + h] = root;
            for (int j = h + 1; j < ROWS; j++) {
                factored[h * ROWS + j] *= 1.0 / root;
            }
        }
        System.arraycopy(factored, 0, triangles, r, TRIANGLE);
        for (int h = 0; h < TRIANGLE; h += ROWS + 1) {
            triangles[r + h] = -1.0 / factored[h];
        }
        kernel.solve(triangles, r, rows, row * WIDTH);
        for (int h = 0; h < ROWS; h++) {
            System.arraycopy(factored, h * ROWS, rows, (row + h) * WIDTH + tile * ROWS, ROWS);
        }
    }

    /**
     * Eliminates rows of strips {@code first .. last-1} of {@code -R^-T C}, what those before mean for them being in C.
     */
    private void eliminate(double[] columns, int first, int last) {
        for (int strip = first; strip < last; strip++) {
            if (strip > first) {
                add(strip, columns, first, strip);
            }
            int from = strip * WIDTH * WIDTH;
            for (int tile = 0; tile < WIDTH; tile += ROWS) {
                int at = from + tile * WIDTH;
                kernel.add(strips[strip], from + tile, columns, from, tile, columns, at);
                kernel.solve(triangles, at / WIDTH / ROWS * TRIANGLE, columns, at);
            }
        }
    }

    /** Adds to the rows of strip {@code target} what the eliminated rows of {@code first .. last-1} mean for them. */
    private void add(int target, double[] columns, int first, int last) {
        int from = first * WIDTH * WIDTH;
        int count = (last - first) * WIDTH;
        int at = target * WIDTH * WIDTH;
        kernel.addSquare(strips[target], from, columns, from, count, columns, at);
    }

    /**
     * Solves {@code C := -R^-T C} for strips C of {@value TileKernel#WIDTH} columns and {@link #rows()} rows.
     * {@code n^2} flops a column, {@code (n - z)^2} where the first z rows of all of them are 0.
     */
    void solve(double[][] columns) {
        int count = strips.length;
        int zeros = rows();
        for (double[] strip : columns) {
            zeros = Math.min(zeros, zeroRows(strip));
        }
        for (int first = zeros / (BLOCK * WIDTH) * BLOCK; first < count; first += BLOCK) {
            int last = Math.min(first + BLOCK, count);
            for (double[] strip : columns) {
                eliminate(strip, first, last);
            }
            for (int row = last; row < count; row++) {
                for (double[] strip : columns) {
                    add(row, strip, first, last);
                }
            }
        }
    }

    private static int zeroRows(double[] strip) {
        int entry = 0;
        while (entry < strip.length && strip[entry] == 0.0) {
            entry++;
        }
        return entry / WIDTH;
    }

    /** Returns the rows of R with those that fill its last strip. */
    int rows() {
        return strips.length * WIDTH;
    }

    /**
     * Makes R to {@code P R^T P}, P what reverses the order, in its place: upper triangular too, and its {@link #solve}
     * is {@code P R^-1 P}. Twice leaves R as it was.
     */
    void turnRound() {
        int last = strips.length - 1;
        Cores.each(strips.length, 30.0 * rows() * rows(), strip -> {
            // A tile above the other diagonal and the one it changes places with, which no other strip takes.
            for (int group = 0; group <= Math.min(strip, last - strip); group++) {
                exchange(strips[strip], group * WIDTH * WIDTH, strips[last - group], (last - strip) * WIDTH * WIDTH);
            }
        });
        double[] before = triangles.clone();
        int triangle = TRIANGLE * (triangles.length / TRIANGLE - 1);
        for (int to = 0; to < triangles.length; to += TRIANGLE) {
            for (int h = 0; h < ROWS; h++) {
                for (int i = h; i < ROWS; i++) {
                    triangles[to + h * ROWS + i] = before[triangle - to + (ROWS - 1 - i) * ROWS + ROWS - 1 - h];
                }
            }
        }
    }

    /**
     * Exchanges tiles of {@value TileKernel#WIDTH} rows, both reflected in their other diagonal; the same one is
     * reflected in its place.
     */
    private static void exchange(double[] one, int at, double[] other, int of) {
        boolean same = one == other && at == of;
        for (int row = 0; row < WIDTH; row++) {
            for (int j = 0; j < (same ? WIDTH - 1 - row : WIDTH); j++) {
                int here = at + row * WIDTH + j;
                int there = of + (WIDTH - 1 - j) * WIDTH + WIDTH - 1 - row;
                double value = one[here];
                one[here] = other[there];
                other[there] = value;
            }
        }
    }
}
