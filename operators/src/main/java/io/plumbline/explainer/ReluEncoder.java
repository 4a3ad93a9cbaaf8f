package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;

/** Computes {@code z = max(W_enc x + b_enc, 0)}. */
public final class ReluEncoder extends LayerEncoder {

    public ReluEncoder(LinearLayer layer) {
        super(layer);
    }

    /** Returns an encoder with weights {@code features x inputWidth} (row j = feature j) and one bias per feature. */
    public static ReluEncoder of(Matrix weights, double[] bias) {
        return new ReluEncoder(LinearLayer.featureByInput(weights, bias));
    }

    @Override
    CodeSelection selection(int rows) {
        return new Positive(rows);
    }

    private static final class Positive extends ListedCodes {

        Positive(int rows) {
            super(rows);
        }

        @Override
        public double level(int row) {
            return 0.0;
        }

        @Override
        public void take(int row, int first, double[] preActivations, int at, int count) {
            addAbove(0.0, row, first, preActivations, at, count);
        }
    }
}
