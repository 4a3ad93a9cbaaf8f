package io.plumbline.linalg.eigenspace;

import io.plumbline.linalg.StripedTriangle;
import io.plumbline.linalg.kernel.FloatPieces;
import io.plumbline.linalg.kernel.FloatTileKernel;
import io.plumbline.parallel.Cores;

/**
 * Decides whether a symmetric matrix is positive definite up to a stated rounding, by a Cholesky factorisation in
 * float32: twice as fast as {@link StripedTriangle}, in the same order, for who needs no factor.
 *
 * <p><b>What a success proves.</b> Of the matrix A that was asked about, rounded to floats, the computed R has
 * {@code |R^T R - A| <= c 2^-24 |R^T| |R|} entry by entry (Higham, Accuracy and Stability, theorem 10.3). Here c is not
 * n: products are summed over the {@value #INNER} rows of a block at most before they are added to what was there, once
 * for each block, so that no product is rounded more than {@code INNER + n / INNER} times, and 16 times where its own
 * strip is solved: once as what stands above the strip is added, once for the rows of it before, and up to nine times
 * in the tile. {@code || |R^T| |R| ||} is at most {@code ||R||_F^2}, the trace of {@code R^T R}. So no eigenvalue of A
 * is below {@code -}{@link #share} times its trace.
 *
 * <p><b>Cost.</b> {@code n^3 / 3} flops in float32. <b>Size.</b> {@code 2 n^2} bytes, which are the caller's. Results
 * are the same for any number of threads.
 */
final class FloatCholesky {

    static final int WIDTH = FloatTileKernel.WIDTH;

    private static final int ROWS = FloatTileKernel.ROWS;
    private static final int TILES = WIDTH / ROWS;
    private static final int TRIANGLE = ROWS * ROWS;

    /** Strips whose rows are eliminated together. */
    private static final int BLOCK = 3;

    static final int INNER = BLOCK * WIDTH;

    /** Strips that a piece is multiplied with while it is at hand. */
    private static final int GROUP = 4;

    private final FloatTileKernel kernel;
    private final float[][] strips;
    private final float[] triangles;

    private FloatCholesky(float[][] strips, FloatTileKernel kernel) {
        this.kernel = kernel;
        this.strips = strips;
        this.triangles = new float[strips.length * TILES * TRIANGLE];
    }

    /**
     * Returns the share of the trace an eigenvalue may be below 0 by although the factorisation succeeded:
     * {@code c 2^-24}, with two more for rounding the matrix to floats, and a tenth for what is of higher order or
     * vanishes below {@code 2^-149}.
     */
    static double share(int n) {
        return 1.1 * (INNER + (n + INNER - 1) / INNER + 18) * 0x1p-24;
    }

    /**
     * Returns whether the factorisation succeeds.
     *
     * @param negative the negative of the matrix in strips of {@value FloatTileKernel#WIDTH} columns, each with its
     *     rows down to the diagonal, filled up by what is negative on the diagonal; used up. Its entries should be near
     *     1 in size
     */
    static boolean holds(float[][] negative, FloatTileKernel kernel) {
        FloatCholesky factor = new FloatCholesky(negative, kernel);
        FloatPieces pieces = kernel.pieces(negative.length, BLOCK * WIDTH);
        for (int first = 0; first < negative.length; first += BLOCK) {
            if (!factor.eliminateBlock(first, Math.min(first + BLOCK, negative.length), pieces)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Factors the rows of strips {@code first .. last-1} and takes what they mean for the rest from it; false if a
     * pivot is not positive.
     */
    private boolean eliminateBlock(int first, int last, FloatPieces pieces) {
        for (int strip = first; strip < last; strip++) {
            eliminate(strips[strip], first, strip);
            for (int tile = 0; tile < TILES; tile++) {
                if (!factorTile(first, strip, tile)) {
                    return false;
                }
            }
        }
        int count = strips.length - last;
        double rows = (double) WIDTH * (last - first);
        int groups = (count + GROUP - 1) / GROUP;
        // The longest ones first, lest one core be left with them.
        Cores.each(groups, rows * rows * WIDTH * count, index -> {
            int start = last + (groups - 1 - index) * GROUP;
            for (int strip = start; strip < Math.min(start + GROUP, strips.length); strip++) {
                eliminate(strips[strip], first, last);
                pieces.take(strip, strips[strip], first * WIDTH * WIDTH);
            }
        });
        Cores.each(groups, rows * WIDTH * count * WIDTH * count, index -> {
            int start = last + (groups - 1 - index) * GROUP;
            int end = Math.min(start + GROUP, strips.length);
            for (int row = last; row < end; row++) {
                for (int strip = Math.max(row, start); strip < end; strip++) {
                    pieces.addSquare(row, strip, strips[strip], row * WIDTH * WIDTH);
                }
            }
        });
        return true;
    }

    /** Factors a triangle on the diagonal, rows from {@code first} on having been eliminated in the strips before. */
    private boolean factorTile(int first, int strip, int tile) {
        float[] rows = strips[strip];
        int row = strip * WIDTH + tile * ROWS;
        int from = first * WIDTH;
        kernel.add(rows, from * WIDTH + tile * ROWS, rows, from * WIDTH, row - from, rows, row * WIDTH);
        int r = row / ROWS * TRIANGLE;
        for (int h = 0; h < ROWS; h++) {
            int at = (row + h) * WIDTH + tile * ROWS;
            for (int j = h; j < ROWS; j++) {
                float sum = -rows[at + j];
                for (int i = 0; i < h; i++) {
                    sum -= triangles[r + i * ROWS + h] * triangles[r + i * ROWS + j];
                }
                triangles[r + h * ROWS + j] = sum;
            }
            float pivot = triangles[r + h * ROWS + h];
            if (!(pivot > 0f)) {
                return false;
            }
            float root = (float) Math.sqrt(pivot);
            triangles[r + h * ROWS + h] = root;
            for (int j = h + 1; j < ROWS; j++) {
                triangles[r + h * ROWS + j] *= 1f / root;
            }
        }
        for (int h = 0; h < ROWS; h++) {
            int at = r + h * (ROWS + 1);
            triangles[at] = -1f / triangles[at];
        }
        kernel.solve(triangles, r, rows, row * WIDTH);
        return true;
    }

    /**
     * Eliminates rows of strips {@code first .. last-1} of {@code -R^-T C}, what those before mean for them being in C.
     */
    private void eliminate(float[] columns, int first, int last) {
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
    private void add(int target, float[] columns, int first, int last) {
        int from = first * WIDTH * WIDTH;
        int count = (last - first) * WIDTH;
        int at = target * WIDTH * WIDTH;
        kernel.addSquare(strips[target], from, columns, from, count, columns, at);
    }
}
