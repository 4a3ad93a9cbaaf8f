package io.plumbline.topology.assessment;

import io.plumbline.explainer.KnownCodes;

/**
 * The codes of the newest window for which a site's monitor asked for a refit. An adapter in the same process takes
 * them in place of encoding the same rows again; one elsewhere encodes them.
 *
 * <p><b>Size.</b> The sampled rows and their codes, of one window, until a window asks for nothing. Thread-safe.
 */
public final class WindowCodes {

    private volatile KnownCodes newest = KnownCodes.NONE;

    void keep(KnownCodes codes) {
        newest = codes;
    }

    /** Returns the codes that are known. */
    public KnownCodes newest() {
        return newest;
    }
}
