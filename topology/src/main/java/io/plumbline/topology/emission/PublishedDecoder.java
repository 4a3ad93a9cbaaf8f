package io.plumbline.topology.emission;

import io.plumbline.explainer.Decoder;
import io.plumbline.wire.DType;

/**
 * A complete decoder that passed every check, with the manifest that names it.
 *
 * @param dtype the number format its weights travelled in; written in another one, they may be rounded
 */
public record PublishedDecoder(DecoderManifest manifest, Decoder decoder, DType dtype) {

    public String site() {
        return manifest.site();
    }

    public long version() {
        return manifest.version();
    }
}
