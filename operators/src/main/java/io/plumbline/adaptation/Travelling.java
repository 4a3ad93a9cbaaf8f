package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.factored.DecoderFactors;
import io.plumbline.linalg.Weights;
import io.plumbline.refit.FittedDecoder;
import io.plumbline.wire.DType;
import java.util.Locale;

/**
 * Says how a decoder will be published, and so what becomes of its numbers before it is judged.
 *
 * @param dtype the type its weights have once they are read
 * @param factored whether it travels as {@link DecoderFactors} where it has any and they are smaller; its weights are
 *     floats then
 */
public record Travelling(DType dtype, boolean factored) {

    public Travelling {
        if (!dtype.isFloatingPoint()) {
            throw new IllegalArgumentException("dtype = %s: expected f64, f32, bf16 or f16".formatted(dtype));
        }
        if (factored && dtype != DType.F32) {
            throw new IllegalArgumentException(
                    "dtype = %s: expected f32 with encoding: factored, whose decoders are made of float32 numbers"
                            .formatted(dtype.name().toLowerCase(Locale.ROOT)));
        }
    }

    /**
     * Returns the decoder of a candidate with the values that readers of its publication get, and the factors it is
     * made of where it travels as such.
     *
     * @throws ArithmeticException if the type cannot hold a value
     */
    Travelled made(Candidate candidate, FittedDecoder fitted) {
        DecoderFactors factors = factored ? fitted.factors() : null;
        if (factors == null || !factors.isSmallerThanDense()) {
            return new Travelled(fitted.decoder(candidate.describe(), dtype), null);
        }
        Weights weights = fitted.weights(factors);
        DecoderFactors whole = fitted.withBias(factors, weights);
        return new Travelled(new Decoder(weights, whole.bias()), whole);
    }

    /** Returns the choice to publish k x d weights of this type. */
    public static Travelling dense(DType dtype) {
        return new Travelling(dtype, false);
    }

    /** Returns the choice to publish factors, from which a float32 decoder is made. */
    public static Travelling factors() {
        return new Travelling(DType.F32, true);
    }
}
