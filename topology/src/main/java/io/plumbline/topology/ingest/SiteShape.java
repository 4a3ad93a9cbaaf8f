package io.plumbline.topology.ingest;

import io.plumbline.explainer.DecoderSpace;
import io.plumbline.explainer.Explainer;
import io.plumbline.moments.RowMask;

/**
 * What a site's records must look like.
 *
 * @param inputWidth columns of {@code activations}
 * @param targetWidth columns of {@code targets}; equal to {@code inputWidth} for a sparse autoencoder
 * @param transcoder whether {@code targets} must be present
 * @param space what stands between targets as they come and the rows that the decoder writes, which are summed
 * @param given whether records bring reconstructions, which are summed beside the targets
 * @param features of the codes that records bring beside reconstructions; 0: none
 * @param mask takes out the rows that enter no sum
 */
public record SiteShape(
        String site,
        int inputWidth,
        int targetWidth,
        boolean transcoder,
        DecoderSpace space,
        boolean given,
        int features,
        RowMask mask) {

    /** The shape of an explainer's site. */
    public static SiteShape of(String site, Explainer explainer, RowMask mask) {
        return new SiteShape(
                site,
                explainer.inputWidth(),
                explainer.targetWidth(),
                explainer.isTranscoder(),
                explainer.space(),
                explainer.isGiven(),
                explainer.isGiven() && explainer.hasCodes() ? explainer.features() : 0,
                mask);
    }

    /** A site whose targets are summed as they come. */
    public SiteShape(String site, int inputWidth, int targetWidth, boolean transcoder, RowMask mask) {
        this(site, inputWidth, targetWidth, transcoder, DecoderSpace.PLAIN, false, 0, mask);
    }
}
