package io.plumbline.topology.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.factored.DecoderFactors;
import io.plumbline.wire.DType;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the adapter published and does not hold: candidates, and its own state as everyone reads it. Thread-safe. */
public interface PublishedCandidates {

    /**
     * A complete candidate whose SHA-256, parent and shape were checked, as it was published: with its factors if it
     * came as such.
     */
    record Candidate(
            Decoder decoder,
            DType dtype,
            @Nullable DecoderFactors factors,
            Map<String, String> lineage,
            String parentSha256,
            String artefactSha256) {}

    /**
     * Reads a candidate back from the topic: as long as that takes.
     *
     * @throws IllegalStateException when it is not there or cannot be trusted, saying why
     */
    Candidate read(String site, long number);

    /** The state the adapter last told of the site; null: none. For an adapter whose own store is new. */
    @Nullable
    SwapState lastTold(String site);
}
