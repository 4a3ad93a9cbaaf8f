package io.plumbline.geometry;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import org.jspecify.annotations.Nullable;

/**
 * The leading directions of a dictionary where only they are wanted: the eigenspace of {@code W W^T}, d x d, proven to
 * a sine of 1e-4 at most ({@link ActiveSubspace#leadingOnly}).
 *
 * <p>Its eigenvalues are squares of singular values: those below 1e-8 of the largest cannot be told from 0, and count
 * as equal. {@link ExplainerSubspace} can have all of them, to rounding, which takes ten times as long and more.
 */
public final class DictionarySpace {

    /** The number of features whose squares are added together. */
    private static final int FEATURES = 512;

    private DictionarySpace() {}

    /**
     * The leading directions of a decoder: as {@link ExplainerSubspace} has them where squares do not tell them from
     * the others; null where the decoder does not determine them at all. {@code k d^2} flops and {@code d^3}; in 1 ..
     * d.
     */
    public static @Nullable Subspace of(Decoder decoder, int rank) {
        ActiveSubspace.requireRank(rank, decoder.dimension());
        Subspace leading = of(gram(decoder.weights()), rank);
        if (leading != null) {
            return leading;
        }
        ExplainerSubspace all = ExplainerSubspace.of(decoder, rank);
        return all.isIdentified() ? all.subspace() : null;
    }

    /**
     * Returns the leading directions of a Gram matrix; null where they are not determined.
     *
     * @param gram {@code W W^T}
     */
    public static @Nullable Subspace of(Matrix gram, int rank) {
        return identified(ActiveSubspace.leadingOnly(gram, rank, null));
    }

    /** Returns the subspace; null where it is not determined. */
    public static @Nullable Subspace identified(ActiveSubspace leading) {
        return leading.isIdentified() ? leading.subspace() : null;
    }

    /**
     * Returns {@code W W^T} from weights as on file; {@code k d^2} flops in float64, and no more memory than it takes
     * itself: several of them would be gigabytes at d = 8,192.
     */
    public static Matrix gram(Weights weights) {
        int d = weights.columns();
        Matrix gram = Matrix.zeros(d, d);
        for (int from = 0; from < weights.rows(); from += FEATURES) {
            Matrix some = Matrix.zeros(Math.min(FEATURES, weights.rows() - from), d);
            weights.copyTo(from * d, some.values(), 0, some.values().length);
            Kernels.addSymmetricProduct(some.transpose(), some, gram);
        }
        Kernels.mirror(gram);
        return gram;
    }
}
