package io.plumbline.topology.operate;

/** Thrown when no broker answered: what was typed may be right, and the same command may succeed later. */
final class NoBrokerException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    NoBrokerException(String message, Throwable cause) {
        super(message, cause);
    }
}
