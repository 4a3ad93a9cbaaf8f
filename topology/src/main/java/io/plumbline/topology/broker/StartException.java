package io.plumbline.topology.broker;

/**
 * Thrown when something outside the configuration file keeps the program from starting: a broker that does not answer,
 * a topic missing.
 */
public final class StartException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final boolean mayPass;

    /** @param message a sentence that says what to do */
    public StartException(String message) {
        this(message, false);
    }

    private StartException(String message, boolean mayPass) {
        super(message);
        this.mayPass = mayPass;
    }

    /** Returns a failure that may be over in a minute with nothing changed here. */
    static StartException passing(String message) {
        return new StartException(message, true);
    }

    /** Returns whether the same start may succeed later, so that whoever restarts processes should try again. */
    public boolean mayPass() {
        return mayPass;
    }
}
