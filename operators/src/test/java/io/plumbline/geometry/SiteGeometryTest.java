package io.plumbline.geometry;

import static io.plumbline.geometry.Instances.gaussian;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what a window's report says, and what it declines to say. */
class SiteGeometryTest {

    private static final int DIMENSION = 6;
    private static final Set<String> OF_THE_WINDOWS_SUBSPACE = Set.of(
            "faithfulness_gap",
            "baseline_gap",
            "gap_share",
            "chance_normalised_gap",
            "subspace_overlap",
            "davis_kahan_as_printed",
            "davis_kahan_certified",
            "davis_kahan_valid",
            "davis_kahan_both_spectra",
            "davis_kahan_water_filling",
            "gap_lower_bound",
            "subspace_sine_bound",
            "gap_upper_bound",
            "principal_angles",
            "reconstruction_gap");

    @Test
    void anOrdinaryWindowHasEveryNumber() {
        SiteGeometry site = site(2, rows(1, 50));
        GapAssessment report = withTheOthers(site.assess(SecondMoment.of(rows(2, 40))));
        assertEquals(Map.of(), report.undefined());
        assertEquals(0.25, report.value(Statistic.RECONSTRUCTION_FVU_TRAINED).orElseThrow());
        assertEquals(
                GapAssessment.statisticNames(), List.copyOf(report.statistics().keySet()));
        assertEquals(40, report.rows());
        assertEquals(2, report.rank());
        assertEquals(DIMENSION, report.dimension());
        assertEquals(
                Set.of(
                        "davis_kahan_as_printed",
                        "davis_kahan_valid",
                        "davis_kahan_both_spectra",
                        "davis_kahan_water_filling",
                        "gap_upper_bound"),
                report.vacuous().keySet());
        assertEquals(report.value(Statistic.FAITHFULNESS_GAP), report.statistic("faithfulness_gap"));
        assertThrows(IllegalArgumentException.class, () -> report.statistic("gap"));
    }

