package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;

/** Normalises rows before another encoder reads them, each by itself. */
public final class NormalisingEncoder implements Encoder {

    private final Normalisation normalisation;
    private final Encoder encoder;

    public NormalisingEncoder(Normalisation normalisation, Encoder encoder) {
        this.normalisation = normalisation;
        this.encoder = encoder;
    }

    public Normalisation normalisation() {
        return normalisation;
    }

    /** Returns the encoder that reads the normalised rows. */
    public Encoder inner() {
        return encoder;
    }

    @Override
    public int inputWidth() {
        return encoder.inputWidth();
    }

    @Override
    public int features() {
        return encoder.features();
    }

    @Override
    public SparseCodes encode(Matrix rows) {
        return encoder.encode(normalisation.apply(rows));
    }
}
