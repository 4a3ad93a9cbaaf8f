package io.plumbline.refit;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Holds what refits start from: the trained decoder, the rows to fit on, and Step 1 of each rank and rotation that was
 * asked for.
 *
 * <p>It outlives the {@link SharedSolutions} that are made from it, which take most of the memory. <b>Size</b> beside
 * the rows: one d x d moment, and {@code 16 d r} bytes for each Step 1. One owner, who may change; different settings
 * may be prepared by two threads.
 */
public final class RefitInputs {

    private final Decoder trained;
    private final ExplainerSubspace trainedSubspace;
    private final WindowDirections window;
    private final SampleRows fit;
    private final @Nullable SampleRows anchor;
    private final SparseCodes codes;
    private final Map<RankAndRotation, StepOne> stepOnes = new ConcurrentHashMap<>();

    private record RankAndRotation(int rank, Rotation rotation) {}

    /**
     * Collects them; nothing is computed yet.
     *
     * @param trained the decoder as trained; every refit starts from it
     * @param trainedSubspace of the trained decoder, at any rank: all its singular vectors are used
     * @param window rows whose leading directions Step 1 rotates onto, n x d
     * @param fit rows of the window to fit on
     * @param anchor rows to fit on before them, with the trained decoder's own answers as targets; null where there are
     *     none
     */
    public RefitInputs(
            Decoder trained,
            ExplainerSubspace trainedSubspace,
            Matrix window,
            SampleRows fit,
            @Nullable SampleRows anchor) {
        this.trained = trained;
        this.trainedSubspace = trainedSubspace;
        this.window = new WindowDirections(window);
        this.fit = fit;
        this.anchor = anchor;
        this.codes = anchor == null ? fit.codes() : anchor.codes().and(fit.codes());
    }

    /** Returns what solves Step 2 for these rows, to be dropped as soon as it is no longer asked. */
    public SharedSolutions solutions() {
        return new SharedSolutions(this);
    }

    /** Returns whether Step 1 rotates anything with these settings; at full rank it is the identity. */
    public boolean rotates(GaeSettings settings) {
        return settings.rank() < trained.dimension();
    }

    /**
     * Returns Step 1 with these settings.
     *
     * @throws ArithmeticException if the rows or the trained decoder do not determine it
     */
    StepOne stepOne(GaeSettings settings) {
        RankAndRotation key = new RankAndRotation(settings.rank(), settings.rotation());
        StepOne known = stepOnes.get(key);
        if (known == null) {
            known = stepOne(settings.rank(), settings.rotation());
            stepOnes.put(key, known);
        }
        return known;
    }

    private StepOne stepOne(int rank, Rotation rotation) {
        ActiveSubspace active = rank == trained.dimension() ? null : window.at(rank);
        String reason = active == null
                ? GeometryAdapter.undecided(trained, trainedSubspace, rank)
                : GeometryAdapter.undecided(trained, trainedSubspace, active, codes.rows());
        if (reason != null) {
            throw new ArithmeticException(reason);
        }
        return active == null ? StepOne.identity(trainedSubspace) : StepOne.of(trainedSubspace, active, rotation);
    }

    /** Returns Step 1 where it is determined, else null: whoever fits with these settings is told why. */
    @Nullable
    StepOne determinedStepOne(GaeSettings settings) {
        try {
            return stepOne(settings);
        } catch (ArithmeticException undetermined) {
            return null;
        }
    }

    /** Makes Step 1 with these settings ahead, beside those that rotate nothing, which may be fitted meanwhile. */
    public void prepareStepOne(GaeSettings settings) {
        if (rotates(settings)) {
            determinedStepOne(settings);
        }
    }

    /** Returns {@code Z D} of the rows fitted on. */
    Matrix product() {
        return SparseProducts.multiply(codes, trained.weights());
    }

    /** Returns the targets of the rows fitted on, a matrix that nobody else holds, given their {@link #product}. */
    Matrix targets(Matrix product) {
        if (anchor == null) {
            return fit.targets().copy();
        }
        int d = trained.dimension();
        Matrix targets = Matrix.zeros(codes.rows(), d);
        double[] answers = targets.values();
        int answered = anchor.rows() * d;
        System.arraycopy(product.values(), 0, answers, 0, answered);
        for (int i = 0; i < answered; i += d) {
            Kernels.addScaled(1.0, trained.bias(), 0, answers, i, d);
        }
        System.arraycopy(fit.targets().values(), 0, answers, answered, answers.length - answered);
        return targets;
    }

    /** Returns how many of the rows fitted on, the first ones, have the trained decoder's answers as targets. */
    int answered() {
        return anchor == null ? 0 : anchor.rows();
    }

    /** Returns how well any decoder gives back the rows fitted on. */
    Reconstruction score(Decoder decoder) {
        return Reconstruction.of(decoder, codes, anchor == null ? fit.targets() : targets(product()));
    }

    /** Returns whether this is the trained decoder. */
    public boolean isTrained(Decoder decoder) {
        return decoder.equals(trained);
    }

    Decoder trained() {
        return trained;
    }

    ExplainerSubspace trainedSubspace() {
        return trainedSubspace;
    }

    WindowDirections window() {
        return window;
    }

    /** Returns the codes of the rows fitted on. */
    SparseCodes codes() {
        return codes;
    }
}
