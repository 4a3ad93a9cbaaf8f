package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.factored.DecoderFactors;
import org.jspecify.annotations.Nullable;

/**
 * A decoder with the values that readers of its publication get.
 *
 * @param factors what it is made of where it travels as factors, to the last bit; else null
 */
record Travelled(Decoder decoder, @Nullable DecoderFactors factors) {}
