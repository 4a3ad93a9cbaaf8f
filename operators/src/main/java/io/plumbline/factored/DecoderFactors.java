package io.plumbline.factored;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;
import org.jspecify.annotations.Nullable;

/**
 * Holds a refitted decoder as what was learnt, instead of k x d weights: with the trained weights D and the codes Z of
 * the rows that were fitted on,
 *
 * <pre>
 * W = D             + Z^T dual      at full rank
 * W = D turn basis^T + Z^T dual     the rank-r rotation, turn and basis d x r
 * W = D turn        + Z^T dual      a rotation of the whole space, turn d x d
 * </pre>
 *
 * <p>Whoever holds D makes W of it, to the same last bit everywhere: see {@link FactoredWeights}. All numbers are
 * floats, so that what is made here and what is made of factors that were stored as float32 is one decoder.
 *
 * <p><b>Size.</b> As float32 {@code 4 (N d + 2 nonZeros + N + 1 + d)} bytes and those of the rotation: 7 MB for N =
 * 2,048 rows of TopK-32 codes in dimension 768, 18 MB in dimension 2,048 at rank 64, whatever the number of features.
 * In memory twice that. Immutable as long as nobody writes to the arrays, which are shared.
 *
 * @param turn null where nothing is rotated
 * @param basis d x r; null where {@code turn} is the whole rotation
 * @param codes N x k, of the rows fitted on; no rows where the trained weights are kept
 * @param dual N x d
 * @param bias d
 */
