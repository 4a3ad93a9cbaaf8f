package io.plumbline.topology.progress;

import java.util.Optional;

/** Answers whether a part of the process is well. Called on HTTP threads, often; must be quick and thread-safe. */
@FunctionalInterface
public interface Probe {

    /** Returns a sentence about what is wrong, or empty when nothing is. */
    Optional<String> complaint();

    /** Complains when either does; the first one's sentence wins. */
    default Probe and(Probe other) {
        return () -> complaint().or(other::complaint);
    }
}
