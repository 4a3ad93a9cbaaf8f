package io.plumbline.explainer;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * The half of an explainer that speaks: {@code yhat = W_dec z + b_dec}.
 *
 * <p>{@code weights} is {@code features x targetWidth}, row j = feature j, as nearly every file stores it; the paper's
 * {@code W_dec} is its transpose. Arrays are shared, not copied: treat them as read-only.
 */
public record Decoder(Matrix weights, double[] bias) {

    private static final int HASH_CHUNK_BYTES = 1 << 16;

    public Decoder {
        if (weights.columns() != bias.length || weights.rows() == 0 || bias.length == 0) {
            throw new IllegalArgumentException("decoder weights of %d features x %d, %d biases"
                    .formatted(weights.rows(), weights.columns(), bias.length));
        }
    }

    public int features() {
        return weights.rows();
    }

    /** Width of the target space, in which everything geometric lives. */
    public int dimension() {
        return bias.length;
    }

    /** {@code rows x dimension}; {@code 2 * nonZeros * dimension} flops. */
    public Matrix reconstruct(SparseCodes codes) {
        if (codes.features() != features()) {
            throw new IllegalArgumentException(
                    "codes of %d features, the decoder has %d".formatted(codes.features(), features()));
        }
        int dimension = dimension();
        Matrix reconstruction = Matrix.zeros(codes.rows(), dimension);
        for (int row = 0; row < codes.rows(); row++) {
            System.arraycopy(bias, 0, reconstruction.values(), row * dimension, dimension);
            for (int entry = codes.rowStart()[row]; entry < codes.rowStart()[row + 1]; entry++) {
                Kernels.addScaled(
                        codes.value()[entry],
                        weights.values(),
                        codes.feature()[entry] * dimension,
                        reconstruction.values(),
                        row * dimension,
                        dimension);
            }
        }
        return reconstruction;
    }

    /**
     * The decoder's identity: SHA-256, in hexadecimal, of weights then bias as little-endian float32.
     *
     * <p>Rounding to float32 makes one decoder stored as F16, F32 or F64 of the same values one identity; two decoders
     * that differ only below float32 are the same to it.
     */
    public String sha256() {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            update(digest, weights.values());
            update(digest, bias);
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** Whether written as {@code dtype} it is the same decoder to {@link #sha256()}, and finite. One pass. */
    public boolean keepsIdentityAs(DType dtype) {
        return keepsIdentity(weights.values(), dtype) && keepsIdentity(bias, dtype);
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

    private static void update(MessageDigest digest, double[] values) {
        ByteBuffer chunk = ByteBuffer.allocate(HASH_CHUNK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (double value : values) {
            if (!chunk.hasRemaining()) {
                digest.update(chunk.flip());
                chunk.clear();
            }
            chunk.putFloat((float) value);
        }
        digest.update(chunk.flip());
    }

    /** By content. */
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
