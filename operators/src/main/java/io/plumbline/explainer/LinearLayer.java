package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.linalg.kernel.MatrixView;
import io.plumbline.linalg.kernel.PackedFloatMatrix;
import io.plumbline.linalg.kernel.PackedMatrix;
import io.plumbline.parallel.Cores;
import java.util.Arrays;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Computes {@code W_enc x + b_enc} for blocks of rows, the part every encoder shares.
 *
 * <p>Weights are laid out once: as floats where they are a million floats and more, which is how nearly every file has
 * them, else in float64. Blocks of rows are shared out among the cores; the pre-activations of floats are looked at a
 * few columns at a time and never stored, those of float64 are held for one block. Rows are independent to the last
 * bit.
 *
 * <p>{@code 2 inputs * features} flops a row. <b>Accuracy.</b> {@link PackedFloatMatrix}'s or {@link PackedMatrix}'s.
 * With floats a pre-activation within that of the k-th largest, or of a threshold, may fall on its other side.
 */
public final class LinearLayer {

    /** Rows in a block of doubles, whose pre-activations are stored. */
    private static final int ROWS_PER_BLOCK = 64;

    /**
     * The fewest weights that are held in float32: smaller layers cost next to nothing in float64, and agree with a
     * float64 reference to its digits.
     */
    static final int LEAST_FLOAT_WEIGHTS = 1 << 20;

    private final @Nullable PackedFloatMatrix floats;
    private final @Nullable PackedMatrix doubles;
    private final int inputWidth;
    private final double[] bias;
    private final float[] floatBias;

    private LinearLayer(Weights weights, boolean featureFirst, double[] bias) {
        int features = featureFirst ? weights.rows() : weights.columns();
        this.inputWidth = featureFirst ? weights.columns() : weights.rows();
        if (features != bias.length || bias.length == 0 || inputWidth == 0) {
            throw new IllegalArgumentException("encoder weights for %d features of %d inputs, %d biases"
                    .formatted(features, inputWidth, bias.length));
        }
        boolean large = (long) features * inputWidth >= LEAST_FLOAT_WEIGHTS;
        this.floats = large ? weights.packedFloats(featureFirst) : null;
        this.doubles = floats == null ? weights.packed(featureFirst) : null;
        this.bias = bias.clone();
        this.floatBias = new float[bias.length];
        for (int j = 0; j < bias.length; j++) {
            floatBias[j] = (float) bias[j];
        }
    }

    /** Returns a layer with a copy of the weights {@code inputWidth x features}. */
    public static LinearLayer inputByFeature(Matrix weights, double[] bias) {
        return inputByFeature(Weights.of(weights), bias);
    }

    /** Returns a layer with a copy of the weights {@code inputWidth x features}. */
    public static LinearLayer inputByFeature(Weights weights, double[] bias) {
        return new LinearLayer(weights, false, bias);
    }

    /** Returns a layer with a copy of the weights {@code features x inputWidth}, row j = feature j. */
    public static LinearLayer featureByInput(Matrix weights, double[] bias) {
        return featureByInput(Weights.of(weights), bias);
    }

    /** Returns a layer with a copy of the weights {@code features x inputWidth}, row j = feature j. */
    public static LinearLayer featureByInput(Weights weights, double[] bias) {
        return new LinearLayer(weights, true, bias);
    }

    int inputWidth() {
        return inputWidth;
    }

    public int features() {
        return bias.length;
    }

    /** @param selection makes one for so many rows */
    SparseCodes encode(Matrix rows, IntFunction<CodeSelection> selection) {
        if (rows.columns() != inputWidth()) {
            throw new IllegalArgumentException(
                    "rows of %d values, the encoder reads %d".formatted(rows.columns(), inputWidth()));
        }
        int together = floats == null ? ROWS_PER_BLOCK : floats.blockRows(rows.rows());
        int blocks = (rows.rows() + together - 1) / together;
        SparseCodes[] parts = new SparseCodes[blocks];
        Cores.each(blocks, block -> {
            int start = block * together;
            int count = Math.min(together, rows.rows() - start);
            MatrixView part = rows.rowsView(start, start + count);
            parts[block] = encode(part, selection.apply(count));
        });
        return SparseCodes.joined(features(), Arrays.asList(parts));
    }

    /** Hands pre-activations of floats to a selection, as doubles. */
    private static final class Widened implements PackedFloatMatrix.Sink {

        private final CodeSelection selection;
        private final double[] stretch;

        Widened(CodeSelection selection, int features) {
            this.selection = selection;
            this.stretch = new double[features];
        }

        @Override
        public float level(int row) {
            double level = selection.level(row);
            float rounded = (float) level;
            return rounded > level ? Math.nextDown(rounded) : rounded;
        }

        @Override
        public void take(int row, int column, float[] values, int at, int count) {
            for (int j = 0; j < count; j++) {
                stretch[j] = values[at + j];
            }
            selection.take(row, column, stretch, 0, count);
        }
    }

    private SparseCodes encode(MatrixView rows, CodeSelection selection) {
        PackedFloatMatrix single = floats;
        if (single != null) {
            single.multiply(rows, floatBias, new Widened(selection, features()));
        } else if (doubles != null) {
            int features = features();
            double[] block = new double[Math.multiplyExact(rows.rows(), features)];
            for (int row = 0; row < rows.rows(); row++) {
                System.arraycopy(bias, 0, block, row * features, features);
            }
            doubles.addProduct(rows, block);
            for (int row = 0; row < rows.rows(); row++) {
                selection.take(row, 0, block, row * features, features);
            }
        }
        SparseCodes.Builder codes = new SparseCodes.Builder(rows.rows(), features());
        for (int row = 0; row < rows.rows(); row++) {
            selection.finish(row, codes);
        }
        return codes.build();
    }
}