    @Test
    void whatTheMomentDoesNotGiveIsUndefinedUntilItIsAdded() {
        GapAssessment report = site(2, rows(1, 50)).assess(SecondMoment.of(rows(2, 40)));
        assertTrue(report.value(Statistic.RECONSTRUCTION_FVU_TRAINED).isEmpty());
        assertEquals(
                Set.of(
                        "delta_ce",
                        "kl",
                        "top1_agreement",
                        "loss_recovered",
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

    /** Returns the assessment with the statistics that do not come from the moment. */
    private static GapAssessment withTheOthers(GapAssessment report) {
        GapAssessment whole = report;
        for (Statistic statistic : Statistic.values()) {
            whole = statistic.source() == Statistic.Source.MOMENT ? whole : whole.with(statistic, 0.25);
        }
        return whole;
    }

    @Test
    void theBaselineItselfHasNotShifted() {
        SecondMoment baseline = SecondMoment.of(rows(1, 50));
        GapAssessment report = site(2, rows(1, 50)).assess(baseline);
        assertEquals(0.0, report.value(Statistic.SECOND_MOMENT_SHIFT).orElseThrow());
        assertEquals(0.0, report.statistic("baseline_gap").orElseThrow(), 1e-14);
        assertEquals(0.0, report.value(Statistic.WHITENED_MEAN_SHIFT).orElseThrow());
        assertEquals(report.value(Statistic.EXPLAINER_BASELINE_GAP), report.value(Statistic.FAITHFULNESS_GAP));
    }

    @Test
    void aRepeatedEigenvalueOfTheWindowLeavesItsSubspaceUndecided() {
        GapAssessment report = withTheOthers(site(2, rows(1, 50)).assess(repeatedAtTwo()));
        assertEquals(OF_THE_WINDOWS_SUBSPACE, report.undefined().keySet());
        String reason = report.undefined().get("faithfulness_gap");
        assertNotNull(reason);
        assertTrue(reason.startsWith("eigenvalues 2 and 3 of the window are equal to rounding"), reason);
        assertTrue(report.value(Statistic.FAITHFULNESS_GAP).isEmpty());
        assertNull(report.principalAngles());
        assertTrue(report.statistic("faithfulness_gap").isEmpty());
        // What depends on the eigenvalues alone is the same for every choice of directions.
        assertTrue(report.value(Statistic.EXPLAINER_DEPENDENT_LOSS).isPresent());
        assertTrue(report.value(Statistic.ETA).isPresent());
        assertFalse(report.vacuous().containsKey("davis_kahan_valid"));
    }

    @Test
    void aRepeatedEigenvalueOfTheBaselineLeavesOnlyTheExplainersGap() {
        SiteGeometry site = SiteGeometry.of(decoder(10), repeatedAtTwo(), null, 2);
        GapAssessment report = site.assess(SecondMoment.of(rows(2, 40)));
        assertTrue(report.value(Statistic.FAITHFULNESS_GAP).isPresent());
        assertTrue(report.value(Statistic.BASELINE_GAP).isEmpty());
        assertTrue(report.value(Statistic.DAVIS_KAHAN_VALID).isEmpty());
        assertTrue(report.value(Statistic.RESIDUAL_ENERGY).isEmpty());
        String reason = report.undefined().get("explainer_baseline_gap");
        assertNotNull(reason);
        assertTrue(reason.contains("of the baseline"), reason);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aWindowOfFewerRowsThanTheRankIsUndecided(int rows) {
        GapAssessment report = site(3, rows(1, 50)).assess(SecondMoment.of(rows(2, rows)));
        assertTrue(report.value(Statistic.FAITHFULNESS_GAP).isEmpty());
        assertEquals(
                "the window has too few rows (%d) for a subspace of rank 3".formatted(rows),
                report.undefined().get("faithfulness_gap"));
        assertTrue(report.value(Statistic.SECOND_MOMENT_SHIFT).isPresent());
        assertTrue(report.value(Statistic.WHITENED_MEAN_SHIFT).isPresent());
    }

    @Test
    void asManyRowsAsTheRankAreEnough() {
        GapAssessment report = site(3, rows(1, 50)).assess(SecondMoment.of(rows(2, 3)));
        assertTrue(report.value(Statistic.FAITHFULNESS_GAP).isPresent());
    }

    @Test
    void aDecoderOfLowerRankIsUndecided() {
        Matrix lowRank = Kernels.multiply(gaussian(new Random(3), 9, 2), gaussian(new Random(4), 2, DIMENSION));
        Decoder decoder = new Decoder(lowRank, new double[DIMENSION]);
        GapAssessment report =
                SiteGeometry.of(decoder, SecondMoment.of(rows(1, 50)), null, 3).assess(SecondMoment.of(rows(2, 40)));
        assertTrue(report.value(Statistic.FAITHFULNESS_GAP).isEmpty());
        assertTrue(report.value(Statistic.PROJECTION_LOSS).isEmpty());
        assertTrue(report.value(Statistic.BASELINE_GAP).isPresent());
        assertEquals(
                "the decoder has rank 2, below the configured rank 3",
                report.undefined().get("eta"));
        assertEquals(2, ExplainerSubspace.of(decoder, 3).decoderRank());
        assertTrue(ExplainerSubspace.of(decoder, 2).isIdentified());
        assertFalse(ExplainerSubspace.of(decoder, DIMENSION).isIdentified());
    }

    @Test
    void aDecoderOfFewerFeaturesThanTheRankIsUndecided() {
        ExplainerSubspace explainer = ExplainerSubspace.of(decoder(2), 3);
        assertEquals(2, explainer.decoderRank());
        assertFalse(explainer.isIdentified());
    }

    @Test
    void aRepeatedSingularValueOfTheDecoderIsUndecided() {
        Decoder decoder = new Decoder(Instances.diagonal(3, 2, 2, 1, 1, 1), new double[DIMENSION]);
        assertFalse(ExplainerSubspace.of(decoder, 2).isIdentified());
        assertTrue(ExplainerSubspace.of(decoder, 3).isIdentified());
        GapAssessment report =
                SiteGeometry.of(decoder, SecondMoment.of(rows(1, 50)), null, 2).assess(SecondMoment.of(rows(2, 40)));
        String reason = report.undefined().get("faithfulness_gap");
        assertNotNull(reason);
        assertTrue(reason.startsWith("singular values 2 and 3 of the decoder are equal to rounding"), reason);
    }

    @Test
    void atFullRankTheGapIsZeroAndNothingNeedsAnEigengap() {
        GapAssessment report = withTheOthers(site(DIMENSION, rows(1, 50)).assess(SecondMoment.of(rows(2, 40))));
        assertEquals(0.0, report.value(Statistic.FAITHFULNESS_GAP).orElseThrow());
        assertEquals(0.0, report.value(Statistic.BASELINE_GAP).orElseThrow());
        assertEquals(0.0, report.value(Statistic.LARGEST_GAP).orElseThrow());
        assertEquals(0.0, report.value(Statistic.GAP_SHARE).orElseThrow());
        assertEquals(0.0, report.value(Statistic.ETA).orElseThrow());
        assertEquals(0.0, report.value(Statistic.IRREDUCIBLE_LOSS).orElseThrow());
        assertEquals(0.0, report.value(Statistic.DAVIS_KAHAN_WATER_FILLING).orElseThrow());
        assertEquals(0.0, report.value(Statistic.GAP_UPPER_BOUND).orElseThrow());
        assertEquals(1.0, report.value(Statistic.SUBSPACE_OVERLAP).orElseThrow());
        assertEquals(
                Set.of(
                        "eigengap_baseline",
                        "eigengap_window",
                        "chance_normalised_gap",
                        "davis_kahan_as_printed",
                        "davis_kahan_certified",
                        "davis_kahan_valid",
                        "davis_kahan_both_spectra"),
                report.undefined().keySet());
    }

    @Test
    void aNearZeroGapKeepsItsSizeThroughTheWholeReport() {
        double angle = 1e-10;
        Decoder decoder = new Decoder(Instances.diagonal(4, 3, 1, 0.5, 0.2, 0.1), new double[DIMENSION]);
        Matrix turned = Matrix.zeros(DIMENSION, DIMENSION);
        double[] lengths = {4, 3, 1, .9, .8, .7};
        for (int i = 0; i < DIMENSION; i++) {
            turned.set(i, i, lengths[i]);
        }
        // Row 1 leans out of the first two coordinates by the angle.
        turned.set(1, 1, 3 * Math.cos(angle));
        turned.set(1, 2, 3 * Math.sin(angle));
        turned.set(2, 2, Math.cos(angle));
        turned.set(2, 1, -Math.sin(angle));
        SecondMoment window = SecondMoment.of(turned);
        GapAssessment report = SiteGeometry.of(decoder, window, null, 2).assess(window);
        double expected = Math.sqrt(2) * angle;
        assertEquals(expected, report.statistic("faithfulness_gap").orElseThrow(), 1e-5 * expected);
        // excess = (λ_2 − λ_3) sin² = (9 − 1)/6 sin²
        double excess = 8.0 / 6.0 * angle * angle;
        assertEquals(excess, report.statistic("explainer_dependent_loss").orElseThrow(), 1e-5 * excess);
        assertEquals(expected, report.statistic("gap_upper_bound").orElseThrow(), 1e-5 * expected);
    }

    @Test
    void aShiftOfTheMeanIsMeasuredInStandardDeviations() {
        Matrix rows = Matrix.zeros(4, 2);
        double[] values = {2, 1, 2, -1, -2, 1, -2, -1};
        System.arraycopy(values, 0, rows.values(), 0, values.length);
        Decoder decoder = new Decoder(Instances.diagonal(2, 1), new double[2]);
        SiteGeometry site = SiteGeometry.of(decoder, SecondMoment.of(rows), null, 1);
        Matrix moved = rows.copy();
        for (int i = 0; i < 4; i++) {
            moved.set(i, 0, moved.get(i, 0) + 6); // three times the root mean square of that coordinate
            moved.set(i, 1, moved.get(i, 1) + 4); // four times
        }
        double shift = site.assess(SecondMoment.of(moved))
                .statistic("whitened_mean_shift")
                .orElseThrow();
        assertEquals(5.0, shift, 1e-4);
    }

    @Test
    void theReconstructionGapTakesTheBaselinesReconstructionsAsExplainer() {
        SecondMoment baseline = SecondMoment.of(rows(1, 50));
        Matrix reconstructions = SecondMoment.of(rows(5, 50)).matrix();
        SecondMoment window = SecondMoment.of(rows(2, 40));
        GapAssessment report =
                SiteGeometry.of(decoder(10), baseline, reconstructions, 2).assess(window);
        double expected = FaithfulnessGap.between(
                        ActiveSubspace.topEigenspace(reconstructions, 2).subspace(),
                        ActiveSubspace.topEigenspace(window, 2).subspace())
                .value();
        assertEquals(expected, report.statistic("reconstruction_gap").orElseThrow(), 1e-14);
        assertTrue(SiteGeometry.of(decoder(10), baseline, null, 2)
                .assess(window)
                .value(Statistic.RECONSTRUCTION_GAP)
                .isEmpty());
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void noReportBreaksItsOwnBounds(long seed) {
        Random random = new Random(seed);
        for (int trial = 0; trial < 60; trial++) {
            SecondMoment baseline = SecondMoment.of(rows(random.nextLong(), 10 + random.nextInt(40)));
            SecondMoment window = SecondMoment.of(rows(random.nextLong(), 1 + random.nextInt(60)));
            GapAssessment report = SiteGeometry.of(decoder(10), baseline, null, 1 + random.nextInt(DIMENSION))
                    .assess(window);
            assertEquals(List.of(), report.violatedBounds(), "seed %d, trial %d".formatted(seed, trial));
        }
    }

    @Test
    void aBrokenBoundIsNamedButThePrintedOneOnlyWhereItIsCertified() {
        SecondMoment baseline = SecondMoment.of(new Matrix(2, 2, new double[] {Math.sqrt(2), 0, 0, 0}));
        SecondMoment window = SecondMoment.of(new Matrix(2, 2, new double[] {Math.sqrt(.998), 0, 0, Math.sqrt(1.0)}));
        Decoder decoder = new Decoder(Instances.diagonal(2, 1), new double[2]);
        GapAssessment report = SiteGeometry.of(decoder, baseline, null, 1).assess(window);
        assertTrue(report.statistic("davis_kahan_as_printed").orElseThrow()
                < report.statistic("baseline_gap").orElseThrow());
        assertEquals(List.of(), report.violatedBounds());
        assertEquals(
                List.of(
                        "davis_kahan_as_printed",
                        "davis_kahan_valid",
                        "davis_kahan_both_spectra",
                        "davis_kahan_water_filling",
                        "gap_lower_bound",
                        "gap_upper_bound"),
                withWrongBounds(report).violatedBounds());
    }

    @Test
    void anotherBaselineGivesTheSameReportAsANewSite() {
        SecondMoment other = SecondMoment.of(rows(6, 50));
        SecondMoment window = SecondMoment.of(rows(2, 40));
        GapAssessment moved = site(2, rows(1, 50)).withBaseline(other, null).assess(window);
        assertEquals(SiteGeometry.of(decoder(10), other, null, 2).assess(window), moved);
    }

    @Test
    void aWideBaselineThatIsNotDecomposedGivesTheReportOfOneThatIs() {
        int dimension = 320;
        int rank = 8;
        Decoder decoder = new Decoder(gaussian(new Random(5), 340, dimension), new double[dimension]);
        SecondMoment window = SecondMoment.of(floatRowOps(3, 200, dimension));
        SecondMoment whole = SecondMoment.of(floatRowOps(1, 2_000, dimension));
        SecondMoment other = SecondMoment.of(floatRowOps(2, 1_800, dimension));
        Matrix reconstructions =
                SecondMoment.of(floatRowOps(4, 1_900, dimension)).matrix();
        ActiveSubspace decomposed = ActiveSubspace.topEigenspace(other, rank);
        GapAssessment full = new SiteGeometry(
                        ExplainerSubspace.of(decoder, rank),
                        other,
                        decomposed,
                        ActiveSubspace.topEigenspace(reconstructions, rank),
                        decomposed.subspace().basis())
                .assess(window);
        requireSame(full, SiteGeometry.of(decoder, other, reconstructions, rank).assess(window));
        requireSame(
                full,
                SiteGeometry.of(decoder, whole, whole.matrix(), rank)
                        .withBaseline(other, reconstructions)
                        .assess(window));
    }

    private static void requireSame(GapAssessment full, GapAssessment leading) {
        assertEquals(full.statistics().keySet(), leading.statistics().keySet());
        full.statistics().forEach((name, value) -> {
            double found = leading.statistic(name).orElseThrow();
            switch (name) {
                // Proven bounds stand where the whole spectrum is not known.
                case "davis_kahan_water_filling", "gap_upper_bound" -> {
                    assertTrue(found >= value * (1 - 1e-6), name);
                    assertEquals(value, found, 0.05 * value, name);
                }
                // What divides by the eigengap divides by no more than the gap is.
                case "davis_kahan_as_printed", "davis_kahan_valid" -> {
                    assertTrue(found >= value, () -> "%s: %s below %s".formatted(name, found, value));
                    assertEquals(value, found, 0.05 * value, name);
                }
                case "subspace_sine_bound" -> assertTrue(found <= 2e-4, name);
                default -> assertEquals(value, found, 1e-4 * Math.max(1.0, Math.abs(value)), name);
            }
        });
        assertEquals(
                full.statistic("whitened_mean_shift").orElseThrow(),
                leading.statistic("whitened_mean_shift").orElseThrow(),
                1e-9);
    }

    /** Returns rows whose variances fall with their place, and a mean. */
    private static Matrix floatRowOps(long seed, int count, int dimension) {
        Matrix rows = gaussian(new Random(seed), count, dimension);
        for (int i = 0; i < count; i++) {
            for (int j = 0; j < dimension; j++) {
                rows.set(i, j, rows.get(i, j) * 3.0 / Math.sqrt(1.0 + j) + 0.1 * Math.sin(j + 0.01 * seed));
            }
        }
        return rows;
    }

    @Test
    void nonsenseIsRefusedBeforeAnythingIsComputed() {
        SecondMoment baseline = SecondMoment.of(rows(1, 50));
        Decoder decoder = decoder(10);
        assertThrows(IllegalArgumentException.class, () -> SiteGeometry.of(decoder, baseline, null, 0));
        assertThrows(IllegalArgumentException.class, () -> SiteGeometry.of(decoder, baseline, null, 7));
        SecondMoment narrow = SecondMoment.of(gaussian(new Random(1), 9, 5));
        assertThrows(IllegalArgumentException.class, () -> SiteGeometry.of(decoder, narrow, null, 2));
        assertThrows(IllegalArgumentException.class, () -> SiteGeometry.of(decoder, baseline, Matrix.identity(5), 2));
        SiteGeometry site = SiteGeometry.of(decoder, baseline, null, 2);
        assertThrows(IllegalArgumentException.class, () -> site.assess(narrow));
        assertThrows(IllegalArgumentException.class, () -> site.assess(baseline.minus(baseline)));
        SecondMoment zeros = SecondMoment.of(Matrix.zeros(9, DIMENSION));
        assertThrows(IllegalArgumentException.class, () -> SiteGeometry.of(decoder, zeros, null, 2));
        assertTrue(site.assess(zeros).value(Statistic.TOP_EIGENVALUE_SHARE).isEmpty());
    }

    /** Returns the report with every bound on the wrong side of the gap it bounds, and the printed one certified. */
    private static GapAssessment withWrongBounds(GapAssessment report) {
        GapAssessment wrong = new GapAssessment(
                report.rows(), report.dimension(), report.rank(), report.values(), true, report.principalAngles());
        for (Statistic statistic : Statistic.values()) {
            if (statistic.bound().isPresent()) {
                wrong = wrong.with(statistic, statistic.bound().get().upper() ? 1.0 : 1.5);
            }
        }
        return wrong;
    }

    private static SiteGeometry site(int rank, Matrix baselineRows) {
        SecondMoment baseline = SecondMoment.of(baselineRows);
        return SiteGeometry.of(
                decoder(10), baseline, SecondMoment.of(rows(9, 60)).matrix(), rank);
    }

    private static Decoder decoder(int features) {
        return new Decoder(gaussian(new Random(77), features, DIMENSION), new double[DIMENSION]);
    }

    private static Matrix rows(long seed, int count) {
        Matrix rows = gaussian(new Random(seed), count, DIMENSION);
        for (int i = 0; i < count; i++) {
            for (int j = 0; j < DIMENSION; j++) {
                rows.set(i, j, rows.get(i, j) * (DIMENSION - j) + 0.5);
            }
        }
        return rows;
    }

    /** Returns the moment diag(9, 4, 4, 1, 1, 1) / 6. */
    private static SecondMoment repeatedAtTwo() {
        return SecondMoment.of(Instances.diagonal(3, 2, 2, 1, 1, 1));
    }
}
