package io.plumbline.records;

/**
 * Thrown when a well-formed blob is not a batch of activations; the message names the tensor, what it has and what was
 * expected.
 */
public sealed class ActivationBatchException extends IllegalArgumentException permits EmptyBatchException {

    private static final long serialVersionUID = 1L;

    public ActivationBatchException(String message) {
        super(message);
    }
}
