package io.plumbline.explainer;

/**
 * Thrown when a folder does not hold an explainer this project can read; the message says what is wrong and what is
 * supported.
 */
public final class ExplainerFormatException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    public ExplainerFormatException(String message) {
        super(message);
    }

    public ExplainerFormatException(String message, Throwable cause) {
        super(message, cause);
    }
}
