package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.refit.RefitInputs;
import io.plumbline.refit.SampleRows;

/**
 * The decoders of a site that is to be adapted.
 *
 * @param trained the decoder as trained: every refit starts from it, features and cost are compared with it
 * @param subspace of the trained decoder, at any rank
 * @param serving the decoder in service, which may be an earlier adaptation
 * @param rank the rank the site is watched at
 */
public record SiteDecoders(Decoder trained, ExplainerSubspace subspace, ServingDecoder serving, int rank) {

    /** Returns the decoders of a site whose trained one is in service. */
    public static SiteDecoders servingTrained(Decoder trained, ExplainerSubspace subspace, int rank) {
        return new SiteDecoders(trained, subspace, ServingDecoder.of(trained), rank);
    }

    /** Returns the same with a subspace of all directions; see {@link ExplainerSubspace#exact}. */
    SiteDecoders exact() {
        return new SiteDecoders(trained, subspace.exact(subspace.rank()), serving, rank);
    }

    /** Returns the decoder in service. */
    Decoder current() {
        return serving.decoder();
    }

    /** Returns what refits on these rows of the window start from, with anchors where there are any. */
    RefitInputs inputs(SampleRows window, AdaptationRows rows) {
        return new RefitInputs(trained, subspace, window.targets(), window, rows.anchor());
    }
}
