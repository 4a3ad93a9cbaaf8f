package io.plumbline.geometry;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Svd;
import io.plumbline.linalg.TriangularFactor;

/**
 * The directions a dictionary writes in: the span of the {@code rank} leading left singular vectors of the d x k
 * decoder matrix (the paper's {@code Π_dec}).
 *
 * <p><b>Depends on the gauge.</b> Scaling a feature up in the encoder and down in the decoder leaves a ReLU explainer
 * unchanged and moves this subspace. The file's own scale is used.
 *
 * <p>Depends on the trained decoder only: compute it once ({@link SubspaceCache} keeps it). {@code 2 k d^2} flops and a
 * d x d SVD; 3 s of one core at d = 768, k = 24,576. Immutable; safe for any number of threads as long as nobody writes
 * to the arrays it hands out.
 */
public final class ExplainerSubspace {

    private final double[] singularValues;
    private final Matrix leftVectors;
    private final Subspace subspace;
    private final int decoderRank;
    private final int size;

    /**
     * @param singularValues d, descending
     * @param leftVectors d x d, one column each
     */
    ExplainerSubspace(double[] singularValues, Matrix leftVectors, int features, int rank) {
        ActiveSubspace.requireRank(rank, leftVectors.rows());
        this.singularValues = singularValues;
        this.leftVectors = leftVectors;
        this.subspace = new Subspace(leftVectors.leadingColumns(rank));
        this.size = Math.max(features, leftVectors.rows());
        double smallest = Identification.roundingOf(singularValues[0], size);
        int nonZero = 0;
        while (nonZero < singularValues.length && singularValues[nonZero] > smallest) {
            nonZero++;
        }
        this.decoderRank = nonZero;
    }

    /**
     * Returns the directions that reconstructions take where no decoder is known: the leading ones of their moment.
     *
     * @param moment {@code E[yhat yhat^T]}, d x d
     */
    public static ExplainerSubspace ofReconstructions(Matrix moment, int rank) {
        ActiveSubspace directions = ActiveSubspace.topEigenspace(moment, rank);
        double[] roots = directions.eigenvalues().clone();
        for (int i = 0; i < roots.length; i++) {
            roots[i] = Math.sqrt(Math.max(0.0, roots[i]));
        }
        return new ExplainerSubspace(roots, directions.eigenvectors(), moment.rows(), rank);
    }

    /** The leading directions of a decoder; {@code rank} in 1 .. d. */
    public static ExplainerSubspace of(Decoder decoder, int rank) {
        return ofWeights(decoder.weights().toMatrix(), rank);
    }

    /**
     * The leading directions of dictionary weights as they lie on file.
     *
     * @param weights k x d, row j = what feature j writes
     * @param rank in 1 .. d
     */
    public static ExplainerSubspace ofWeights(Matrix weights, int rank) {
        ActiveSubspace.requireRank(rank, weights.columns());
        if (weights.rows() == 0) {
            throw new IllegalArgumentException("a decoder without features has no directions");
        }
        // W = (file)^T, so the left singular vectors of W are the right ones of the rows on file, and of their R.
        Svd triangle = Svd.of(TriangularFactor.of(weights));
        return new ExplainerSubspace(triangle.values(), triangle.right(), weights.rows(), rank);
    }

    public Subspace subspace() {
        return subspace;
    }

    public int rank() {
        return subspace.rank();
    }

    public int dimension() {
        return subspace.dimension();
    }

    /** d singular values, descending; with k < d the last d - k are 0. Not copied. */
    public double[] singularValues() {
        return singularValues;
    }

    /**
     * All left singular vectors, d x d, one column each. Not copied. Those past {@link #decoderRank()} are any basis.
     */
    public Matrix leftVectors() {
        return leftVectors;
    }

    /** Number of singular values that are not zero to rounding. */
    public int decoderRank() {
        return decoderRank;
    }

    /** Returns whether the weights determine this subspace: rank W >= r, and no repeated singular value at r. */
    public boolean isIdentified() {
        return decoderRank >= rank() && Identification.separated(singularValues, rank(), size);
    }
}
