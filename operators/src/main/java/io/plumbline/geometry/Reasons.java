package io.plumbline.geometry;

import org.jspecify.annotations.Nullable;

/** Says why a subspace is not determined, in a sentence for whoever reads the report; null when it is. */
final class Reasons {

    static final String WHOLE_SPACE = "rank = dimension: there is no eigenvalue after the last, hence no eigengap";

    private Reasons() {}

    static @Nullable String moment(String whose, long rows, ActiveSubspace active) {
        if (rows < active.rank()) {
            return "%s has too few rows (%d) for a subspace of rank %d".formatted(whose, rows, active.rank());
        }
        return eigenspace(whose, active);
    }

    static @Nullable String eigenspace(String whose, ActiveSubspace active) {
        if (active.isIdentified()) {
            return null;
        }
        int rank = active.rank();
        return ("eigenvalues %d and %d of %s are equal to rounding (%s and %s): "
                        + "its leading %d directions are not determined")
                .formatted(rank, rank + 1, whose, active.eigenvalue(rank), active.eigenvalue(rank + 1), rank);
    }

    static @Nullable String explainer(ExplainerSubspace explainer) {
        if (explainer.isIdentified()) {
            return null;
        }
        int rank = explainer.rank();
        if (explainer.decoderRank() < rank) {
            return "the decoder has rank %d, below the configured rank %d".formatted(explainer.decoderRank(), rank);
        }
        return ("singular values %d and %d of the decoder are equal to rounding (%s and %s): "
                                + "its leading %d directions are ")
                        .formatted(
                                rank, rank + 1, explainer.singularValue(rank), explainer.singularValue(rank + 1), rank)
                + "not determined";
    }
}
