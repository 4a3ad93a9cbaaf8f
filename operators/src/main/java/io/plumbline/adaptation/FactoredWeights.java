package io.plumbline.adaptation;

import io.plumbline.linalg.Cores;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;

/**
 * Weights made of {@link DecoderFactors}, to the same last bit on every machine, by every number of threads and in every
 * language that has IEEE 754 doubles.
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
 * <p>The loops take several terms of a sum in one pass, one after the other: that saves loads and stores and changes no bit, since
 * Java neither reorders nor fuses floating-point operations (JLS 15.4), vectorised or not.
 *
 * <p><b>Cost.</b> {@code 2 d nonZeros} flops, at rank r {@code 4 k d r} more, with the whole rotation {@code 2 k d^2}.
 */
final class FactoredWeights {

    /** Features that one thread takes at a time. */
    private static final int BLOCK = 128;

    private final Weights trained;
    private final DecoderFactors factors;
    private final CodesByFeature codes;
    private final double[][] dual;
    private final double[][] turn;
    private final double[][] basis;
    private final int d;

    private FactoredWeights(Weights trained, DecoderFactors factors) {
        this.trained = trained;
        this.factors = factors;
        this.codes = CodesByFeature.of(factors.codes());
        this.dual = rows(factors.dual());
        Matrix given = factors.turn();
        Matrix onto = factors.basis();
        // At rank r summed for many features side by side: rows of r numbers are too short for vectors.
        this.turn = given == null ? new double[0][] : rows(onto == null ? given : given.transpose());
        this.basis = onto == null ? new double[0][] : rows(onto.transpose());
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
            addLearnt(from + j, sum);
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

    private void addLearnt(int feature, double[] sum) {
        int entry = codes.start()[feature];
        int end = codes.start()[feature + 1];
        double[] value = codes.value();
        int[] row = codes.row();
        for (; entry + 4 <= end; entry += 4) {
            addFour(
                    sum,
                    value[entry],
                    dual[row[entry]],
                    value[entry + 1],
                    dual[row[entry + 1]],
                    value[entry + 2],
                    dual[row[entry + 2]],
                    value[entry + 3],
                    dual[row[entry + 3]]);
        }
        for (; entry < end; entry++) {
            add(sum, value[entry], dual[row[entry]]);
        }
    }

    /** {@code sum += A B}, four rows of B at a time over all rows of A, so that those four stay near. */
    private static void addProduct(double[][] a, double[][] b, double[][] sum) {
        int inner = 0;
        for (; inner + 4 <= b.length; inner += 4) {
            for (int row = 0; row < a.length; row++) {
                addFour(
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
                add(sum[row], a[row][inner], b[inner]);
            }
        }
    }

    /** Arrays read at one index: the form of this loop that the JVM turns into vector instructions. */
    private static void addFour(
            double[] sum, double a, double[] x, double b, double[] y, double c, double[] z, double e, double[] u) {
        for (int i = 0; i < sum.length; i++) {
            sum[i] = (((sum[i] + a * x[i]) + b * y[i]) + c * z[i]) + e * u[i];
        }
    }

    private static void add(double[] sum, double factor, double[] row) {
        for (int i = 0; i < sum.length; i++) {
            sum[i] += factor * row[i];
        }
    }

    private static double[][] rows(Matrix matrix) {
        double[][] rows = new double[matrix.rows()][];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = new double[matrix.columns()];
            System.arraycopy(matrix.values(), i * matrix.columns(), rows[i], 0, matrix.columns());
        }
        return rows;
    }
}
