package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;

/** Measures candidates by what the model does, on the requests to choose by. Made for one attempt. */
public interface BehaviourChoice {

    /**
     * Returns {@code KL(original | patched)} of the next token with a decoder, mean over rows in nats.
     *
     * @throws NoAnswerException if the model gives no usable answer
     */
    double divergence(Decoder decoder);

    /** Says that the model gave no usable answer, and why. */
    final class NoAnswerException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        public NoAnswerException(String reason) {
            super("the model could not be run: " + reason);
        }
    }
}
