package io.plumbline.toy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.DavisKahanBounds;
import io.plumbline.geometry.EnergyTerms;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.geometry.FaithfulnessGap;
import io.plumbline.geometry.FaithfulnessGapBounds;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.GapBound;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.geometry.Subspace;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import java.io.IOException;
import java.util.Objects;
import org.apache.commons.math3.stat.correlation.PearsonsCorrelation;
import org.apache.commons.math3.stat.correlation.SpearmansCorrelation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The paper's controlled experiment, recomputed from the counter-based stream and compared with the reference's tables.
 *
 * <p>Tolerances are those the reference suggests: the stream is rounded to float32, and where two platforms differ in the
 * last bit of a logarithm a value may round the other way.
 */
class ControlledExperimentTest {

    private static final int RANK = ToyStream.RANK;
    private static final int LAST = ToyStream.SEVERITIES - 1;

    private static ToySweep sweep;
    private static ToyExplainer autoencoder;
    private static JsonNode claims;

    @BeforeAll
    static void makeTheSweepOnce() throws IOException {
        sweep = new ToySweep(ToyStream.load());
        autoencoder = ToyExplainer.autoencoder();
        claims = new ObjectMapper().readTree(ToyResources.bytes("claims.json"));
    }

    @Test
    void windowsOf2048RowsAreTheReferences() {
        Matrix baseline = ToyStream.baselineMoment();
        ActiveSubspace before = ActiveSubspace.topEigenspace(baseline, RANK);
        SweepTable table = SweepTable.windowsOf2048();
        for (int severity = 0; severity <= LAST; severity++) {
            compare(table, severity, baseline, before, sweep.windowOf2048(severity), autoencoder);
        }
    }

    @Test
    void windowsOf20000RowsAreTheReferences() {
        Matrix baseline = ToyStream.baselineMoment();
        ActiveSubspace before = ActiveSubspace.topEigenspace(baseline, RANK);
        SweepTable table = SweepTable.windowsOf20000();
        for (int severity = 0; severity <= LAST; severity++) {
            compare(table, severity, baseline, before, sweep.windowOf20000(severity), autoencoder);
        }
    }

    @Test
    void theAutoencodersTableIsTheReferences() {
        compareExperiment(SweepTable.autoencoder(), autoencoder);
    }

    @Test
    void theTranscodersTableIsTheReferences() {
        compareExperiment(SweepTable.transcoder(), ToyExplainer.transcoder());
    }

