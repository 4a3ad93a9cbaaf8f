package io.plumbline.topology.adaptation;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.plumbline.adaptation.Behaviour;
import io.plumbline.adaptation.GateDecision;
import io.plumbline.adaptation.GateTest;
import io.plumbline.adaptation.GatedAdaptation;
import io.plumbline.adaptation.PairedImprovement;
import io.plumbline.refit.Reconstruction;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The findings of the gate, for reports and lineage. The components are groups of keys; in JSON there are no groups.
 *
 * @param tests every test, passed or not, with its finding
 * @param gain what is gained of the held-out FVU
 * @param largestGap the largest possible gap at the watched rank
 * @param columns the columns of the decoder beside the trained ones
 * @param fvuInDistribution FVU on rows of the baseline
 * @param kl KL of the model's output on held-out whole requests, nats; all of KL is null where the model was not run
 * @param klGain what is gained of the same KL
 * @param klInDistribution KL on whole requests of the baseline
 * @param publishedRows sampled rows of the window that the decoder to publish was fitted on; all figures are those of
 *     the judged decoder, which was not fitted on the rows to judge on; null where the gate refused
 */
public record GateVerdict(
        List<GateTest> tests,
        @JsonUnwrapped Improvement gain,
        double largestGap,
        @JsonUnwrapped Columns columns,
        @JsonUnwrapped(prefix = "fvu_in_distribution_") InDistribution fvuInDistribution,
        @JsonUnwrapped(prefix = "kl_") Change kl,
        @JsonUnwrapped(prefix = "kl_") Improvement klGain,
        @JsonUnwrapped(prefix = "kl_in_distribution_") InDistribution klInDistribution,
        @Nullable Integer publishedRows) {

    /**
     * Counts what is gained on held-out requests.
     *
     * @param improvement share of the error taken away
     * @param improvementLower the lower end of its 95 % interval over requests; null where there is one request
     * @param improvementUpper the upper end of that interval; null where there is one request
     * @param requests held-out requests it was judged on
     */
    public record Improvement(
            @Nullable Double improvement,
            @Nullable Double improvementLower,
            @Nullable Double improvementUpper,
            @Nullable Integer requests) {

        private static final Improvement NONE = new Improvement(null, null, null, null);

        private static Improvement of(PairedImprovement paired) {
            return new Improvement(paired.share(), finite(paired.lower()), finite(paired.upper()), paired.requests());
        }
    }

    /**
     * Compares columns with the trained ones.
     *
     * @param smallestCosine of a feature's column to its trained one
     * @param smallestNormRatio the smallest ratio of a column's length to its trained length
     * @param largestNormRatio the largest ratio of a column's length to its trained length
     * @param featuresBeyond how many features are beyond the limits
     */
    public record Columns(
            double smallestCosine, double smallestNormRatio, double largestNormRatio, int featuresBeyond) {}

    /** An error with the decoder in service and with the proposed one. */
    public record Change(@Nullable Double before, @Nullable Double after) {}

    /** An error with the trained decoder and with the proposed one; null where the baseline holds nothing for it. */
    public record InDistribution(
            @Nullable Double trained, @Nullable Double after) {}

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
                Improvement.of(figures.improvement()),
                figures.largestGap(),
                new Columns(
                        figures.features().smallestCosine(),
                        figures.features().smallestNormRatio(),
                        figures.features().largestNormRatio(),
                        figures.features().beyond()),
                new InDistribution(fvu(figures.idTrained()), fvu(figures.idProposed())),
                heldOut == null
                        ? new Change(null, null)
                        : new Change(heldOut.before().value(), heldOut.after().value()),
                heldOut == null ? Improvement.NONE : Improvement.of(heldOut.improvement()),
                normal == null
                        ? new InDistribution(null, null)
                        : new InDistribution(
                                normal.before().value(), normal.after().value()),
                decision.publishes() ? adaptation.publishedRows() : null);
    }

    private static @Nullable Double fvu(@Nullable Reconstruction measured) {
        return measured == null ? null : measured.fvu();
    }

    /** Returns null for an infinite value, since JSON has none. */
    private static @Nullable Double finite(double value) {
        return Double.isFinite(value) ? value : null;
    }
}
