package io.plumbline.topology.operate;

import io.plumbline.topology.cli.Progress;
import java.io.PrintWriter;

/**
 * Shows what is being done at the moment, on one line of standard error that is written over; for people only, as
 * {@link Progress}.
 */
public final class Narration implements AutoCloseable {

    private static final String CLEAR_LINE = "\r\033[K";

    private final PrintWriter err;
    private final boolean terminal;

    private Narration(PrintWriter err, boolean terminal) {
        this.err = err;
        this.terminal = terminal;
    }

    /** Narrates to {@code err}, where a person reads it. */
    public static Narration to(PrintWriter err) {
        return new Narration(err, Boolean.getBoolean(Progress.TERMINAL));
    }

    /** Replaces the line by what is done now. */
    public void next(String what) {
        if (terminal) {
            err.print(CLEAR_LINE + what + " ...");
            err.flush();
        }
    }

    /** Leaves an empty line to write on. Safe to call twice. */
    @Override
    public void close() {
        if (terminal) {
            err.print(CLEAR_LINE);
            err.flush();
        }
    }
}
