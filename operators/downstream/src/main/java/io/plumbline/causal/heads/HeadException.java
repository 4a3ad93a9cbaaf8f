package io.plumbline.causal.heads;

/**
 * Thrown when a head gives no usable answer. The message names the file or the worker, what was expected and what came.
 */
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
        /** No worker answers at its address, or what answers there is none. */
        UNREACHABLE,
        /** There was no answer within the time limit. */
        TIMED_OUT,
        /** The runtime or the worker itself reported an error, or ended. */
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
