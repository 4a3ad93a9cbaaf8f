package io.plumbline.refit;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.factored.DecoderFactors;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.wire.DType;
import org.jspecify.annotations.Nullable;

/**
 * A refit that is done, before its k x d weights are made. Immutable; it holds nothing of the {@link SharedSolutions}.
 *
 * <p><b>Size</b> beside the trained decoder and the codes: {@code 8 N d} bytes and those of Step 1.
 */
public final class FittedDecoder {

    private final Decoder trained;
    private final SparseCodes codes;
    private final double[] targetMean;
    private final SettingsFit fit;
    private final boolean keepsWeights;
    private final @Nullable Matrix products;

    FittedDecoder(
            Decoder trained,
            SparseCodes codes,
            double[] targetMean,
            SettingsFit fit,
            boolean keepsWeights,
            @Nullable Matrix products) {
        this.trained = trained;
        this.codes = codes;
        this.targetMean = targetMean;
        this.fit = fit;
        this.keepsWeights = keepsWeights;
        this.products = products;
    }

    /** Returns {@code W W^T} of the decoder, d x d; null where it was not asked for. */
    public @Nullable Matrix products() {
        return products;
    }

    /**
     * Returns the decoder with the values it has once it was written in a type.
     *
     * @param name what a message calls it
     * @param type F64 leaves the values as they are
     * @throws ArithmeticException if the type cannot hold a value
     */
    public Decoder decoder(String name, DType type) {
        Rounding rounding = new Rounding(name, type);
        Weights weights = keepsWeights ? trained.weights() : fit.weights(trained.weights(), codes, rounding);
        Decoder decoder = GeometryAdapter.withBias(rounding.of(weights), codes, targetMean);
        rounding.round(decoder.bias(), "bias");
        return decoder;
    }

    /**
     * Returns what was learnt, rounded to floats and without the bias, which depends on the weights that it makes.
     *
     * @throws ArithmeticException if a float cannot hold a number of it
     */
    public DecoderFactors factors() {
        return fit.factors(codes);
    }

    /**
     * Returns the weights that factors make of the trained decoder.
     *
     * @throws ArithmeticException if a float cannot hold one
     */
    public Weights weights(DecoderFactors factors) {
        return factors.of(trained).weights();
    }

    /** Returns the factors with the bias that belongs to the weights they make, rounded to floats. */
    public DecoderFactors withBias(DecoderFactors factors, Weights weights) {
        return factors.withBias(
                GeometryAdapter.withBias(weights, codes, targetMean).bias());
    }
}
