package io.plumbline.factored;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.linalg.kernel.RoundedProduct;
import io.plumbline.parallel.Cores;
import org.jspecify.annotations.Nullable;

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
 * <p>{@link RoundedProduct} makes the products with the rotation, {@link LearntRows} what the codes add.
 *
 * <p><b>Cost.</b> {@code 2 d nonZeros} flops, at rank r {@code 4 k d r} more, with the whole rotation {@code 2 k d^2}.
 */
final class FactoredWeights {

    /** Features whose weights are made together. */
    private static final int BLOCK = 128;

    /** Blocks that one thread makes in the same place before it takes others. */
    private static final int BLOCKS = 4;

    private final Weights trained;
    private final LearntRows learnt;
    private final @Nullable RoundedProduct turn;
    private final @Nullable RoundedProduct basis;
    private final int rank;
    private final int d;

    private FactoredWeights(Weights trained, DecoderFactors factors) {
        this.trained = trained;
        this.learnt = new LearntRows(factors.codes(), factors.dual());
        Matrix given = factors.turn();
        Matrix onto = factors.basis();
        this.turn = given == null ? null : Kernels.roundedProduct(given.view(), trained.rows());
        this.basis = onto == null ? null : Kernels.roundedProduct(onto.view().transposed(), trained.rows());
        this.rank = onto == null ? 0 : onto.columns();
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
        if (turn == null) {
            trainedRows(from, sums);
        } else if (basis == null) {
            trainedRows(from, room.given);
            turn.multiply(room.given, sums);
        } else {
            // The rows of the sums are free until the last product.
            trainedRows(from, sums);
            turn.multiply(sums, room.coordinates);
            basis.multiply(room.coordinates, sums);
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

        /** The trained rows, where all of the space is turned. */
        private final double[][] given;

        private final double[][] coordinates;

        private Room(int count) {
            this.count = count;
            this.sums = new double[count][d];
            this.given = new double[turn == null || basis != null ? 0 : count][d];
            this.coordinates = new double[basis == null ? 0 : count][rank];
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
}
