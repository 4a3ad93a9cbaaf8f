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
 * <p><b>How it is computed.</b> {@link RidgeLevels} solve both systems for {@code Yc} and {@code Zc D}, which no
 * setting changes. {@link #of} adds these solutions up after d x r matrices: of the solutions themselves this is the
 * dual ({@link SettingsFit}), of what they give for some rows it is what the refit adds there. Of the system of the
 * inside only the r columns of V are needed.
 *
 * <p>Rows are worked on in blocks that stay in a cache, shared out among the cores: {@code 4 n d r} flops, for the
 * full-rank rotation {@code 2 n d^2} more.
 */
final class StepTwo {

    private static final int BLOCK = 64;

    private final StepOne stepOne;
    private final boolean refits;
    private final double share;
    private final double shrink;
    private final double outerShare;
    private final @Nullable PackedMatrix out;
    private final @Nullable PackedMatrix outside;

    private StepTwo(StepOne stepOne, double alpha, double shrink) {
        this.stepOne = stepOne;
        this.refits = alpha < 1.0;
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
        double inner = absolute.preservation();
        double outer = inner + absolute.geometric();
        // Without any weight the refit forgets the rotated decoder, whatever the factor.
        return new StepTwo(stepOne, alpha, outer > 0.0 ? inner / outer : 0.0);
    }

    /** Returns the formula of a decoder that is rotated and not refitted. */
    static StepTwo leftOut(StepOne stepOne) {
        return new StepTwo(stepOne, 1.0, 0.0);
    }

    /** Returns the share that the result keeps of what Step 1 put outside the window's subspace. */
    double outerShare() {
        return outerShare;
    }

    /** Returns the refit's part, n x d. */
    Matrix of(Solutions inner, Solutions outer) {
        Rows rows = new Rows(inner, outer, null);
        Matrix all = Matrix.zeros(rows.count, rows.width);
        each(rows.count, (from, to) -> {
            double[] block = rows.block(from, to).values();
            System.arraycopy(block, 0, all.values(), from * rows.width, block.length);
        });
        return all;
    }

    /** Returns how well the rotated decoder and the refit's part give back these rows, each set of them. */
    List<Reconstruction> score(RefitRows rows, @Nullable Solutions inner, @Nullable Solutions outer) {
        Matrix targets = rows.targets();
        Rows predictions = new Rows(inner, outer, rows.trained());
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
    private final class Rows {

        private final int count;
        private final int width;
        /** All of the refit's part at full rank, else what is there without a rotation; null where Step 1 is all. */
        private final @Nullable Matrix refit;
        /** The product of the outside with {@code trained}. */
        private final @Nullable Matrix solvedTrained;
        /** The part inside, n x r, to be multiplied by V^T. */
        private final @Nullable Matrix inside;

        private final @Nullable Matrix trained;

        private Rows(@Nullable Solutions inner, @Nullable Solutions outer, @Nullable Matrix trained) {
            Matrix turn = stepOne.turn();
            Matrix basis = stepOne.basis();
            this.trained = trained;
            if (!refits || inner == null || outer == null) {
                this.refit = null;
                this.solvedTrained = null;
                this.inside = turn == null || trained == null ? null : Kernels.multiply(trained, turn);
            } else if (turn == null || basis == null) {
                this.refit = inner.residual();
                this.solvedTrained = null;
                this.inside = null;
            } else {
                this.refit = outer.targets();
                this.solvedTrained = outside == null || shrink == 0.0 ? null : outer.trained();
                Matrix solved = inner.trainedTimes(turn);
                if (inner != outer) {
                    solved = solved.minus(inner.targetsTimes(basis)).plus(1.0, outer.targetsTimes(basis));
                }
                Matrix before = trained == null
                        ? Matrix.zeros(solved.rows(), solved.columns())
                        : Kernels.multiply(trained, turn);
                this.inside = before.plus(-share, solved);
            }
            Matrix shape = refit != null ? refit : trained != null ? trained : Matrix.zeros(0, 0);
            this.count = shape.rows();
            this.width = shape.columns();
        }

        private Matrix block(int from, int to) {
            Matrix sum = Matrix.zeros(to - from, width);
            add(share, refit, from, sum);
            if (out == null) {
                add(1.0, trained, from, sum);
                return sum;
            }
            if (outside != null) {
                Matrix left = Matrix.zeros(to - from, width);
                add(outerShare, trained, from, left);
                add(-share * shrink, solvedTrained, from, left);
                outside.addProduct(left.view(), sum.values());
            }
            if (inside != null) {
                out.addProduct(inside.rowsView(from, to), sum.values());
            }
            return sum;
        }

        private void add(double factor, @Nullable Matrix matrix, int from, Matrix sum) {
            if (matrix != null && factor != 0.0) {
                Kernels.addScaled(factor, matrix.values(), from * width, sum.values(), 0, sum.values().length);
            }
        }
    }
}
