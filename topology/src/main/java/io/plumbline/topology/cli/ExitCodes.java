package io.plumbline.topology.cli;

/** The exit codes that the shell sees. */
public final class ExitCodes {

    public static final int FINE = 0;
    /**
     * Drift was found, or a change failed its policy, and the caller asked for this code: {@code assess
     * --fail-on-drift}, {@code compare --policy}; or a release is not the one that was made.
     */
    public static final int DRIFT_FOUND = 1;
    /** Bad option, bad configuration, missing file: what was typed has to change. */
    public static final int USAGE = 2;

    public static final int FAILURE = 3;
    /** Nothing could be judged, and the caller asked for this code: {@code assess --fail-on-drift}. */
    public static final int UNDECIDED = 4;

    private ExitCodes() {}
}
