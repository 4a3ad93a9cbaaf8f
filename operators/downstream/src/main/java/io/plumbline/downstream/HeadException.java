package io.plumbline.downstream;

/** Thrown when a head gives no usable answer. The message names the file, what was expected and what came. */
public final class HeadException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** The ways in which a head fails. */
    public enum Fault {
        /** The file is missing, too large or no model that can be loaded. */
        NOT_LOADED,
        /** Inputs, outputs or an answer are not what is expected by name, type or shape. */
        WRONG_SHAPE,
        /** A logit is NaN or infinite. */
        NOT_FINITE,
        /** There was no answer within the time limit. */
        TIMED_OUT,
        /** The runtime itself reported an error. */
        FAILED
    }

    private final Fault fault;

    HeadException(Fault fault, String message) {
        super(message);
        this.fault = fault;
    }

    HeadException(Fault fault, String message, Throwable cause) {
        super(message, cause);
        this.fault = fault;
    }

    public Fault fault() {
        return fault;
    }
}
