package io.plumbline.toy;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.Safetensors;

/**
 * The activations of the toy network under a shifted input: {@code x = A_s z} with z standard normal by counter, and
 * {@code h = ReLU(W1 x + b1)}.
 *
 * <p>All in float64 from float32 weights; x and h are rounded to float32 at the end, as on the wire (h is made from the
 * unrounded x). The logarithm and cosine of the platform may differ in the last bit, so rows agree between machines to
 * about 1e-7, not to the bit. {@code 10^5} flops a row.
 *
 * <p>Immutable; safe for any number of threads.
 */
public final class ToyStream {

    /** Severities s = 0, 0.1, ..., 1, by index. */
    public static final int SEVERITIES = 11;

    public static final int INPUT_WIDTH = 128;
    public static final int HIDDEN_WIDTH = 256;

    /** The rank the experiment is about: the width of the network's output. */
    public static final int RANK = 8;

    private final Matrix[] transposedRoots = new Matrix[SEVERITIES];
    private final Matrix transposedWeights;
    private final double[] bias;

    /**
     * Rows of the network.
     *
     * @param inputs x, n x 128
     * @param hidden h, n x 256
     */
    public record Rows(Matrix inputs, Matrix hidden) {}

    private ToyStream(Safetensors network, Safetensors roots) {
        for (int severity = 0; severity < SEVERITIES; severity++) {
            transposedRoots[severity] =
                    roots.tensor("A_%02d".formatted(severity)).toMatrix().transpose();
        }
        this.transposedWeights = network.tensor("W1").toMatrix().transpose();
        this.bias = network.tensor("b1").toDoubles();
    }

    /** The stream, from the program's own files. */
    public static ToyStream load() {
        return new ToyStream(
                ToyResources.safetensors("mlp.safetensors"), ToyResources.safetensors("input_roots.safetensors"));
    }

    /** {@code M_ID}, 256 x 256: the uncentred moment of h over 20,000 rows of stream 0 at severity 0. */
    public static Matrix baselineMoment() {
        return ToyResources.safetensors("id_baseline.safetensors")
                .tensor("M_id")
                .toMatrix();
    }

    /**
     * Rows of one stream at one severity.
     *
     * @param severityIndex 0 .. 10, for s = 0 .. 1 in steps of 0.1
     * @param stream 0 is the baseline's, 1 the windows'
     */
    public Rows rows(int severityIndex, long stream, long firstRow, int count) {
        if (severityIndex < 0 || severityIndex >= SEVERITIES) {
            throw new IllegalArgumentException(
                    "severity index %d: expected 0 to %d".formatted(severityIndex, SEVERITIES - 1));
        }
        return forward(NormalStream.rows(stream, firstRow, count, INPUT_WIDTH), severityIndex);
    }

    Rows forward(Matrix normals, int severityIndex) {
        Matrix inputs = Kernels.multiply(normals, transposedRoots[severityIndex]);
        Matrix hidden = Kernels.multiply(inputs, transposedWeights);
        double[] values = hidden.values();
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) Math.max(values[i] + bias[i % HIDDEN_WIDTH], 0.0);
        }
        double[] rounded = inputs.values();
        for (int i = 0; i < rounded.length; i++) {
            rounded[i] = (float) rounded[i];
        }
        return new Rows(inputs, hidden);
    }
}
