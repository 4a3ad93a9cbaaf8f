package io.plumbline.topology.metrics;

import java.util.Locale;

/** A stage whose time is measured; the value of the label {@code stage}. */
public enum Stage {
    /** One activation record: decoding, checks, adding its rows to the pane. */
    ACCUMULATE,
    /** One closed window: composing its moment, spectra, gap, bounds, verdict. */
    ASSESS,
    /** One adaptation request: candidates, fit, gate. */
    ADAPT;

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
