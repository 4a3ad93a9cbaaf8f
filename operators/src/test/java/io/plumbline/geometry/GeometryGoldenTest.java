package io.plumbline.geometry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.golden.GoldenCase;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Compares every geometric number and matrix of the golden cases, through the public classes and through a window's
 * report.
 */
class GeometryGoldenTest {

    @ParameterizedTest
    @ValueSource(strings = {"sae_relu", "sae_jumprelu_alpha", "transcoder_topk"})
    void everyMatrixAgreesWithTheReference(String name) {
        Measured it = new Measured(name);
        GoldenCase golden = it.golden;
        golden.assertMatrix("M_id", it.baselineMoment.matrix());
        golden.assertMatrix("M_ood", it.windowMoment.matrix());
        golden.assertVector("eig_id", it.baseline.eigenvalues());
        golden.assertVector("eig_ood", it.window.eigenvalues());
        golden.assertVector("sv_dec", it.explainer.singularValues());
        golden.assertMatrix("Pi_id", it.baseline.subspace().projector());
        golden.assertMatrix("Pi_ood", it.window.subspace().projector());
        golden.assertMatrix("Pi_dec", it.explainer.subspace().projector());
        golden.assertVector("angles_dec_ood", PrincipalAngles.between(it.explainer.subspace(), it.window.subspace()));
        golden.assertVector("angles_id_ood", PrincipalAngles.between(it.baseline.subspace(), it.window.subspace()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"sae_relu", "sae_jumprelu_alpha", "transcoder_topk"})
    void everyGapAndSpectrumAgreesWithTheReference(String name) {
        Measured it = new Measured(name);
        GoldenCase golden = it.golden;
        assertEquals(golden.scalar("d"), it.window.dimension());
        assertEquals(golden.scalar("r"), it.window.rank());
        FaithfulnessGap gap = FaithfulnessGap.between(it.explainer.subspace(), it.window.subspace());
        FaithfulnessGap fixed = FaithfulnessGap.between(it.explainer.subspace(), it.baseline.subspace());
        golden.assertScalar("gap_dec", gap.value());
        golden.assertScalar("gap_cap", gap.largest());
        golden.assertScalar("gap_dec_id", fixed.value());
        golden.assertScalar("overlap_dec_ood", gap.overlap());
        golden.assertScalar("overlap_dec_id", fixed.overlap());
        golden.assertScalar(
                "gap_id",
                FaithfulnessGap.between(it.baseline.subspace(), it.window.subspace())
                        .value());
        golden.assertScalar("gamma_id", it.baseline.eigengap().orElseThrow());
        golden.assertScalar("gamma_ood", it.window.eigengap().orElseThrow());
        golden.assertScalar("shift_fro", it.shift.frobeniusNorm());
        golden.assertScalar("shift_op", DavisKahanBounds.operatorNorm(it.shift));
        golden.assertScalar("lambda1_ood", it.window.eigenvalues()[0]);
        golden.assertScalar("lambdad_ood", it.window.eigenvalues()[it.window.dimension() - 1]);
        golden.assertScalar("sv_r", it.explainer.singularValues()[it.explainer.rank() - 1]);
        golden.assertScalar("sv_r1", it.explainer.singularValues()[it.explainer.rank()]);
    }

    @ParameterizedTest
    @ValueSource(strings = {"sae_relu", "sae_jumprelu_alpha", "transcoder_topk"})
    void everyBoundAgreesWithTheReference(String name) {
        Measured it = new Measured(name);
        GoldenCase golden = it.golden;
        DavisKahanBounds bounds = DavisKahanBounds.of(it.baseline, it.window);
        golden.assertScalar("bound_printed", value(bounds.asPrinted()));
        golden.assertScalar("bound_valid2", value(bounds.valid()));
        golden.assertScalar("bound_both_spectra", value(bounds.bothSpectra()));
        golden.assertScalar("bound_water_filling", value(bounds.waterFilling()));
        double cap = golden.scalar("gap_cap");
        golden.assertScalar(
                "bound_valid2_capped",
                Math.min(Objects.requireNonNull(bounds.valid()).value(), cap));
        ClassicalBounds classical = ClassicalBounds.of(it.baseline, it.window, it.shift);
        golden.assertScalar("bound_yws", classical.yuWangSamworth());
        golden.assertScalar("bound_weyl", classical.weyl());
        golden.assertScalar("bound_mixed", classical.mixedGap());
        golden.assertScalar("corollary_printed", classical.excessAsPrinted());
        golden.assertScalar("corollary_valid", classical.excessValid());
        golden.assertScalar("corollary_tight", classical.excessSharp());
    }

    @ParameterizedTest
    @ValueSource(strings = {"sae_relu", "sae_jumprelu_alpha", "transcoder_topk"})
    void everyLossAgreesWithTheReference(String name) {
        Measured it = new Measured(name);
        GoldenCase golden = it.golden;
        EnergyTerms ofExplainer = EnergyTerms.of(it.explainer.subspace(), it.window);
        EnergyTerms ofBaseline = EnergyTerms.of(it.baseline.subspace(), it.window);
        assertLosses(golden, "dec_", ofExplainer);
        assertLosses(golden, "id_", ofBaseline);
        golden.assertScalar("theorem1_lhs", ofBaseline.irreducible());
        golden.assertScalar("theorem1_rhs", ofBaseline.adaptedLossBound());
        assertTrue(ofBaseline.irreducible() <= ofBaseline.adaptedLossBound());
        FaithfulnessGapBounds bounds = FaithfulnessGapBounds.of(it.window, ofExplainer);
        golden.assertScalar("gap_lower_bound", bounds.lower());
        golden.assertScalar("gap_upper_bound", bounds.upper());
    }

    @ParameterizedTest
    @ValueSource(strings = {"sae_relu", "sae_jumprelu_alpha", "transcoder_topk"})
    void theReportOfAWindowHoldsTheSameNumbers(String name) {
        Measured it = new Measured(name);
        GoldenCase golden = it.golden;
        Decoder decoder =
                new Decoder(golden.decoderWeights(), golden.input("b_dec").values());
        GapAssessment report =
                SiteGeometry.of(decoder, it.baselineMoment, null, golden.rank()).assess(it.windowMoment);
        assertEquals(golden.ambiguous(), report.undefined().containsKey("faithfulness_gap"));
        assertEquals(List.of(), report.violatedBounds());
        assertEquals((long) golden.scalar("N_ood"), report.rows());
        golden.assertScalar("shift_fro", number(report, Statistic.SECOND_MOMENT_SHIFT));
        golden.assertScalar("shift_fro_rel", number(report, Statistic.SECOND_MOMENT_SHIFT_RATIO));
        golden.assertScalar("gamma_id", number(report, Statistic.EIGENGAP_BASELINE));
        golden.assertScalar("gamma_ood", number(report, Statistic.EIGENGAP_WINDOW));
        golden.assertScalar("gap_dec", number(report, Statistic.FAITHFULNESS_GAP));
        golden.assertScalar("gap_id", number(report, Statistic.BASELINE_GAP));
        golden.assertScalar("gap_dec_id", number(report, Statistic.EXPLAINER_BASELINE_GAP));
        golden.assertScalar("gap_cap", number(report, Statistic.LARGEST_GAP));
        golden.assertScalar("overlap_dec_ood", number(report, Statistic.SUBSPACE_OVERLAP));
        golden.assertScalar("dec_loss_dependent", number(report, Statistic.EXPLAINER_DEPENDENT_LOSS));
        golden.assertScalar("dec_loss_total", number(report, Statistic.PROJECTION_LOSS));
        golden.assertScalar("dec_loss_irreducible", number(report, Statistic.IRREDUCIBLE_LOSS));
        golden.assertScalar("dec_eta", number(report, Statistic.ETA));
        golden.assertScalar("bound_printed", number(report, Statistic.DAVIS_KAHAN_AS_PRINTED));
        golden.assertScalar("bound_valid2", number(report, Statistic.DAVIS_KAHAN_VALID));
        golden.assertScalar("bound_both_spectra", number(report, Statistic.DAVIS_KAHAN_BOTH_SPECTRA));
        golden.assertScalar("bound_water_filling", number(report, Statistic.DAVIS_KAHAN_WATER_FILLING));
        golden.assertScalar("gap_lower_bound", number(report, Statistic.GAP_LOWER_BOUND));
        golden.assertScalar("gap_upper_bound", number(report, Statistic.GAP_UPPER_BOUND));
        golden.assertVector(
                "angles_dec_ood",
                Objects.requireNonNull(report.principalAngles()).stream()
                        .mapToDouble(Double::doubleValue)
                        .toArray());
        assertEquals(
                golden.scalar("gap_dec") / golden.scalar("gap_cap"),
                report.statistic("gap_share").orElseThrow(),
                1e-10);
        assertEquals(
                golden.scalar("lambda1_ood") / it.windowMoment.trace(),
                report.statistic("top_eigenvalue_share").orElseThrow(),
                1e-10);
        assertEquals(
                golden.scalar("id_loss_total") / it.windowMoment.trace(),
                report.statistic("residual_energy").orElseThrow(),
                1e-10);
        assertEquals(
                golden.scalar("dec_loss_dependent") / it.windowMoment.trace(),
                report.statistic("explainer_dependent_share").orElseThrow(),
                1e-10);
        assertEquals(
                Set.of(
                        "delta_ce",
                        "kl",
                        "top1_agreement",
                        "loss_recovered",
                        "reconstruction_gap",
                        "reconstruction_fvu_trained",
                        "request_shift",
                        "worst_request",
                        "reconstruction_error",
                        "request_fvu",
                        "request_evidence",
                        "request_evidence_by_ranks",
                        "requests_in_evidence",
                        "new_group",
                        "requests_in_groups"),
                report.undefined().keySet());
    }

    private static void assertLosses(GoldenCase golden, String prefix, EnergyTerms terms) {
        golden.assertScalar(prefix + "loss_total", terms.total());
        golden.assertScalar(prefix + "loss_irreducible", terms.irreducible());
        golden.assertScalar(prefix + "loss_dependent", terms.explainerDependent());
        golden.assertScalar(prefix + "eta", terms.eta());
        golden.assertScalar(prefix + "prop2_lower", terms.lower());
        golden.assertScalar(prefix + "prop2_upper", terms.upper());
    }

    private static @Nullable Double number(GapAssessment report, Statistic statistic) {
        return report.statistics().get(statistic.label());
    }

    private static @Nullable Double value(@Nullable GapBound bound) {
        return bound == null ? null : bound.value();
    }

    private static final class Measured {
        final GoldenCase golden;
        final SecondMoment baselineMoment;
        final SecondMoment windowMoment;
        final Matrix shift;
        final ActiveSubspace baseline;
        final ActiveSubspace window;
        final ExplainerSubspace explainer;

        Measured(String name) {
            golden = GoldenCase.load(name);
            baselineMoment = SecondMoment.of(golden.targets("id"));
            windowMoment = SecondMoment.of(golden.targets("ood"));
            shift = windowMoment.matrix().minus(baselineMoment.matrix());
            baseline = ActiveSubspace.topEigenspace(baselineMoment, golden.rank());
            window = ActiveSubspace.topEigenspace(windowMoment, golden.rank());
            explainer = ExplainerSubspace.ofWeights(golden.decoderWeights(), golden.rank());
        }
    }
}
