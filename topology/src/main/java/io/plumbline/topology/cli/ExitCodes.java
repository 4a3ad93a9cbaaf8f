package io.plumbline.topology.cli;

/** What the shell learns. */
final class ExitCodes {

    static final int FINE = 0;
    /** Only where the caller asked for it: {@code assess --fail-on-drift}. */
    static final int DRIFT_FOUND = 1;
    /** Bad option, bad configuration, missing file: what was typed has to change. */
    static final int USAGE = 2;

    static final int FAILURE = 3;

    private ExitCodes() {}
}
