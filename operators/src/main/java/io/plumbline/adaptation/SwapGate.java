package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.geometry.FaithfulnessGap;
import io.plumbline.moments.SecondMoment;
import java.util.Locale;

/**
 * The last check before a refit goes into service: on rows it was not fitted on, its FVU must be lower by the given share
 * and its gap must not have grown.
 *
 * <p>Both gaps are measured anew, at the rank the site is watched at, against the active subspace of the held-out rows;
 * the gap that Step 1 closes by construction is not evidence. Rows that do not identify such a subspace, or a decoder
 * whose own is not identified, mean refusal: what cannot be checked is not published.
 *
 * <p>When the same rows also chose between candidates the improvement is slightly optimistic; with a dozen candidates and
 * hundreds of rows that is well below the default of 5 %.
 *
 * @param minimumImprovement share of the FVU in service that must go, in [0, 1)
 */
public record SwapGate(double minimumImprovement) {

    public static final double DEFAULT_MINIMUM_IMPROVEMENT = 0.05;

    /** Two gaps of one subspace computed from different bases differ by rounding. */
    private static final double GAP_ROUNDING = 1e-9;

    public SwapGate {
        if (!(minimumImprovement >= 0.0 && minimumImprovement < 1.0)) {
            throw new IllegalArgumentException(
                    "minimum improvement = %s: expected a share in [0, 1); 0.05 asks for a 5 %% lower FVU"
                            .formatted(minimumImprovement));
        }
    }

    /** Two decompositions of d x d and two passes over the weights, {@code 2 k d^2} flops each. */
    public GateDecision judge(Decoder current, Decoder proposed, SampleRows heldOut, int rank) {
        ActiveSubspace active = ActiveSubspace.topEigenspace(SecondMoment.of(heldOut.targets()), rank);
        ExplainerSubspace before = ExplainerSubspace.ofWeights(current.weights(), rank);
        ExplainerSubspace after = ExplainerSubspace.ofWeights(proposed.weights(), rank);
        boolean measurable = active.isIdentified() && before.isIdentified() && after.isIdentified();
        GateDecision.Figures figures = new GateDecision.Figures(
                rank,
                Reconstruction.of(current, heldOut.codes(), heldOut.targets()),
                Reconstruction.of(proposed, heldOut.codes(), heldOut.targets()),
                measurable ? gap(active, before) : null,
                measurable ? gap(active, after) : null);
        return decide(figures);
    }

    /** The rule alone, on numbers measured elsewhere. */
    GateDecision decide(GateDecision.Figures figures) {
        // Written so that NaN refuses.
        if (!(figures.improvement() > 0.0 && figures.improvement() >= minimumImprovement)) {
            return new GateDecision.Refuse(
                    figures,
                    String.format(
                            Locale.ROOT,
                            "held-out FVU %.4f -> %.4f: %.1f %% lower, expected at least %.1f %%",
                            figures.before().fvu(),
                            figures.after().fvu(),
                            100.0 * figures.improvement(),
                            100.0 * minimumImprovement));
        }
        if (figures.gapBefore() == null || figures.gapAfter() == null) {
            return new GateDecision.Refuse(
                    figures,
                    "the gap on the %d held-out rows cannot be measured: a subspace of rank %d is not identified"
                            .formatted(figures.before().rows(), figures.rank()));
        }
        if (figures.gapAfter() > figures.gapBefore() + GAP_ROUNDING) {
            return new GateDecision.Refuse(
                    figures,
                    String.format(
                            Locale.ROOT,
                            "held-out gap of rank %d grew from %.4f to %.4f",
                            figures.rank(),
                            figures.gapBefore(),
                            figures.gapAfter()));
        }
        return new GateDecision.Publish(figures);
    }

    private static double gap(ActiveSubspace active, ExplainerSubspace explainer) {
        return FaithfulnessGap.between(active.subspace(), explainer.subspace()).value();
    }
}