    /** What the paper claims, as far as the reference could confirm it; the figures are the reference's. */
    @Test
    void theGapRisesWithTheShiftAndTheTheoremHolds() {
        JsonNode claim = claims.get("sae_1024");
        SecondMoment clean = sweep.windowOf20000(0);
        SiteGeometry site = SiteGeometry.of(autoencoder.decoder(), clean, null, RANK);
        double[] shift = new double[ToyStream.SEVERITIES];
        double[] baselineGap = new double[ToyStream.SEVERITIES];
        double[] gap = new double[ToyStream.SEVERITIES];
        double[] overlap = new double[ToyStream.SEVERITIES];
        double[] eta = new double[ToyStream.SEVERITIES];
        double[] etaOfBaseline = new double[ToyStream.SEVERITIES];
        for (int severity = 0; severity <= LAST; severity++) {
            SecondMoment window = sweep.windowOf20000(severity);
            GapAssessment report = site.assess(window);
            shift[severity] = report.statistic("second_moment_shift").orElseThrow();
            baselineGap[severity] = report.statistic("baseline_gap").orElseThrow();
            gap[severity] = report.statistic("faithfulness_gap").orElseThrow();
            overlap[severity] = report.statistic("subspace_overlap").orElseThrow();
            eta[severity] = report.statistic("eta").orElseThrow();
            EnergyTerms terms =
                    EnergyTerms.of(site.baselineSubspace().subspace(), ActiveSubspace.topEigenspace(window, RANK));
            etaOfBaseline[severity] = terms.eta();
            // Theorem 1, in sample: no violation.
            assertTrue(
                    terms.irreducible() <= terms.adaptedLossBound() + 1e-12 * window.trace(), "severity " + severity);
            if (severity > 0) {
                assertTrue(gap[severity] > gap[severity - 1], "the gap falls at severity " + severity);
                assertTrue(
                        baselineGap[severity] > baselineGap[severity - 1],
                        "the gap to the baseline falls at severity " + severity);
                // What does not reproduce: the printed number is never below the largest possible gap, so it says
                // nothing at any severity, and it is certified nowhere. The two-sided bounds do say something.
                assertEquals(true, report.vacuous().get("davis_kahan_as_printed"), "severity " + severity);
                assertEquals(false, report.davisKahanCertified(), "severity " + severity);
                double over = report.statistic("davis_kahan_valid").orElseThrow() / baselineGap[severity];
                assertEquals(claim.get("bound_over_gap").get(severity - 1).asDouble(), over, 0.051);
                assertEquals(false, report.vacuous().get("gap_upper_bound"), "severity " + severity);
            }
            assertTrue(report.statistic("gap_lower_bound").orElseThrow() <= gap[severity], "severity " + severity);
            assertTrue(report.statistic("gap_upper_bound").orElseThrow() >= gap[severity], "severity " + severity);
            assertTrue(
                    report.statistic("davis_kahan_water_filling").orElseThrow() >= baselineGap[severity] - 1e-12,
                    "severity " + severity);
        }
        assertTrue(claim.get("gap_fixed_monotone").asBoolean()
                && claim.get("gap_id_monotone").asBoolean());
        assertEquals(1.0, new SpearmansCorrelation().correlation(shift, baselineGap), 1e-12);
        assertEquals(1.0, new SpearmansCorrelation().correlation(shift, gap), 1e-12);
        PearsonsCorrelation pearson = new PearsonsCorrelation();
        assertEquals(claim.get("pearson_shift_gap_id").asDouble(), pearson.correlation(shift, baselineGap), 1e-4);
        assertEquals(claim.get("pearson_shift_gap_dec").asDouble(), pearson.correlation(shift, gap), 1e-4);
        assertEquals(claim.get("gap_dec_first_last").get(0).asDouble(), gap[0], 1e-5);
        assertEquals(claim.get("gap_dec_first_last").get(1).asDouble(), gap[LAST], 1e-5);
        assertEquals(claim.get("gap_id_last").asDouble(), baselineGap[LAST], 1e-5);
        assertEquals(claim.get("overlap_id").asDouble(), overlap[0], 1e-5);
        assertEquals(claim.get("overlap_ood_last").asDouble(), overlap[LAST], 1e-5);
        assertEquals(claim.get("eta_dec_first_last").get(0).asDouble(), eta[0], 1e-5);
        assertEquals(claim.get("eta_dec_first_last").get(1).asDouble(), eta[LAST], 1e-5);
        assertEquals(claim.get("eta_id_last").asDouble(), etaOfBaseline[LAST], 1e-5);
        assertEquals(0, claim.get("printed_bound_below_cap").asInt());
    }

    /**
     * Theorem 1 speaks of the subspace of the very rows it is judged on. The subspace of the first 2,048 rows, judged on
     * 20,000, breaks it at the two smallest severities: there the shift is below the sampling error.
     */
    @Test
    void outOfSampleTheTheoremFailsAtTheSmallestSeverities() {
        SweepTable table = SweepTable.autoencoder();
        ActiveSubspace before = ActiveSubspace.topEigenspace(sweep.windowOf20000(0), RANK);
        int violations = 0;
        for (int severity = 0; severity <= LAST; severity++) {
            ActiveSubspace after = ActiveSubspace.topEigenspace(sweep.windowOf20000(severity), RANK);
            Subspace estimated = ActiveSubspace.topEigenspace(sweep.windowOf2048(severity), RANK)
                    .subspace();
            double loss = EnergyTerms.of(estimated, after).total();
            relative(table, severity, "loss_est", loss);
            close(
                    table,
                    severity,
                    "gap_est",
                    FaithfulnessGap.between(estimated, after.subspace()).value(),
                    1e-4);
            if (loss > EnergyTerms.of(before.subspace(), after).adaptedLossBound()) {
                assertTrue(severity < 2, "severity index " + severity);
                violations++;
            }
        }
        assertEquals(
                claims.get("sae_1024").get("theorem1_out_of_sample_violations").asInt(), violations);
    }

