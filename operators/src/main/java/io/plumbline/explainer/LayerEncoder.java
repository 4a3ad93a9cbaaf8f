package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;

/** An encoder of one linear layer, and of a rule which of the layer's pre-activations become codes. */
abstract class LayerEncoder implements Encoder {

    private final LinearLayer layer;

    LayerEncoder(LinearLayer layer) {
        this.layer = layer;
    }

    @Override
    public final int inputWidth() {
        return layer.inputWidth();
    }

    @Override
    public final int features() {
        return layer.features();
    }

    @Override
    public final SparseCodes encode(Matrix rows) {
        return layer.encode(rows, this::selection);
    }

    /** Returns the rule, for so many rows. */
    abstract CodeSelection selection(int rows);

    /** Refuses a number of codes to keep that the layer cannot give. */
    static void requireFeatures(LinearLayer layer, int k) {
        if (k < 1 || k > layer.features()) {
            throw new IllegalArgumentException(
                    "k = %d, expected 1 .. %d, the number of features".formatted(k, layer.features()));
        }
    }
}
