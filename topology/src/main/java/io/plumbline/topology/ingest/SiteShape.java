package io.plumbline.topology.ingest;

import io.plumbline.explainer.DecoderSpace;
import io.plumbline.explainer.Explainer;
import io.plumbline.moments.RowMask;
import io.plumbline.records.HiddenLayers;
import io.plumbline.records.TargetBlock;
import org.jspecify.annotations.Nullable;

/**
 * Says what a site's records must look like.
 *
 * @param inputWidth columns of {@code activations}
 * @param targetWidth columns of {@code targets}; equal to {@code inputWidth} for a sparse autoencoder
 * @param transcoder whether {@code targets} must be present
 * @param space what stands between targets as they come and the rows that the decoder writes, which are summed
 * @param given whether records bring reconstructions, which are summed beside the targets
 * @param features of the codes that records bring beside reconstructions; 0: none
 * @param mask takes out the rows that enter no sum
 * @param whole whether requests are kept whole, to be run through the rest of the model
 * @param layers which layers {@code hidden_states} of three dimensions hold; null: they are refused
 * @param block the target layer of a site with several, whose rows lie in tensors of their own; null for any other site
 */
public record SiteShape(
        SiteId id,
        int inputWidth,
        int targetWidth,
        boolean transcoder,
        DecoderSpace space,
        boolean given,
        int features,
        RowMask mask,
        boolean whole,
        @Nullable HiddenLayers layers,
        @Nullable TargetBlock block) {

    /** The shape of an explainer's site. */
    public static SiteShape of(SiteId id, Explainer explainer, RowMask mask) {
        return new SiteShape(
                id,
                explainer.inputWidth(),
                explainer.targetWidth(),
                explainer.isTranscoder(),
                explainer.space(),
                explainer.isGiven(),
                explainer.isGiven() && explainer.hasCodes() ? explainer.features() : 0,
                mask,
                false,
                null,
                explainer.block());
    }

    /** Returns this shape of a site whose requests are kept whole, or not. */
    public SiteShape keepingRequests(boolean kept) {
        return new SiteShape(
                id, inputWidth, targetWidth, transcoder, space, given, features, mask, kept, layers, block);
    }

    /** Returns this shape for records with the hidden states of several layers. */
    public SiteShape with(@Nullable HiddenLayers stacked) {
        return new SiteShape(
                id, inputWidth, targetWidth, transcoder, space, given, features, mask, whole, stacked, block);
    }

    /** Returns this shape for records with the rows of several layers. */
    public SiteShape ofBlock(@Nullable TargetBlock target) {
        return new SiteShape(
                id, inputWidth, targetWidth, transcoder, space, given, features, mask, whole, layers, target);
    }

    /** Makes the shape of a site whose targets are summed as they come, and whose records are of its layer alone. */
    public SiteShape(String site, int inputWidth, int targetWidth, boolean transcoder, RowMask mask) {
        this(
                SiteId.parse(site),
                inputWidth,
                targetWidth,
                transcoder,
                DecoderSpace.PLAIN,
                false,
                0,
                mask,
                false,
                null,
                null);
    }

    public String site() {
        return id.name();
    }
}
