package io.plumbline.topology.adaptation;

import io.plumbline.topology.adaptation.AdapterAnswer.Publication;
import org.jspecify.annotations.Nullable;

/**
 * Reads what the adapter published and does not hold: candidates, and its own state as everyone reads it. Thread-safe.
 */
public interface PublishedCandidates {

    /**
     * A complete candidate whose SHA-256, parent and shape were checked, as it was published.
     *
     * @param artefactSha256 of the bytes it travelled in
     */
    record Candidate(Publication publication, String artefactSha256) {}

    /**
     * Reads a candidate back from the topic: as long as that takes.
     *
     * @throws IllegalStateException when it is not there or cannot be trusted, saying why
     */
    Candidate read(String site, long number);

    /** Returns the state that the adapter last told of the site; null: none. For an adapter whose own store is new. */
    @Nullable
    SwapState lastTold(String site);
}
