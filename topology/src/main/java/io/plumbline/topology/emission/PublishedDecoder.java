package io.plumbline.topology.emission;

import io.plumbline.explainer.Decoder;
import io.plumbline.factored.DecoderFactors;
import io.plumbline.topology.adaptation.AdapterAnswer;
import io.plumbline.topology.adaptation.PublishedCandidates;
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

    /** Returns the site, of a candidate too. */
    public String site() {
        return manifest.explainedSite();
    }

    /** Returns whether it only waits for approval. */
    public boolean isCandidate() {
        return manifest.waits();
    }

    /** Returns this candidate as the adapter that may approve it takes it back. */
    public PublishedCandidates.Candidate asCandidate() {
        return new PublishedCandidates.Candidate(
                new AdapterAnswer.Publication(
                        manifest.version(),
                        manifest.kind(),
                        decoder,
                        dtype,
                        factors,
                        manifest.lineage(),
                        manifest.parentSha256()),
                manifest.sha256OfArtefact());
    }

    public long version() {
        return manifest.version();
    }
}
