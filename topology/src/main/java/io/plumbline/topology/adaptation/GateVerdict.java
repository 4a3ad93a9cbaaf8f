package io.plumbline.topology.adaptation;

import io.plumbline.adaptation.Behaviour;
import io.plumbline.adaptation.GateDecision;
import io.plumbline.adaptation.GateTest;
import io.plumbline.adaptation.GatedAdaptation;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The findings of the gate, for reports and lineage.
 *
 * @param tests every test, passed or not, with its finding
 * @param improvement share of the held-out FVU taken away
 * @param improvementLower the lower end of its 95 % interval over requests; null where there is one request
 * @param improvementUpper the upper end of that interval; null where there is one request
 * @param requests held-out requests it was judged on
 * @param largestGap the largest possible gap at the watched rank
 * @param smallestCosine of a feature's column to its trained one
 * @param smallestNormRatio the smallest ratio of a column's length to its trained length
 * @param largestNormRatio the largest ratio of a column's length to its trained length
 * @param featuresBeyond how many features are beyond the limits
 * @param fvuInDistributionTrained of the trained decoder on rows of the baseline; null where it holds none
 * @param fvuInDistributionAfter of the proposed decoder on the same rows
 * @param klBefore KL of the model's output with the decoder in service, nats, on held-out whole requests; null, as are
 *     the next seven, where the model was not run
 * @param klAfter KL with the proposed decoder
 * @param klImprovement share of it that goes
 * @param klImprovementLower the lower end of its 95 % interval over requests; null where there is one request
 * @param klImprovementUpper the upper end of that interval; null where there is one request
 * @param klRequests held-out requests that the model was run on
 * @param klInDistributionTrained KL with the trained decoder on whole requests of the baseline; null where it holds
 *     none
 * @param klInDistributionAfter KL with the proposed decoder on the same requests
 * @param publishedRows sampled rows of the window that the decoder to publish was fitted on; all figures are those of
 *     the judged decoder, which was not fitted on the rows to judge on; null where the gate refused
 */
public record GateVerdict(
        List<GateTest> tests,
        double improvement,
        @Nullable Double improvementLower,
        @Nullable Double improvementUpper,
        int requests,
        double largestGap,
        double smallestCosine,
        double smallestNormRatio,
        double largestNormRatio,
        int featuresBeyond,
        @Nullable Double fvuInDistributionTrained,
        @Nullable Double fvuInDistributionAfter,
        @Nullable Double klBefore,
        @Nullable Double klAfter,
        @Nullable Double klImprovement,
        @Nullable Double klImprovementLower,
        @Nullable Double klImprovementUpper,
        @Nullable Integer klRequests,
        @Nullable Double klInDistributionTrained,
        @Nullable Double klInDistributionAfter,
        @Nullable Integer publishedRows) {

    public GateVerdict {
        tests = List.copyOf(tests);
    }

    static GateVerdict of(GatedAdaptation adaptation) {
        GateDecision decision = adaptation.decision();
        GateDecision.Figures figures = decision.figures();
        Behaviour.Change heldOut = decision.behaviour() instanceof Behaviour.Measured found ? found.heldOut() : null;
        Behaviour.Change normal =
                decision.behaviour() instanceof Behaviour.Measured found ? found.inDistribution() : null;
        return new GateVerdict(
                decision.tests(),
                figures.improvement().share(),
                finite(figures.improvement().lower()),
                finite(figures.improvement().upper()),
                figures.improvement().requests(),
                figures.largestGap(),
                figures.features().smallestCosine(),
                figures.features().smallestNormRatio(),
                figures.features().largestNormRatio(),
                figures.features().beyond(),
                figures.idTrained() == null ? null : figures.idTrained().fvu(),
                figures.idProposed() == null ? null : figures.idProposed().fvu(),
                heldOut == null ? null : heldOut.before().value(),
                heldOut == null ? null : heldOut.after().value(),
                heldOut == null ? null : heldOut.improvement().share(),
                heldOut == null ? null : finite(heldOut.improvement().lower()),
                heldOut == null ? null : finite(heldOut.improvement().upper()),
                heldOut == null ? null : heldOut.improvement().requests(),
                normal == null ? null : normal.before().value(),
                normal == null ? null : normal.after().value(),
                decision.publishes() ? adaptation.publishedRows() : null);
    }

    /** Returns null for an infinite value, since JSON has none. */
    private static @Nullable Double finite(double value) {
        return Double.isFinite(value) ? value : null;
    }
}
