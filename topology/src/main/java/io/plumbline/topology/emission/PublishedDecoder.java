package io.plumbline.topology.emission;

import io.plumbline.explainer.Decoder;
import io.plumbline.topology.adaptation.AdapterAnswer;
import io.plumbline.topology.adaptation.PublishedCandidates;
import io.plumbline.wire.DType;

/**
 * A complete decoder that passed every check, with the manifest that names it.
 *
 * @param dtype the number format its weights travelled in; written in another one, they may be rounded
 * @param signature of its manifest, checked where the subscription asks for one
 */
public record PublishedDecoder(DecoderManifest manifest, Decoder decoder, DType dtype, RecordSignature signature) {

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
                        manifest.lineage(),
                        manifest.parentSha256()),
                manifest.sha256());
    }

    public long version() {
        return manifest.version();
    }
}
