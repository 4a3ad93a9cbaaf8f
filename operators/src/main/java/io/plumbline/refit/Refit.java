package io.plumbline.refit;

import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Matrix;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One setting of the Geometry-Adaptive Explainer whose levels are solved: {@link StepOne} rotates the dictionary,
 * {@link StepTwo} refits it. Its figures need no k x d matrix.
 *
 * <p>It is handed out by {@link PlannedRefits} and is not to be kept: it holds the solutions of a level. One thread.
 */
public final class Refit {

    private final FittedRows rows;
    private final StepOne stepOne;
    private final StepTwo stepTwo;
    private final @Nullable Level level;
    private final @Nullable Matrix inside;

    /**
     * The level of what is fitted outside the window's subspace, which all of its settings share.
     *
     * @param images what it gives for each of {@link FittedRows#sets}
     */
    record Level(Solutions solutions, List<Solutions.Image> images) {}

    /**
     * @param level null where Step 2 is left out
     * @param inside C of {@link StepTwo}, N x r; null where nothing is rotated
     */
    Refit(FittedRows rows, StepOne stepOne, StepTwo stepTwo, @Nullable Level level, @Nullable Matrix inside) {
        this.rows = rows;
        this.stepOne = stepOne;
        this.stepTwo = stepTwo;
        this.level = level;
        this.inside = inside;
    }

    /** Returns the refit whose result is the rotated decoder with a new bias. */
    static Refit withoutStepTwo(FittedRows rows, StepOne stepOne) {
        return new Refit(rows, stepOne, StepTwo.leftOut(stepOne), null, null);
    }

    /** Returns how well the refit gives back the rows fitted on, and then each set of other rows. */
    public List<Reconstruction> score() {
        List<Reconstruction> figures = new ArrayList<>();
        for (int set = 0; set < rows.sets().size(); set++) {
            figures.addAll(stepTwo.score(rows.sets().get(set), terms(set)));
        }
        return figures;
    }

    private StepTwo.@Nullable Terms terms(int set) {
        return level == null
                ? null
                : new StepTwo.Terms(
                        level.images().get(set),
                        inside == null ? null : rows.sets().get(set).times(inside));
    }

    /** Returns what the decoder is made of. It holds nothing of this refit and may be kept. */
    public FittedDecoder fitted() {
        return new FittedDecoder(rows, fit(), null);
    }

    /**
     * Returns what the decoder is made of, with {@code W W^T} from its factors in place of {@code k d^2} flops.
     *
     * @param trained the trained decoder's subspace
     */
    public FittedDecoder fitted(ExplainerSubspace trained) {
        SettingsFit fit = fit();
        StepTwo.Terms terms = terms(0);
        Matrix image = terms == null ? null : sum(terms);
        return new FittedDecoder(rows, fit, fit.gram(trained, rows.centred().trained(), image));
    }

    private SettingsFit fit() {
        Matrix dual =
                level == null ? null : sum(new StepTwo.Terms(level.solutions().duals(), inside));
        if (dual != null) {
            // The means are zero on paper; without this the rounding of a large mean code would enter through them.
            SparseProducts.centre(dual);
        }
        return new SettingsFit(stepOne, stepTwo.outerShare(), dual);
    }

    private Matrix sum(StepTwo.Terms terms) {
        Matrix targets = rows.centred().targets();
        return stepTwo.of(terms, targets.rows(), targets.columns());
    }
}
