package io.plumbline.topology;

/** Something outside the configuration file kept the program from starting: a broker that does not answer, a topic missing. */
public final class StartException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** @param message a sentence that says what to do */
    public StartException(String message) {
        super(message);
    }
}
