package io.plumbline.refit;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.kernel.PackedMatrix;
import io.plumbline.parallel.Cores;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Step 2: the ridge regression of the targets on the codes, towards the rotated decoder and into the window's subspace.
 *
 * <p><b>What is minimised</b>, over {@code W} and its bias, N rows, lg and lp the weights of {@link Regularisation}:
 *
 * <pre>
 * 1/N sum |y - W z - b|^2 + lg |(I - Pi) W|^2 + lp |W - W~|^2         Pi = V V^T, the window's subspace
 * </pre>
 *
 * <p><b>What solves it.</b> The bias takes the means out ({@code Yc}, {@code Zc}). Inside and outside of the subspace
 * the problem falls into two ridge regressions, each solved in its dual form with {@code K = Zc Zc^T}. With weights as
 * on file, {@code D~ = (D L) V^T} those of {@link StepOne} and {@code s = lp / (lp + lg)}:
 *
 * <pre>
 * inside    D~ V   + Zc^T (K + N lp I)^-1        (Yc -   Zc D~) V
 * outside s D~ V'  + Zc^T (K + N (lp + lg) I)^-1 (Yc - s Zc D~) V'    V' the complement of V
 * </pre>
 *
 * As printed {@code D~ V'} is 0; for the full-rank rotation it is not. A share alpha of the result is the rotated
 * decoder, unrefitted.
 *
 * <p><b>How it is computed.</b> With the {@link Solutions} T and R of the outside's level and
 *
 * <pre>
 * C = (K + N lp I)^-1 (Zc D L - Yc V) + T V       N x r, what is missing inside
 * </pre>
 *
 * the dual is {@code (1 - alpha) (T - s (T - R) P - C V^T)}; at full rank it is {@code (1 - alpha) R}. The same sum of
 * {@code K T}, {@code K R} and {@code K C} is what the refit adds on the rows fitted on; other rows have products of
 * their own with T, R and C.
 *
 * <p>Rows are worked on in blocks that stay in a cache, shared out among the cores: {@code 2 n d r} flops, for the
 * full-rank rotation {@code 2 n d^2} more. Any number of threads.
 */
final class StepTwo {

    private static final int BLOCK = 64;

    private final StepOne stepOne;
    private final double share;
    private final double shrink;
    private final double outerShare;
    private final @Nullable PackedMatrix out;
    private final @Nullable PackedMatrix outside;

    private StepTwo(StepOne stepOne, double alpha, double shrink) {
        this.stepOne = stepOne;
        this.share = 1.0 - alpha;
        this.shrink = shrink;
        this.outerShare = share * shrink + alpha;
        Matrix basis = stepOne.basis();
        Matrix complement = stepOne.outside();
        this.out = basis == null ? null : Kernels.pack(basis.transposedView(), Integer.MAX_VALUE);
        this.outside = complement == null ? null : Kernels.pack(complement.view(), Integer.MAX_VALUE);
    }

    /** @param absolute the weights in the units of Cov z */
    static StepTwo of(StepOne stepOne, double alpha, Regularisation absolute) {
        return new StepTwo(stepOne, alpha, absolute.shrink());
    }

    /** Returns the formula of a decoder that is rotated and not refitted. */
    static StepTwo leftOut(StepOne stepOne) {
        return new StepTwo(stepOne, 1.0, 0.0);
    }

    /** Returns the share that the result keeps of what Step 1 put outside the window's subspace. */
    double outerShare() {
        return outerShare;
    }

    /**
     * Applies solutions to n rows.
     *
     * @param image of T and R
     * @param inside of C, n x r; null at full rank
     */
    record Terms(Solutions.Image image, @Nullable Matrix inside) {}

    /** Returns the refit's part alone, n x d. */
    Matrix of(Terms terms, int rows, int width) {
        Sum sum = new Sum(terms, null, width);
        Matrix all = Matrix.zeros(rows, width);
        each(rows, (from, to) -> {
            double[] block = sum.block(from, to).values();
            System.arraycopy(block, 0, all.values(), from * width, block.length);
        });
        return all;
    }

    /** Returns how well the rotated decoder and the refit's part, if there is one, give back each set of rows. */
    List<Reconstruction> score(CentredRows rows, @Nullable Terms terms) {
        Matrix targets = rows.targets();
        Sum predictions = new Sum(terms, rows.trained(), targets.columns());
        double[] errors = new double[targets.rows()];
        each(targets.rows(), (from, to) -> {
            double[] block = predictions.block(from, to).values();
            int d = targets.columns();
            for (int row = from; row < to; row++) {
                double sum = 0.0;
                for (int j = 0; j < d; j++) {
                    double error = targets.values()[row * d + j] - block[(row - from) * d + j];
                    sum += error * error;
                }
                errors[row] = sum;
            }
        });
        return rows.scored(errors);
    }

    private interface Block {
        void accept(int from, int to);
    }

    private static void each(int rows, Block work) {
        Cores.each((rows + BLOCK - 1) / BLOCK, part -> work.accept(part * BLOCK, Math.min((part + 1) * BLOCK, rows)));
    }

    /** The sums over rows, with the narrow products done. */
    private final class Sum {

        private final @Nullable Terms terms;
        private final int width;
        private final @Nullable RowBlocks trained;
        /** The part inside, n x r, to be multiplied by V^T. */
        private final @Nullable Matrix inside;

        private Sum(@Nullable Terms terms, @Nullable Matrix trained, int width) {
            Matrix turn = stepOne.turn();
            Matrix rotated = trained == null || turn == null ? null : Kernels.multiply(trained, turn);
            Matrix learnt = terms == null ? null : terms.inside();
            this.terms = terms;
            this.width = width;
            this.trained = trained == null ? null : RowBlocks.of(trained);
            this.inside = learnt == null
                    ? rotated
                    : (rotated == null ? Matrix.zeros(learnt.rows(), learnt.columns()) : rotated).plus(-share, learnt);
        }

        private Matrix block(int from, int to) {
            Matrix sum = Matrix.zeros(to - from, width);
            if (terms != null) {
                (out == null ? terms.image().residual() : terms.image().targets()).addTo(sum, from, share);
            }
            if (out == null) {
                if (trained != null) {
                    trained.addTo(sum, from, 1.0);
                }
                return sum;
            }
            if (outside != null) {
                outside.addProduct(leftOutside(from, to).view(), sum.values());
            }
            if (inside != null) {
                out.addProduct(inside.rowsView(from, to), sum.values());
            }
            return sum;
        }

        /** Returns the rows that P is to turn. */
        private Matrix leftOutside(int from, int to) {
            Matrix left = Matrix.zeros(to - from, width);
            if (trained != null) {
                trained.addTo(left, from, outerShare);
            }
            if (terms != null && shrink != 0.0) {
                terms.image().targets().addTo(left, from, -share * shrink);
                terms.image().residual().addTo(left, from, share * shrink);
            }
            return left;
        }
    }
}
