package io.plumbline.factored;

import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.parallel.Cores;
import java.util.Arrays;

/**
 * Makes weights of {@link DecoderFactors}, the same to the last bit on every machine, by every number of threads and in
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

    /** Features whose weights are made together. */
    private static final int BLOCK = 128;

    /** Blocks that one thread makes in the same place before it takes others. */
    private static final int BLOCKS = 4;

    /** Rows that are transposed together: as many numbers as a cache line has. */
    private static final int LINE = 8;

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
        int part = BLOCK * BLOCKS;
        Cores.each((trained.rows() + part - 1) / part, index -> {
            Room room = product.new Room(BLOCK);
            int end = Math.min((index + 1) * part, trained.rows());
            for (int from = index * part; from < end; from += BLOCK) {
                int count = Math.min(BLOCK, end - from);
                room = room.count == count ? room : product.new Room(count);
                product.block(from, room, weights);
            }
        });
        return Weights.ofFloats(trained.rows(), trained.columns(), weights);
    }

    private void block(int from, Room room, float[] weights) {
        int count = room.count;
        double[][] sums = room.sums;
        if (factors.turn() == null) {
            trainedRows(from, sums);
        } else if (factors.basis() == null) {
            turned(from, room);
        } else {
            projected(from, room);
        }
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

    /** Memory in which the weights of a block of features are made. */
    private final class Room {

        private final int count;
        /** Sums, feature after feature, d each. */
        private final double[][] sums;

        /** The trained rows: as they are where all of the space is turned, else transposed, since ranks are short. */
        private final double[][] given;

        private final double[][] coordinates;
        private final double[][] ofFeatures;

        private Room(int count) {
            boolean narrow = factors.basis() != null;
            this.count = count;
            this.sums = new double[count][d];
            this.given =
                    factors.turn() == null ? new double[0][] : narrow ? new double[d][count] : new double[count][d];
            this.coordinates = new double[narrow ? turn.length : 0][count];
            this.ofFeatures = new double[narrow ? count : 0][turn.length];
        }
    }

    private void trainedRows(int from, double[][] rows) {
        for (int j = 0; j < rows.length; j++) {
            trainedRow(from + j, rows[j]);
        }
    }

    private void trainedRow(int feature, double[] row) {
        trained.copyTo(feature * d, row, 0, d);
        if (!trained.areFloats()) {
            for (int i = 0; i < d; i++) {
                row[i] = (float) row[i];
            }
        }
    }

    private void turned(int from, Room room) {
        trainedRows(from, room.given);
        zero(room.sums);
        addProduct(room.given, turn, room.sums);
    }

    private void projected(int from, Room room) {
        // The rows of the sums are free until the last product.
        for (int first = 0; first < room.count; first += LINE) {
            int end = Math.min(first + LINE, room.count);
            for (int j = first; j < end; j++) {
                trainedRow(from + j, room.sums[j]);
            }
            transpose(room.sums, first, end, room.given);
        }
        zero(room.coordinates);
        addProduct(turn, room.given, room.coordinates);
        transpose(room.coordinates, 0, room.coordinates.length, room.ofFeatures);
        zero(room.sums);
        addProduct(room.ofFeatures, basis, room.sums);
    }

    private static void zero(double[][] rows) {
        for (double[] row : rows) {
            Arrays.fill(row, 0.0);
        }
    }

    /** Writes rows {@code from .. to-1} as columns. */
    private static void transpose(double[][] rows, int from, int to, double[][] transposed) {
        for (int i = 0; i < transposed.length; i++) {
            double[] target = transposed[i];
            for (int j = from; j < to; j++) {
                target[j] = rows[j][i];
            }
        }
    }

    /** Adds {@code A B} to {@code sum}, four rows of B at a time over all rows of A, so that those four stay near. */
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
