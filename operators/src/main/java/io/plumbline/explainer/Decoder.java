package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.parallel.Cores;
import io.plumbline.wire.DType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * The half of an explainer that speaks: {@code yhat = W_dec z + b_dec}.
 *
 * <p>{@code weights} is {@code features x targetWidth}, row j = feature j, as nearly every file stores it; the paper's
 * {@code W_dec} is its transpose. Arrays are shared, not copied: treat them as read-only. Any number of threads.
 */
public final class Decoder {

    private static final int HASH_CHUNK_BYTES = 1 << 16;

    /** The number of rows that one thread takes at a time. */
    private static final int ROWS = 64;

    private final Weights weights;
    private final double[] bias;

    private @Nullable String sha256;

    public Decoder(Weights weights, double[] bias) {
        if (weights.columns() != bias.length || weights.rows() == 0 || bias.length == 0) {
            throw new IllegalArgumentException("decoder weights of %d features x %d, %d biases"
                    .formatted(weights.rows(), weights.columns(), bias.length));
        }
        this.weights = weights;
        this.bias = bias;
    }

    /**
     * Creates a decoder from weights {@code features x targetWidth}; the array is taken over unless it holds floats
     * only.
     */
    public Decoder(Matrix weights, double[] bias) {
        this(Weights.of(weights), bias);
    }

    public Weights weights() {
        return weights;
    }

    public double[] bias() {
        return bias;
    }

    public int features() {
        return weights.rows();
    }

    /** Returns the width of the target space, in which everything geometric lives. */
    public int dimension() {
        return bias.length;
    }

    /** Returns reconstructions, {@code rows x dimension}; {@code 2 * nonZeros * dimension} flops. */
    public Matrix reconstruct(SparseCodes codes) {
        if (codes.features() != features()) {
            throw new IllegalArgumentException(
                    "codes of %d features, the decoder has %d".formatted(codes.features(), features()));
        }
        int dimension = dimension();
        Matrix reconstruction = Matrix.zeros(codes.rows(), dimension);
        Cores.each((codes.rows() + ROWS - 1) / ROWS, part -> {
            for (int row = part * ROWS; row < Math.min((part + 1) * ROWS, codes.rows()); row++) {
                System.arraycopy(bias, 0, reconstruction.values(), row * dimension, dimension);
                for (int entry = codes.rowStart()[row]; entry < codes.rowStart()[row + 1]; entry++) {
                    weights.addRow(
                            codes.value()[entry], codes.feature()[entry], reconstruction.values(), row * dimension);
                }
            }
        });
        return reconstruction;
    }

    /**
     * The decoder's identity: SHA-256, in hexadecimal, of weights then bias as little-endian float32.
     *
     * <p>Rounding to float32 makes one decoder stored as F16, F32 or F64 of the same values one identity; two decoders
     * that differ only below float32 are the same to it. Computed once, a tenth of a second of one core for 75 MB; who
     * asks meanwhile waits.
     */
    public synchronized String sha256() {
        if (sha256 == null) {
            sha256 = computeSha256();
        }
        return sha256;
    }

    private String computeSha256() {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            update(digest, weights);
            update(digest, Weights.of(new Matrix(1, bias.length, bias)));
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** Returns whether written as {@code dtype} it is the same decoder to {@link #sha256()}, and finite. One pass. */
    public boolean keepsIdentityAs(DType dtype) {
        double[] row = new double[dimension()];
        for (int feature = 0; feature < features(); feature++) {
            weights.copyTo(feature * row.length, row, 0, row.length);
            if (!keepsIdentity(row, dtype)) {
                return false;
            }
        }
        return keepsIdentity(bias, dtype);
    }

    private static boolean keepsIdentity(double[] values, DType dtype) {
        for (double value : values) {
            double rounded = dtype.rounded(value);
            // As the hash sees them: -0.0 is not 0.0.
            if (!Double.isFinite(rounded) || Float.compare((float) rounded, (float) value) != 0) {
                return false;
            }
        }
        return true;
    }

    private static void update(MessageDigest digest, Weights values) {
        ByteBuffer chunk = ByteBuffer.allocate(HASH_CHUNK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        int most = HASH_CHUNK_BYTES / Float.BYTES;
        int length = values.rows() * values.columns();
        for (int from = 0; from < length; from += most) {
            values.putFloats(from, Math.min(most, length - from), chunk.clear());
            digest.update(chunk.flip());
        }
    }

    /** Compares by content. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Decoder decoder && weights.equals(decoder.weights) && Arrays.equals(bias, decoder.bias);
    }

    @Override
    public int hashCode() {
        return 31 * weights.hashCode() + Arrays.hashCode(bias);
    }

    @Override
    public String toString() {
        return "Decoder[%d features x %d]".formatted(features(), dimension());
    }
}
