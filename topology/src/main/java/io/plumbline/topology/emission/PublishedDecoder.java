package io.plumbline.topology.emission;

import io.plumbline.explainer.Decoder;

/** A complete decoder that passed every check, with the manifest that names it. */
public record PublishedDecoder(DecoderManifest manifest, Decoder decoder) {

    public String site() {
        return manifest.site();
    }

    public long version() {
        return manifest.version();
    }
}
