package io.plumbline.topology.report;

import io.plumbline.causal.Figure;
import io.plumbline.comparison.Cause;
import io.plumbline.comparison.Estimate;
import io.plumbline.comparison.ExplainerComparison;
import io.plumbline.comparison.FeatureSurvival;
import io.plumbline.features.ActivityChange;
import io.plumbline.features.ActivityChanges;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.geometry.Value;
import io.plumbline.judgement.Verdict;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Makes reports in which every key has a value. */
public final class WindowReports {

    private WindowReports() {}

    /** Returns a report of a window with these numbers. */
    public static WindowReport of(GapAssessment geometry) {
        return new WindowReport(
                new WindowReport.Header("blocks.7", 60_000, 120_000, "event_time"),
                new WindowReport.Counts(12, 11, 1, 0),
                new WindowReport.Judged(Verdict.DRIFTED, "above", "faithfulness_gap", 5.0, 4.0),
                new WindowReport.Evidence(
                        List.of(
                                new StatisticReport(
                                        "faithfulness_gap",
                                        "trigger",
                                        5.0,
                                        null,
                                        4.0,
                                        true,
                                        15,
                                        null,
                                        0.0625,
                                        20.0,
                                        null,
                                        "the largest"),
                                new StatisticReport(
                                        "eta",
                                        "warn",
                                        0.3,
                                        1.2,
                                        0.5,
                                        false,
                                        99,
                                        null,
                                        0.02,
                                        null,
                                        null,
                                        "the largest")),
                        Verdict.ALIGNED,
                        "eta is not above",
                        List.of(new SequentialReport("eta", 99.0, 9_999.0, false, 40, null, null))),
                new WindowReport.InService(0.125, 4.5, 3, true, false),
                List.of(),
                new WindowReport.Masked(100, 50, 0.1),
                new WindowReport.Baseline(1_700_000_000_500L, 7L, "ab".repeat(32)),
                sections(),
                geometry);
    }

    private static Sections sections() {
        return Sections.NONE
                .with(
                        Sections.WORST_REQUESTS,
                        List.of(
                                new WorstRequest("chat\n17", 118, 640.0, 1e-6, 0.5),
                                new WorstRequest("chat\t17", 20, 600.0, 1e-6, 0.25)))
                .with(Sections.COVERAGE, new CoverageReport(1_000, 0.5, 0.25, 0.125, 0.0625, 0.75, 0.0, "moved"))
                .with(
                        Sections.CAUSE,
                        new DriftCause(
                                "change",
                                List.of(new DriftCause.Change(
                                        "engine_version", "0.20", 0, 0.75, "0.19", 8, 0, 0.5, null)),
                                "new"))
                .with(
                        Sections.BREAKDOWN,
                        new Breakdown(
                                "tenant",
                                100,
                                List.of(new Breakdown.OfValue("acme", 10, 0.5, 0.25, 0.375, 4.25, 1.75))))
                .with(
                        Sections.ENGINES,
                        new EnginesReport(
                                "quantization",
                                List.of(
                                        new EnginesReport.Engine("bf16", 1_024, 8),
                                        new EnginesReport.Engine("int4", 512, 4)),
                                4,
                                new ExplainerComparison(
                                        List.of(4, 4),
                                        List.of(32L, 32L),
                                        null,
                                        null,
                                        false,
                                        new TreeMap<>(Map.of(
                                                "fvu_rise",
                                                new Estimate(0.25, 0.125, 0.375),
                                                "row_cosine",
                                                new Estimate(0.96875, 0.9375, 1.0),
                                                "survival",
                                                new Estimate(0.875, 0.75, 1.0))),
                                        new FeatureSurvival(
                                                12,
                                                11,
                                                1,
                                                List.of(new FeatureSurvival.Change(7, 0.625, true, 0.25, 0.125))),
                                        null,
                                        List.of(),
                                        List.of(new Cause("wrong_dtype", "a sentence")))))
                .with(Sections.ENERGY_WARNING, "one eigenvalue holds 60 % of the window's energy")
                .with(Sections.REPEATS, new Repeats(12, 9, 1.25, "sent again"))
                .with(
                        Sections.GROUPS,
                        new Groups(
                                120,
                                14,
                                List.of(new Groups.Group(
                                        3,
                                        4,
                                        0.125,
                                        1,
                                        8.5,
                                        0.75,
                                        "known",
                                        0.0625,
                                        60_000,
                                        120_000,
                                        List.of("chat-4"),
                                        Map.of("tenant", "acme"),
                                        List.of()))))
                .with(Sections.FAILING_FEATURES, List.of())
                .with(
                        Sections.FEATURE_ACTIVITY,
                        new ActivityChanges(
                                2_048,
                                12,
                                900,
                                3,
                                5,
                                List.of(new ActivityChange(7, "less_active", 0.0, 0.02, 0.0, 1.5, 0, 1e-9)),
                                null))
                .with(
                        Sections.WATCHED,
                        new WatchedReport(
                                WatchedReport.Harm.WATCHED,
                                List.of(new WatchedReport.Hurt("feature 7", "rate", 0.25, 0.125, 0.0009765625)),
                                12,
                                33,
                                List.of(new WatchedReport.OfFeature(
                                        "feature 7",
                                        7,
                                        true,
                                        0.125,
                                        0.25,
                                        1.5,
                                        3.0,
                                        0.5,
                                        0.375,
                                        List.of(),
                                        0.0009765625)),
                                List.of(new WatchedReport.OfProbe(
                                        "refusal",
                                        false,
                                        true,
                                        0.5,
                                        0.0625,
                                        0.25,
                                        -1.5,
                                        -1.25,
                                        List.of(-3.0, -1.0, 0.5),
                                        List.of(-2.5, -1.0, 0.75),
                                        0.875,
                                        0.75,
                                        List.of(
                                                new WatchedReport.Part("length", "1 to 31 rows", 9, 0.0, -1.75),
                                                new WatchedReport.Part("length", "32 to 127 rows", 3, 0.25, -0.75)),
                                        0.5))))
                .with(
                        Sections.CANDIDATE,
                        new CandidateReport(
                                "candidate",
                                "ab".repeat(32),
                                CandidateReport.Standing.BETTER,
                                512,
                                12,
                                0.125,
                                0.25,
                                0.0625,
                                null,
                                32.5,
                                24.25,
                                900,
                                800,
                                5,
                                3,
                                true,
                                List.of(7)))
                .with(Sections.FEATURE_NAMES, Map.of(7, new FeatureName("dogs", null)))
                .with(
                        Sections.DOWNSTREAM,
                        new DownstreamReport(
                                24,
                                3_000,
                                1,
                                2,
                                null,
                                null,
                                Map.of(),
                                Map.of("kl", new Figure(0.375, 0.25, 0.5)),
                                null))
                .with(Sections.SPECTRUM, new Spectrum(List.of(3.0, 1.0), List.of(2.5, 1.5), List.of(0.25)));
    }

    /** An assessment in which every number differs from every other, so that a mix-up shows. */
    public static GapAssessment distinctNumbers() {
        Map<Statistic, Value> values = new EnumMap<>(Statistic.class);
        for (Statistic statistic : Statistic.values()) {
            values.put(statistic, new Value.Known((1000 + values.size()) / 10_000.0)); // below 1, as shares are
        }
        values.put(Statistic.DAVIS_KAHAN_VALID, new Value.Known(0.05)); // the one below the largest gap
        return new GapAssessment(2001, 2002, 2003, values, false, List.of(0.25, 0.5, 1.25));
    }
}
