package io.plumbline.factored;

import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.parallel.Cores;

/**
 * Weights made of {@link DecoderFactors}, to the same last bit on every machine, by every number of threads and in
 * every language that has IEEE 754 doubles.
 *
 * <p><b>The arithmetic</b> of weight i of feature j, in float64, each product and each sum rounded by itself (no fused
 * multiply-add), each sum begun at +0.0 and added up with the index ascending:
 *
 * <pre>
 * D[j][i]   the trained weight rounded to float32, as its SHA-256 sees it
 * w = D[j][i]                                              nothing rotated
 * w = sum over a of D[j][a] turn[a][i]                     the whole rotation
 * w = sum over c of t[c] basis[i][c],  t[c] = sum over a of D[j][a] turn[a][c]
 * w = ((w + z[n1][j] dual[n1][i]) + z[n2][j] dual[n2][i]) + ...     the rows n that have the feature, ascending
 * weight = w rounded to float32
 * </pre>
 *
 * <p>The loops take several terms of a sum in one pass, as {@link LearntRows} do, which changes no bit.
 *
 * <p><b>Cost.</b> {@code 2 d nonZeros} flops, at rank r {@code 4 k d r} more, with the whole rotation {@code 2 k d^2}.
 */
final class FactoredWeights {

    /** Features that one thread takes at a time. */
    private static final int BLOCK = 128;

    private final Weights trained;
    private final DecoderFactors factors;
    private final LearntRows learnt;
    private final double[][] turn;
    private final double[][] basis;
    private final int d;

    private FactoredWeights(Weights trained, DecoderFactors factors) {
        this.trained = trained;
        this.factors = factors;
        this.learnt = new LearntRows(factors.codes(), factors.dual());
        Matrix given = factors.turn();
        Matrix onto = factors.basis();
        // At rank r summed for many features side by side: rows of r numbers are too short for vectors.
        this.turn = given == null ? new double[0][] : LearntRows.rows(onto == null ? given : given.transpose());
        this.basis = onto == null ? new double[0][] : LearntRows.rows(onto.transpose());
        this.d = factors.dimension();
    }

    /** @throws ArithmeticException if a weight is beyond what a float holds */
    static Weights of(Weights trained, DecoderFactors factors) {
        FactoredWeights product = new FactoredWeights(trained, factors);
        float[] weights = new float[Math.multiplyExact(trained.rows(), trained.columns())];
        Cores.each((trained.rows() + BLOCK - 1) / BLOCK, part -> product.block(part * BLOCK, weights));
        return Weights.ofFloats(trained.rows(), trained.columns(), weights);
    }

    private void block(int from, float[] weights) {
        int count = Math.min(BLOCK, trained.rows() - from);
        double[][] sums = factors.turn() == null
                ? trainedRows(from, count)
                : factors.basis() == null ? turned(from, count) : projected(from, count);
        for (int j = 0; j < count; j++) {
            double[] sum = sums[j];
            learnt.addTo(from + j, sum);
            int at = (from + j) * d;
            for (int i = 0; i < d; i++) {
                weights[at + i] = (float) sum[i];
                if (!Float.isFinite(weights[at + i])) {
                    throw new ArithmeticException("weight %d of feature %d is %s, a float holds at most %s"
                            .formatted(i, from + j, sum[i], Float.MAX_VALUE));
                }
            }
        }
    }

    private double[][] trainedRows(int from, int count) {
        double[][] rows = new double[count][d];
        for (int j = 0; j < count; j++) {
            trained.copyTo((from + j) * d, rows[j], 0, d);
            for (int i = 0; i < d; i++) {
                rows[j][i] = (float) rows[j][i];
            }
        }
        return rows;
    }

    private double[][] turned(int from, int count) {
        double[][] sums = new double[count][d];
        addProduct(trainedRows(from, count), turn, sums);
        return sums;
    }

    private double[][] projected(int from, int count) {
        double[][] features = transposed(trainedRows(from, count), d);
        int rank = turn.length;
        double[][] coordinates = new double[rank][count];
        addProduct(turn, features, coordinates);
        double[][] sums = new double[count][d];
        addProduct(transposed(coordinates, count), basis, sums);
        return sums;
    }

    private static double[][] transposed(double[][] rows, int columns) {
        double[][] transposed = new double[columns][rows.length];
        for (int i = 0; i < rows.length; i++) {
            for (int j = 0; j < columns; j++) {
                transposed[j][i] = rows[i][j];
            }
        }
        return transposed;
    }

    /** {@code sum += A B}, four rows of B at a time over all rows of A, so that those four stay near. */
    private static void addProduct(double[][] a, double[][] b, double[][] sum) {
        int inner = 0;
        for (; inner + 4 <= b.length; inner += 4) {
            for (int row = 0; row < a.length; row++) {
                LearntRows.addFour(
                        sum[row],
                        a[row][inner],
                        b[inner],
                        a[row][inner + 1],
                        b[inner + 1],
                        a[row][inner + 2],
                        b[inner + 2],
                        a[row][inner + 3],
                        b[inner + 3]);
            }
        }
        for (; inner < b.length; inner++) {
            for (int row = 0; row < a.length; row++) {
                LearntRows.add(sum[row], a[row][inner], b[inner]);
            }
        }
    }
}
