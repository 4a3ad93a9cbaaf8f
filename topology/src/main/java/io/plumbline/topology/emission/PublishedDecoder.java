package io.plumbline.topology.emission;

import io.plumbline.explainer.Decoder;
import io.plumbline.factored.DecoderFactors;
import io.plumbline.wire.DType;
import org.jspecify.annotations.Nullable;

/**
 * A complete decoder that passed every check, with the manifest that names it.
 *
 * @param dtype the number format its weights travelled in; written in another one, they may be rounded
 * @param factors what it was made of, where it travelled as factors; else null
 */
public record PublishedDecoder(
        DecoderManifest manifest,
        Decoder decoder,
        DType dtype,
        @Nullable DecoderFactors factors) {

    /** The site, of a candidate too. */
    public String site() {
        return manifest.explainedSite();
    }

    /** Whether it only waits for approval. */
    public boolean isCandidate() {
        return manifest.waits();
    }

    public long version() {
        return manifest.version();
    }
}
