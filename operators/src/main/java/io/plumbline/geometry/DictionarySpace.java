package io.plumbline.geometry;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import org.jspecify.annotations.Nullable;

/**
 * The leading directions of a dictionary where only they are wanted: the eigenspace of {@code W W^T}, d x d, proven to
 * a sine of 1e-4 at most ({@link ActiveSubspace#leadingOnly}), and to as much again for the rounding of that matrix.
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
        Matrix gram = gram(decoder.weights());
        ActiveSubspace leading = ActiveSubspace.leadingOnly(gram, rank, null);
        double turned = rank == decoder.dimension()
                ? 0.0
                : sineOf(roundingOf(gram, decoder.features()), leading.provenEigengap());
        if (leading.isIdentified() && turned <= ExplainerSubspace.TOLERANCE) {
            return leading.subspace();
        }
        ExplainerSubspace all = ExplainerSubspace.of(decoder, rank);
        return all.isIdentified() ? all.subspace() : null;
    }

    /**
     * Returns the leading directions of a Gram matrix; null where they are not determined.
     *
     * @param gram {@code W W^T}, taken as it is
     */
    public static @Nullable Subspace of(Matrix gram, int rank) {
        return identified(ActiveSubspace.leadingOnly(gram, rank, null));
    }

    /** Returns the subspace; null where it is not determined. */
    public static @Nullable Subspace identified(ActiveSubspace leading) {
        return leading.isIdentified() ? leading.subspace() : null;
    }

    /**
     * Returns the bound of the Frobenius norm of what {@link #gram} is off: the sum of each entry over k features
     * rounds no product more than {@code n = 514 + k / 8} times, 513 within a block and those that add up sums of 8 at
     * least. So an entry errs by {@code n 2^-53 / (1 - n 2^-53)} of the sum of sizes, and all together by that share of
     * the trace (Higham, Accuracy and Stability, section 3.1).
     */
    static double roundingOf(Matrix gram, int features) {
        double share = (FEATURES + 2 + (features + 7) / 8) * 0x1p-53;
        return share / (1.0 - 2.0 * share) * gram.trace();
    }

    /**
     * Returns the bound of the sine by which an error turns an eigenspace (Davis and Kahan 1970,
     * doi:10.1137/0707001): {@code e / (gap - e)}, since the error moves the next eigenvalue too; infinite where it may
     * close the gap.
     *
     * @param error of the matrix, Frobenius norm
     * @param gap between the last eigenvalue and the next one of the matrix with its error, at least
     */
    static double sineOf(double error, double gap) {
        // Written so that NaN is caught.
        return gap > error ? error / (gap - error) : Double.POSITIVE_INFINITY;
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
