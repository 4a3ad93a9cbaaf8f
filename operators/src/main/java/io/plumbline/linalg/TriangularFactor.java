package io.plumbline.linalg;

import java.util.Arrays;

/**
 * The upper triangular R of a QR factorisation {@code X = Q R} of a tall matrix, without Q.
 *
 * <p>{@code R^T R = X^T X}, so R has the singular values and the right singular vectors of X: for the weights of a
 * decoder (one feature per row) these are the singular directions of the dictionary in the target space. The shorter way,
 * an eigendecomposition of {@code X^T X}, squares the condition number and cannot tell singular values below
 * {@code 1e-8} of the largest from zero; at 2 n d^2 flops against n d^2 this one costs little more and can.
 *
 * <p>Householder reflections, folded in block of rows after block of rows: backward stable, {@code 8 d^2} bytes of work
 * space however many rows there are.
 */
public final class TriangularFactor {

    /** Rows per fold: the block and the triangle's current row stay in the second-level cache at d = 768. */
    private static final int BLOCK = 64;

    private TriangularFactor() {}

    /** R, d x d for an n x d matrix; with n < d its last d - n rows are 0. */
    public static Matrix of(Matrix tall) {
        int d = tall.columns();
        double[][] triangle = new double[d][d];
        for (int start = 0; start < tall.rows(); start += BLOCK) {
            int count = Math.min(BLOCK, tall.rows() - start);
            double[][] block = new double[count][];
            for (int i = 0; i < count; i++) {
                int from = (start + i) * d;
                block[i] = Arrays.copyOfRange(tall.values(), from, from + d);
            }
            fold(triangle, block);
        }
        Matrix factor = Matrix.zeros(d, d);
        for (int i = 0; i < d; i++) {
            System.arraycopy(triangle[i], i, factor.values(), i * d + i, d - i);
        }
        return factor;
    }

    private static void fold(double[][] triangle, double[][] block) {
        int d = triangle.length;
        double[] reflector = new double[block.length];
        double[] shares = new double[d];
        for (int c = 0; c < d; c++) {
            double largest = Math.abs(triangle[c][c]);
            for (double[] row : block) {
                largest = Math.max(largest, Math.abs(row[c]));
            }
            double belowSquared = 0.0;
            for (double[] row : block) {
                double scaled = largest == 0.0 ? 0.0 : row[c] / largest;
                belowSquared += scaled * scaled;
            }
            if (belowSquared == 0.0) {
                continue;
            }
            // The reflector (1, v) that takes (alpha, below) to (beta, 0); beta has the sign opposite to alpha, so
            // that alpha - beta does not cancel.
            double alpha = triangle[c][c] / largest;
            double beta = -Math.copySign(Math.sqrt(alpha * alpha + belowSquared), alpha);
            for (int i = 0; i < block.length; i++) {
                reflector[i] = block[i][c] / largest / (alpha - beta);
            }
            double weight = (beta - alpha) / beta;
            triangle[c][c] = beta * largest;
            reflect(triangle[c], block, reflector, weight, shares, c + 1);
        }
    }

    /** Applies {@code I - weight (1, v)(1, v)^T} to the columns from {@code from} on. */
    private static void reflect(
            double[] top, double[][] block, double[] reflector, double weight, double[] shares, int from) {
        int d = top.length;
        for (int j = from; j < d; j++) {
            shares[j] = -top[j];
        }
        RowUpdates.subtract(shares, reflector, block, 0, block.length, from, d);
        for (int j = from; j < d; j++) {
            shares[j] *= -weight;
            top[j] -= shares[j];
        }
        for (int i = 0; i < block.length; i++) {
            RowUpdates.subtractOne(block[i], reflector[i], shares, from, d);
        }
    }
}