public record DecoderFactors(
        @Nullable Matrix turn, @Nullable Matrix basis, SparseCodes codes, Matrix dual, double[] bias) {

    /** @throws IllegalArgumentException if shapes do not belong together or a number is not a finite float */
    public DecoderFactors {
        int d = bias.length;
        if (dual.rows() != codes.rows() || dual.columns() != d) {
            throw new IllegalArgumentException("codes of %d rows, a dual of %d x %d and %d biases do not fit together"
                    .formatted(codes.rows(), dual.rows(), dual.columns(), d));
        }
        if (!fitTogether(turn, basis, d)) {
            throw new IllegalArgumentException(
                    "turn %s and basis %s in dimension %d: expected both of [%d, rank], one of [%d, %d], or none"
                            .formatted(turn, basis, d, d, d, d));
        }
        requireFeatures(codes);
        if (turn != null) {
            requireFloats("turn", turn.values());
        }
        if (basis != null) {
            requireFloats("basis", basis.values());
        }
        requireFloats("codes", codes.value());
        requireFloats("dual", dual.values());
        requireFloats("bias", bias);
    }

    /** The trained decoder itself. */
    public static DecoderFactors ofTrained(Decoder trained) {
        return new DecoderFactors(
                null,
                null,
                noRows(trained.features()),
                Matrix.zeros(0, trained.dimension()),
                floats(trained.bias(), "bias"));
    }

    /**
     * Rounds what was learnt to the nearest floats, without the bias, which depends on the weights that it makes.
     *
     * @param turn null where nothing is rotated
     * @param basis d x r; null where {@code turn} is the whole rotation
     * @param codes N x k, of the rows fitted on
     * @param dual N x d
     * @throws ArithmeticException if a number is beyond what a float holds
     */
    public static DecoderFactors rounded(
            @Nullable Matrix turn, @Nullable Matrix basis, SparseCodes codes, Matrix dual) {
        int dimension = dual.columns();
        boolean learnt = dual.frobeniusNorm() != 0.0;
        return new DecoderFactors(
                turn == null ? null : floats(turn, "turn"),
                basis == null ? null : floats(basis, "basis"),
                learnt ? floats(codes) : noRows(codes.features()),
                learnt ? floats(dual, "dual") : Matrix.zeros(0, dimension),
                new double[dimension]);
    }

    /** Returns these factors with the bias that belongs to their weights, rounded to floats. */
    public DecoderFactors withBias(double[] exact) {
        return new DecoderFactors(turn, basis, codes, dual, floats(exact, "bias"));
    }

    public int features() {
        return codes.features();
    }

    public int dimension() {
        return bias.length;
    }

    /** Bytes of its numbers and indices as float32 and int32. */
    public long bytes() {
        long numbers = (long) dual.rows() * dual.columns() + 2L * codes.nonZeros() + codes.rows() + 1 + bias.length;
        numbers += turn == null ? 0 : turn.values().length;
        numbers += basis == null ? 0 : basis.values().length;
        return Float.BYTES * numbers;
    }

    /** Returns whether less travels than the float32 weights and bias of the decoder it makes. */
    public boolean isSmallerThanDense() {
        return bytes() < Float.BYTES * ((long) features() * dimension() + dimension());
    }

    /**
     * Makes the decoder, one of k x d floats; while it is made, the factors once more and some blocks of rows for each
     * thread are in memory.
     *
     * @throws IllegalArgumentException if {@code trained} is of another shape
     * @throws ArithmeticException if a weight is beyond what a float holds
     */
    public Decoder of(Decoder trained) {
        if (trained.features() != features() || trained.dimension() != dimension()) {
            throw new IllegalArgumentException("factors of a decoder of %d features x %d, the trained one has %d x %d"
                    .formatted(features(), dimension(), trained.features(), trained.dimension()));
        }
        return new Decoder(FactoredWeights.of(trained.weights(), this), bias);
    }

    private static SparseCodes noRows(int features) {
        return new SparseCodes(0, features, new int[1], new int[0], new double[0]);
    }

    private static SparseCodes floats(SparseCodes codes) {
        return new SparseCodes(
                codes.rows(), codes.features(), codes.rowStart(), codes.feature(), floats(codes.value(), "codes"));
    }

    private static Matrix floats(Matrix exact, String what) {
        return new Matrix(exact.rows(), exact.columns(), floats(exact.values(), what));
    }

    private static double[] floats(double[] exact, String what) {
        double[] rounded = new double[exact.length];
        for (int i = 0; i < exact.length; i++) {
            rounded[i] = (float) exact[i];
            if (!Double.isFinite(rounded[i])) {
                throw new ArithmeticException(
                        "its %s holds %s, a float holds at most %s; nothing was published, the decoder in service stays: write adaptation.encoding: dense"
                                .formatted(what, exact[i], Float.MAX_VALUE));
            }
        }
        return rounded;
    }

    private static void requireFloats(String what, double[] values) {
        for (int i = 0; i < values.length; i++) {
            // Of what is not finite the difference is no number.
            if ((float) values[i] - values[i] != 0.0) {
                throw new IllegalArgumentException(
                        "its %s holds %s at place %d: expected finite floats".formatted(what, values[i], i));
            }
        }
    }

    private static boolean fitTogether(@Nullable Matrix turn, @Nullable Matrix basis, int d) {
        if (turn == null) {
            return basis == null;
        }
        int rank = basis == null ? d : basis.columns();
        return turn.rows() == d && turn.columns() == rank && rank <= d && (basis == null || basis.rows() == d);
    }

    /** Requires ascending features in each row, since the order within a row is the order of summation. */
    private static void requireFeatures(SparseCodes codes) {
        for (int row = 0; row < codes.rows(); row++) {
            int from = codes.rowStart()[row];
            int to = codes.rowStart()[row + 1];
            if (from < 0 || from > to || to > codes.nonZeros()) {
                throw new IllegalArgumentException(
                        "its codes begin row %d at entry %d and the next at %d, of %d entries"
                                .formatted(row, from, to, codes.nonZeros()));
            }
            int before = -1;
            for (int entry = from; entry < to; entry++) {
                int feature = codes.feature()[entry];
                if (feature <= before || feature >= codes.features()) {
                    throw new IllegalArgumentException(
                            "its codes hold feature %d after %d in row %d: expected ascending ones below %d"
                                    .formatted(feature, before, row, codes.features()));
                }
                before = feature;
            }
        }
    }
}
