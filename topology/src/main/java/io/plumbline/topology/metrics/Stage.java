package io.plumbline.topology.metrics;

import java.util.Locale;

/** A stage whose time is measured; the value of the label {@code stage}. */
public enum Stage {
    /** One activation record: decoding and checks. */
    INGEST,
    /** One activation record: adding its rows to the pane. */
    ACCUMULATE,
    /** One commit of one task: writing what changed of its open panes. */
    STORE,
    /** One closed window: adding its panes together. */
    COMPOSE,
    /** One closed window: spectra, gap, bounds, verdict. */
    ASSESS,
    /** One closed window, inside that: the rest of the model on whole requests. */
    DOWNSTREAM,
    /** One adaptation request: candidates, fit, gate. */
    ADAPT,
    /** One decoder: cut into records. */
    EMIT;

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
