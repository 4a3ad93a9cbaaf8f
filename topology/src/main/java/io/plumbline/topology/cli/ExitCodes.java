package io.plumbline.topology.cli;

/** What the shell learns. */
public final class ExitCodes {

    public static final int FINE = 0;
    /** Only where the caller asked for it: {@code assess --fail-on-drift}. */
    public static final int DRIFT_FOUND = 1;
    /** Bad option, bad configuration, missing file: what was typed has to change. */
    public static final int USAGE = 2;

    public static final int FAILURE = 3;

    private ExitCodes() {}
}
