package io.plumbline.topology.cli;

/**
 * Thrown when what was typed cannot be done; the message says what to type instead. Ends the program with
 * {@link ExitCodes#USAGE}.
 */
public final class UsageException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public UsageException(String message) {
        super(message);
    }
}
