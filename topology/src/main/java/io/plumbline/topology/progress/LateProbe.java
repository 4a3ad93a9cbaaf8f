package io.plumbline.topology.progress;

import java.util.Optional;

/** Answers with one probe until another is known: the server listens before there is anything to ask. */
public final class LateProbe implements Probe {

    private volatile Probe current;

    /** @param first asked until {@link #become} is called */
    public LateProbe(Probe first) {
        this.current = first;
    }

    /** Asks the other from now on. */
    public void become(Probe other) {
        current = other;
    }

    @Override
    public Optional<String> complaint() {
        return current.complaint();
    }
}
