package io.plumbline.baseline;

/** Thrown when a file is no baseline this program can use; the message says what is wrong and what was expected. */
public final class BaselineException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    public BaselineException(String message) {
        super(message);
    }

    BaselineException(String message, Throwable cause) {
        super(message, cause);
    }
}
