package io.plumbline.records;

/** Thrown for a batch without a single value: a server that has nothing to say should send nothing. */
public final class EmptyBatchException extends ActivationBatchException {

    private static final long serialVersionUID = 1L;

    EmptyBatchException(String message) {
        super(message);
    }
}
