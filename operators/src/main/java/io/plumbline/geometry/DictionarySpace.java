package io.plumbline.geometry;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.linalg.kernel.DoublePanel;
import io.plumbline.linalg.kernel.UpdateKernels;
import io.plumbline.parallel.Cores;
import org.jspecify.annotations.Nullable;

/**
 * The leading directions of a dictionary where only they are wanted: the eigenspace of {@code W W^T}, d x d, proven to
 * a sine of 1e-4 at most ({@link ActiveSubspace#leadingOnly}).
 *
 * <p>Its eigenvalues are squares of singular values: those below 1e-8 of the largest cannot be told from 0, and count
 * as equal. {@link ExplainerSubspace} can have all of them, to rounding, which takes ten times as long and more.
 */
public final class DictionarySpace {

    /** The number of parts that are summed on their own, so that the sum does not depend on the number of threads. */
    private static final int PARTS = 4;

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

    /** Returns {@code W W^T} from weights as on file; {@code k d^2} flops in float64. */
    public static Matrix gram(Weights weights) {
        int d = weights.columns();
        int features = (weights.rows() + PARTS - 1) / PARTS;
        double[][] states = new double[PARTS][];
        Cores.each(PARTS, part -> {
            double[] state = new double[d + d * (d + 1) / 2];
            double[] row = new double[d];
            DoublePanel panel = UpdateKernels.kernel().doubles(d, DoublePanel.ROWS);
            for (int j = part * features; j < Math.min((part + 1) * features, weights.rows()); j++) {
                weights.copyTo(j * d, row, 0, d);
                panel.add(row, 0);
                if (panel.isFull()) {
                    panel.drainTo(state);
                }
            }
            panel.drainTo(state);
            states[part] = state;
        });
        Matrix gram = Matrix.zeros(d, d);
        for (int i = 0, at = d; i < d; i++) {
            for (int j = 0; j <= i; j++, at++) {
                double sum = 0.0;
                for (double[] state : states) {
                    sum += state[at];
                }
                gram.set(i, j, sum);
                gram.set(j, i, sum);
            }
        }
        return gram;
    }
}
