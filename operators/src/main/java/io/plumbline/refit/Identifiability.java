package io.plumbline.refit;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Matrix;
import org.jspecify.annotations.Nullable;

/** Says whether a window and a decoder determine Step 1, and whether rows belong to a decoder at all. */
public final class Identifiability {

    private Identifiability() {}

    /** Returns why a rank-r rotation is not determined, or null when it is. */
    static @Nullable String undecided(ExplainerSubspace subspace, ActiveSubspace window, int rows) {
        int rank = window.rank();
        String reason = undecided(subspace, rank);
        return reason != null || window.isIdentified()
                ? reason
                : "eigenvalues %d and %d of the window (%d rows) are equal: its rank-%d subspace is not identified"
                        .formatted(rank, rank + 1, rows, rank);
    }

    /**
     * Returns why the dictionary's part of a rank-r rotation is not determined, or null when it is. At r = d nothing
     * else is needed.
     */
    public static @Nullable String undecided(ExplainerSubspace subspace, int rank) {
        ExplainerSubspace asked = subspace.ofRank(rank);
        if (asked.decoderRank() < rank) {
            return "the decoder has rank %d, below the rank %d of the subspace asked for"
                    .formatted(asked.decoderRank(), rank);
        }
        if (!asked.isIdentified()) {
            return "singular values %d and %d of the decoder are equal: its rank-%d subspace is not identified"
                    .formatted(rank, rank + 1, rank);
        }
        return null;
    }

    /** Throws where rows do not belong to the decoder, or there are none. */
    public static void requireShapes(Decoder trained, ExplainerSubspace subspace, SparseCodes codes, Matrix targets) {
        if (codes.rows() != targets.rows()
                || codes.rows() == 0
                || codes.features() != trained.features()
                || targets.columns() != trained.dimension()
                || subspace.dimension() != trained.dimension()) {
            throw new IllegalArgumentException(("codes %d x %d, targets %d x %d, a subspace of dimension %d: "
                            + "expected rows x %d codes and rows x %d targets")
                    .formatted(
                            codes.rows(),
                            codes.features(),
                            targets.rows(),
                            targets.columns(),
                            subspace.dimension(),
                            trained.features(),
                            trained.dimension()));
        }
    }
}
