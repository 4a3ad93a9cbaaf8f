/**
 * Makes decoders that travel as what was learnt: {@link io.plumbline.factored.DecoderFactors}, and the arithmetic that
 * makes the same weights of them, to the last bit, wherever the trained decoder is at hand.
 *
 * <p>A refit of a few thousand rows changes a decoder of 75 MB by 7 MB. Whoever reads it does the multiplication again,
 * so the order of every sum is part of the format.
 */
@NullMarked
package io.plumbline.factored;

import org.jspecify.annotations.NullMarked;
