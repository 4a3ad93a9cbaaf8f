package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Operand;
import io.plumbline.linalg.RightFactor;
import io.plumbline.linalg.UpdateKernels;

/**
 * {@code W_enc x + b_enc} for blocks of rows, the part every encoder shares.
 *
 * <p>Weights are laid out once, as a {@link RightFactor}; pre-activations of a block of rows are made, read and overwritten by
 * those of the next, so that the dense codes of all rows are never in memory. Rows are independent to the last bit.
 *
 * <p>{@code 2 inputs * features} flops a row.
 */
final class LinearLayer {

    private static final int ROWS_PER_BLOCK = 64;

    private final RightFactor weights;
    private final double[] bias;

    private LinearLayer(Operand inputByFeature, double[] bias) {
        if (inputByFeature.columns() != bias.length || bias.length == 0 || inputByFeature.rows() == 0) {
            throw new IllegalArgumentException("encoder weights for %d features of %d inputs, %d biases"
                    .formatted(inputByFeature.columns(), inputByFeature.rows(), bias.length));
        }
        this.weights = UpdateKernels.kernel().rightFactor(inputByFeature);
        this.bias = bias.clone();
    }

    /** From {@code inputWidth x features}; copied. */
    static LinearLayer inputByFeature(Matrix weights, double[] bias) {
        return new LinearLayer(Operand.of(weights), bias);
    }

    /** From {@code features x inputWidth}, row j = feature j; copied. */
    static LinearLayer featureByInput(Matrix weights, double[] bias) {
        return new LinearLayer(Operand.transposeOf(weights), bias);
    }

    int inputWidth() {
        return weights.rows();
    }

    int features() {
        return bias.length;
    }

    /** Which of one row's pre-activations become codes. */
    @FunctionalInterface
    interface RowActivation {
        /** Reads {@code features} values from {@code offset} on and adds the codes in ascending order of feature. */
        void activate(double[] preActivations, int offset, SparseCodes.Builder codes);
    }

    SparseCodes encode(Matrix rows, RowActivation activation) {
        if (rows.columns() != inputWidth()) {
            throw new IllegalArgumentException(
                    "rows of %d values, the encoder reads %d".formatted(rows.columns(), inputWidth()));
        }
        int features = features();
        SparseCodes.Builder codes = new SparseCodes.Builder(rows.rows(), features);
        double[] block = new double[Math.multiplyExact(Math.min(ROWS_PER_BLOCK, rows.rows()), features)];
        for (int start = 0; start < rows.rows(); start += ROWS_PER_BLOCK) {
            int count = Math.min(ROWS_PER_BLOCK, rows.rows() - start);
            preActivations(rows, start, count, block);
            for (int row = 0; row < count; row++) {
                activation.activate(block, row * features, codes);
                codes.endRow();
            }
        }
        return codes.build();
    }

    private void preActivations(Matrix rows, int start, int count, double[] block) {
        int features = features();
        for (int row = 0; row < count; row++) {
            System.arraycopy(bias, 0, block, row * features, features);
        }
        weights.addProduct(Operand.rowsOf(rows, start, start + count), block);
    }
}
