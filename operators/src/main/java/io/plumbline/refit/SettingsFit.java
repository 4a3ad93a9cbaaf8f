package io.plumbline.refit;

import io.plumbline.explainer.SparseCodes;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.parallel.Cores;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The result of one setting in factors: {@code W = (D rotated) + Z^T dual}, with weights D as on file, see
 * {@link StepTwo}.
 *
 * @param outerShare of what Step 1 put outside the window's subspace
 * @param dual N x d; its columns have mean 0, so {@code Z^T dual = Zc^T dual}. Null where Step 2 is left out
 */
record SettingsFit(
        StepOne stepOne, double outerShare, @Nullable Matrix dual) {

    /**
     * Features whose weights are made together: 200 KB of them at d = 768, 500 KB at 2,048, which stay in a
     * second-level cache.
     */
    private static final int BLOCK = 32;

    /** Blocks that one thread makes in the same place before it takes others. */
    private static final int BLOCKS = 16;

    /** Returns whether the weights are the trained ones. */
    boolean keepsWeights() {
        return stepOne.isIdentity() && dual == null;
    }

    /**
     * Returns {@code W W^T}, d x d, of the paper's W. With D~ the rotated weights as on file it is
     * {@code D~^T D~ + B + B^T + dual^T K dual}, {@code B = (Z D~)^T dual}. {@code N d^2} flops below full rank, else
     * {@code 2 N d^2}.
     *
     * @param trainedProduct {@code Zc D}
     * @param image {@code K dual}, N x d; null where Step 2 is left out
     */
    Matrix gram(ExplainerSubspace trained, Matrix trainedProduct, @Nullable Matrix image) {
        Matrix gram = stepOne.products(trained, outerShare);
        if (dual == null || image == null) {
            return gram;
        }
        Matrix narrow = stepOne.narrowProducts(dual, trainedProduct);
        if (narrow != null) {
            gram.addWithTranspose(narrow);
            gram.addWithTranspose(Kernels.halfOfSymmetricProduct(image, dual));
            return gram;
        }
        // B and half of the last term; with its transpose this is all that is not D~^T D~.
        Matrix learnt = stepOne.rotate(trainedProduct, outerShare);
        Kernels.addScaled(0.5, image.values(), 0, learnt.values(), 0, image.values().length);
        gram.addWithTranspose(Kernels.transposeMultiply(learnt, dual));
        return gram;
    }

    /**
     * The weights as on file, k x d. In float64 block by block, and rounded before they are put down: there is one
     * matrix of that size beside the trained one, in the size of the type it is rounded to. {@code 2 nonZeros d} flops,
     * below full rank {@code 4 k d r} more, for the full-rank rotation {@code 2 k d^2}.
     *
     * @param rounding null to keep them as they are computed
     * @throws ArithmeticException if the type they are rounded to cannot hold one
     */
    Weights weights(Weights trained, SparseCodes codes, @Nullable Rounding rounding) {
        int d = trained.columns();
        WeightsBuilder weights = new WeightsBuilder(trained.rows(), d, rounding);
        LearntRows learnt = dual == null ? null : new LearntRows(codes, dual);
        Supplier<UnaryOperator<Matrix>> turn = stepOne.turn(outerShare, trained.rows());
        int part = BLOCK * BLOCKS;
        Cores.each((trained.rows() + part - 1) / part, index -> {
            UnaryOperator<Matrix> turned = turn.get();
            Matrix room = Matrix.zeros(0, 0);
            double[] feature = new double[d];
            int end = Math.min((index + 1) * part, trained.rows());
            for (int from = index * part; from < end; from += BLOCK) {
                int count = Math.min(BLOCK, end - from);
                room = room.rows() == count ? room : Matrix.zeros(count, d);
                trained.copyTo(from * d, room.values(), 0, count * d);
                Matrix block = turned.apply(room);
                for (int i = 0; i < count; i++) {
                    if (learnt != null && learnt.has(from + i)) {
                        System.arraycopy(block.values(), i * d, feature, 0, d);
                        learnt.addTo(from + i, feature);
                        System.arraycopy(feature, 0, block.values(), i * d, d);
                    }
                }
                weights.put(from, block);
            }
        });
        return weights.build();
    }
}
