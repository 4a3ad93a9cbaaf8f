/**
 * The explainer under watch: a dictionary whose encoder turns activations into sparse codes and whose decoder turns
 * codes into rows of the target space.
 *
 * <p><b>Enters:</b> rows. <b>Leaves:</b> sparse codes, and what the decoder makes of them.
 *
 * <p>Encoders are independent of the decoder: conventions that mix them are folded away when read, because the whole
 * point is to replace the decoder while feature ids keep their meaning. The encoder computes in {@code double}; a
 * TopK choice made in float would differ from the oracle's wherever two pre-activations nearly tie.
 */
@NullMarked
package io.plumbline.explainer;

import org.jspecify.annotations.NullMarked;
