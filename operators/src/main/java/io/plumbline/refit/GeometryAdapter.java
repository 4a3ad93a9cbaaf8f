package io.plumbline.refit;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.geometry.Identification;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.moments.SecondMoment;
import io.plumbline.parallel.Cores;
import org.jspecify.annotations.Nullable;

/**
 * The Geometry-Adaptive Explainer as the paper has it, for one setting: {@link StepOne} rotates the dictionary onto the
 * window's active subspace, {@link StepTwo} refits it there by a ridge regression of the targets on the codes.
 *
 * <p>The paper leaves open which bias goes with an interpolated decoder; here it is always {@code mean y - W mean z}
 * for the W that is returned.
 *
 * <p><b>The gap is not 0 afterwards.</b> Step 1 closes it to the rows it was fitted on; Step 2 opens it again, and on
 * other rows both show the sampling error of the window. Measure it there.
 *
 * <p><b>Cost.</b> An eigendecomposition of d x d, {@code N^3/3} flops for each ridge level (two as printed),
 * {@code 2 N^2} for each right-hand side (d outside the window's subspace, 2 r inside), {@code 4 k d r} to turn the
 * dictionary. <b>Size.</b> {@code 16 N^2} bytes and {@code 16 k d} for the rotated and the refitted decoder, which are
 * not rounded. Stateless; any number of threads.
 */
public final class GeometryAdapter {

    /** Columns of the bias that one thread takes at a time: a column's sum stays in its order. */
    private static final int COLUMNS = 384;

    private GeometryAdapter() {}

    /**
     * Fits one decoder with given settings.
     *
     * @param trained the decoder as trained: rotations start from it, never from an earlier adaptation
     * @param trainedSubspace of the trained decoder, at any rank: all its singular vectors are used
     * @param codes N rows of codes, and {@code targets} (N x d) what the decoder should give for them
     * @throws IllegalArgumentException if shapes differ, or no preservation weight is given without more rows than
     *     features
     */
    public static Adaptation adapt(
            Decoder trained,
            ExplainerSubspace trainedSubspace,
            SparseCodes codes,
            Matrix targets,
            GaeSettings settings) {
        requireShapes(trained, trainedSubspace, codes, targets);
        int rank = settings.rank();
        Regularisation absolute = settings.regularisation().inUnitsOf(codes);
        if (settings.refits() && absolute.preservation() == 0.0) {
            RidgeLevels.requireRowsForNoRidge(codes);
        }
        ActiveSubspace active = ActiveSubspace.topEigenspace(SecondMoment.of(targets), rank);
        String reason = undecided(trained, trainedSubspace, active, codes.rows());
        if (reason != null) {
            return new Adaptation.Undecided(reason);
        }
        StepOne stepOne = StepOne.of(trainedSubspace, active, settings.rotation());
        SettingsFit turned = SettingsFit.stepOneOnly(stepOne, codes.rows(), trained.dimension());
        Decoder rotated = withBias(turned.weights(trained.weights(), codes, null), codes, targets);
        if (!settings.refits()) {
            return new Adaptation.Adapted(rotated, rotated, active, stepOne.alignment(), absolute);
        }
        Matrix product = SparseProducts.multiply(codes, trained.weights());
        RidgeLevels levels = RidgeLevels.of(codes, targets, product);
        try {
            SettingsFit fit = SettingsFit.of(stepOne, settings.alpha(), absolute, levels);
            Decoder decoder = withBias(fit.weights(trained.weights(), codes, null), codes, targets);
            return new Adaptation.Adapted(decoder, rotated, active, stepOne.alignment(), absolute);
        } catch (ArithmeticException e) {
            return new Adaptation.Undecided(RidgeLevels.singular(absolute, e));
        }
    }

    /** Returns why a rank-r rotation is not determined, or null when it is. */
    static @Nullable String undecided(Decoder trained, ExplainerSubspace subspace, ActiveSubspace window, int rows) {
        int rank = window.rank();
        String reason = undecided(trained, subspace, rank);
        return reason != null || window.isIdentified()
                ? reason
                : "eigenvalues %d and %d of the window (%d rows) are equal: its rank-%d subspace is not identified"
                        .formatted(rank, rank + 1, rows, rank);
    }

    /**
     * Returns why the dictionary's part of a rank-r rotation is not determined, or null when it is. At r = d nothing
     * else is needed.
     */
    public static @Nullable String undecided(Decoder trained, ExplainerSubspace subspace, int rank) {
        if (subspace.decoderRank() < rank) {
            return "the decoder has rank %d, below the rank %d of the subspace asked for"
                    .formatted(subspace.decoderRank(), rank);
        }
        if (!Identification.separated(
                subspace.singularValues(), rank, Math.max(trained.features(), trained.dimension()))) {
            return "singular values %d and %d of the decoder are equal: its rank-%d subspace is not identified"
                    .formatted(rank, rank + 1, rank);
        }
        return null;
    }

    /** Returns the decoder with these weights whose errors have mean 0 on these rows. */
    static Decoder withBias(Weights weights, SparseCodes codes, Matrix targets) {
        return withBias(weights, codes, SparseProducts.columnMeans(targets));
    }

    /** Returns the decoder with these weights whose errors have mean 0 on rows whose targets have this mean. */
    static Decoder withBias(Weights weights, SparseCodes codes, double[] targetMean) {
        double[] bias = targetMean.clone();
        double[] mean = codes.mean();
        Cores.each((bias.length + COLUMNS - 1) / COLUMNS, 2.0 * mean.length * bias.length, part -> {
            int from = part * COLUMNS;
            int count = Math.min(COLUMNS, bias.length - from);
            for (int j = 0; j < mean.length; j++) {
                if (mean[j] != 0.0) {
                    weights.addRow(-mean[j], j, from, count, bias, from);
                }
            }
        });
        return new Decoder(weights, bias);
    }

    /** Throws where rows do not belong to the decoder, or there are none. */
    public static void requireShapes(Decoder trained, ExplainerSubspace subspace, SparseCodes codes, Matrix targets) {
        if (codes.rows() != targets.rows()
                || codes.rows() == 0
                || codes.features() != trained.features()
                || targets.columns() != trained.dimension()
                || subspace.dimension() != trained.dimension()) {
            throw new IllegalArgumentException(
                    "codes %d x %d, targets %d x %d, a subspace of dimension %d: expected rows x %d codes and rows x %d targets"
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