    private static void compareExperiment(SweepTable table, ToyExplainer explainer) {
        SecondMoment clean = sweep.windowOf20000(0);
        Matrix baseline = clean.matrix();
        ActiveSubspace before = ActiveSubspace.topEigenspace(baseline, RANK);
        for (int severity = 0; severity <= LAST; severity++) {
            SecondMoment window = sweep.windowOf20000(severity);
            Seen seen = compare(table, severity, baseline, before, window, explainer);
            double overlap = FaithfulnessGap.between(seen.dictionary(), before.subspace())
                    .overlap();
            assertEquals(table.get(severity, "overlap_dec_id"), overlap, 1e-5);
            relative(table, severity, "shift_rel", seen.shift().frobeniusNorm() / baseline.frobeniusNorm());
            relative(table, severity, "loss_id", seen.ofBaseline().total());
            close(
                    table,
                    severity,
                    "improvement",
                    seen.ofBaseline().explainerDependent(),
                    1e-5 * seen.ofBaseline().total());
        }
    }

    private record Seen(Subspace dictionary, Matrix shift, EnergyTerms ofBaseline) {}

    private static Seen compare(
            SweepTable table,
            int severity,
            Matrix baseline,
            ActiveSubspace before,
            SecondMoment moment,
            ToyExplainer explainer) {
        Matrix window = moment.matrix();
        Matrix shift = window.minus(baseline);
        ActiveSubspace after = ActiveSubspace.topEigenspace(window, RANK);
        Subspace dictionary = ExplainerSubspace.of(explainer.decoder(), RANK).subspace();
        EnergyTerms ofExplainer = EnergyTerms.of(dictionary, after);
        EnergyTerms ofBaseline = EnergyTerms.of(before.subspace(), after);
        FaithfulnessGap gap = FaithfulnessGap.between(dictionary, after.subspace());
        FaithfulnessGap baselineGap = FaithfulnessGap.between(before.subspace(), after.subspace());
        DavisKahanBounds bounds = DavisKahanBounds.of(before, after, shift);
        double gapTolerance = table.get(severity, "gamma_ood") < 0.02 ? 1e-4 : 1e-5;

        relative(table, severity, "trace", moment.trace());
        relative(table, severity, "shift_fro", shift.frobeniusNorm());
        relative(table, severity, "bound_printed", value(bounds.asPrinted()));
        relative(table, severity, "bound_valid2", value(bounds.valid()));
        relative(table, severity, "loss_dec", ofExplainer.total());
        relative(table, severity, "loss_irreducible", ofExplainer.irreducible());
        close(table, severity, "gamma_id", before.eigengap().orElseThrow(), 1e-5);
        close(table, severity, "gamma_ood", after.eigengap().orElseThrow(), 1e-5);
        close(table, severity, "gap_dec", gap.value(), gapTolerance);
        close(table, severity, "gap_id", baselineGap.value(), gapTolerance);
        close(
                table,
                severity,
                "gap_dec_id",
                FaithfulnessGap.between(dictionary, before.subspace()).value(),
                1e-5);
        close(table, severity, "gap_cap", gap.largest(), 1e-12);
        close(table, severity, "eta_dec", ofExplainer.eta(), 1e-5);
        close(table, severity, "eta_id", ofBaseline.eta(), 1e-5);
        close(table, severity, "overlap_dec_ood", gap.overlap(), 1e-5);
        FaithfulnessGapBounds twoSided = FaithfulnessGapBounds.of(after, ofExplainer);
        assertTrue(twoSided.lower() <= gap.value() && gap.value() <= twoSided.upper(), "severity " + severity);
        assertFalse(baselineGap.value() > value(bounds.valid()) + 1e-12, "severity " + severity);
        return new Seen(dictionary, shift, ofBaseline);
    }

    private static double value(@Nullable GapBound bound) {
        return Objects.requireNonNull(bound).value();
    }

    private static void relative(SweepTable table, int severity, String column, double actual) {
        double expected = table.get(severity, column);
        close(table, severity, column, actual, 1e-6 * Math.abs(expected));
    }

    private static void close(SweepTable table, int severity, String column, double actual, double tolerance) {
        double expected = table.get(severity, column);
        assertEquals(expected, actual, tolerance, "%s at severity index %d".formatted(column, severity));
    }
}
