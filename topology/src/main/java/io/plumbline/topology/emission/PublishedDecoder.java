package io.plumbline.topology.emission;

import io.plumbline.explainer.Decoder;
import io.plumbline.wire.DType;

/**
 * A complete decoder that passed every check, with the manifest that names it.
 *
 * @param dtype the number format its weights travelled in; written in another one, they may be rounded
 */
public record PublishedDecoder(DecoderManifest manifest, Decoder decoder, DType dtype) {

    /** The site, of a candidate too. */
    public String site() {
        String site = DecoderKey.siteOfCandidates(manifest.site());
        return site == null ? manifest.site() : site;
    }

    /** Whether it only waits for approval. */
    public boolean isCandidate() {
        return DecoderKey.siteOfCandidates(manifest.site()) != null;
    }

    public long version() {
        return manifest.version();
    }
}
