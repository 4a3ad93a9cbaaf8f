package io.plumbline.topology.metrics;

import io.plumbline.activity.ActivityChange;
import io.plumbline.activity.ActivityChanges;
import io.plumbline.behaviour.Figure;
import io.plumbline.behaviour.WindowBehaviour;
import io.plumbline.calibration.Verdict;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.topology.assessment.Breakdown;
import io.plumbline.topology.assessment.CoverageReport;
import io.plumbline.topology.assessment.DownstreamReport;
import io.plumbline.topology.assessment.DriftCause;
import io.plumbline.topology.assessment.SequentialReport;
import io.plumbline.topology.assessment.StatisticReport;
import io.plumbline.topology.assessment.TargetsReport;
import io.plumbline.topology.assessment.WindowReport;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Translates the report of a window into the values of its site's gauges. */
final class WindowValues {

    private WindowValues() {}

    /** Returns every value that the report defines; what is undefined is left out. */
    static SiteSnapshot of(WindowReport report) {
        GapAssessment geometry = report.geometry();
        List<Double> angles = geometry.principalAngles();
        double rowsThatCame = report.maskedByToken() + report.maskedByNorm() + geometry.rows();
        SiteSnapshot.Builder snapshot = SiteSnapshot.of(report.site())
                .window(report.windowStartMs(), report.windowEndMs())
                .verdict(report.verdict())
                .set(WindowMetric.DECODER_VERSION, report.decoderVersion())
                .set(WindowMetric.BASELINE_CREATED, seconds(report.baselineCreatedMs()))
                .set(WindowMetric.BASELINE_REVISION, report.baselineRevision())
                .set(WindowMetric.DECIDING, report.trigger(), report.triggerValue())
                .set(WindowMetric.OVER_THRESHOLD, report.trigger(), report.overThreshold())
                .set(WindowMetric.WARNING, warning(report))
                .set(WindowMetric.FVU, "active", report.reconstructionFvu())
                .set(WindowMetric.ROWS, geometry.rows())
                .set(WindowMetric.RANK, geometry.rank())
                .set(WindowMetric.DIMENSION, geometry.dimension())
                .set(WindowMetric.ACTIVE_FAITHFULNESS_GAP, report.activeFaithfulnessGap())
                .set(WindowMetric.PRINCIPAL_ANGLE, "smallest", angle(angles, 0.0))
                .set(WindowMetric.PRINCIPAL_ANGLE, "median", angle(angles, 0.5))
                .set(WindowMetric.PRINCIPAL_ANGLE, "largest", angle(angles, 1.0))
                .set(WindowMetric.MASKED, "token_id", report.maskedByToken() / rowsThatCame)
                .set(WindowMetric.MASKED, "norm", report.maskedByNorm() / rowsThatCame)
                .set(WindowMetric.ENERGY_CONCENTRATED, report.energyWarning() == null ? 0 : 1);
        for (StatisticReport statistic : report.statistics()) {
            snapshot.set(WindowMetric.THRESHOLD, statistic.statistic(), statistic.threshold());
        }
        ActivityChanges activity = report.featureActivity();
        if (activity != null && activity.undefined() == null) {
            snapshot.set(WindowMetric.COMPARED_FEATURES, activity.tested())
                    .set(WindowMetric.CHANGED_FEATURES, ActivityChange.LESS_ACTIVE, activity.lessActive())
                    .set(WindowMetric.CHANGED_FEATURES, ActivityChange.MORE_ACTIVE, activity.moreActive());
        }
        addDownstream(snapshot, report.downstream());
        addCoverage(snapshot, report.coverage());
        addOrigins(snapshot, report);
        for (SequentialReport sequential : report.sequential()) {
            snapshot.set(WindowMetric.SEQUENTIAL_EVIDENCE, sequential.statistic(), sequential.share());
        }
        for (Statistic statistic : Statistic.values()) {
            snapshot.set(statistic, geometry.value(statistic).orElse(Double.NaN));
            String bound = statistic.series().value();
            if (statistic.bound().isPresent() && bound != null) {
                snapshot.set(WindowMetric.GAP_BOUND_VACUOUS, bound, geometry.isVacuous(statistic))
                        .set(WindowMetric.GAP_BOUND_CERTIFIED, bound, geometry.isCertified(statistic));
            }
        }
        return snapshot.build();
    }

    /** Returns what is said of all target layers together: which of them stands worst. */
    static SiteSnapshot of(TargetsReport report) {
        return SiteSnapshot.of(report.site())
                .window(report.windowStartMs(), report.windowEndMs())
                .set(WindowMetric.WORST_BLOCK, report.worstBlock(), Boolean.TRUE)
                .build();
    }

    private static void addOrigins(SiteSnapshot.Builder snapshot, WindowReport report) {
        DriftCause cause = report.cause();
        if (cause != null) {
            cause.changes()
                    .forEach(change -> snapshot.set(
                            WindowMetric.DRIFT_CHANGE, change.name() + " " + change.value(), change.share()));
        }
        Breakdown breakdown = report.breakdown();
        if (breakdown != null) {
            for (Breakdown.OfValue one : breakdown.values()) {
                snapshot.set(WindowMetric.BREAKDOWN_GAP, one.value(), one.faithfulnessGap())
                        .set(WindowMetric.BREAKDOWN_SHIFT, one.value(), one.whitenedMeanShift())
                        .set(WindowMetric.BREAKDOWN_FVU, one.value(), one.fvu());
            }
        }
    }

    /** Adds the figures of the rest of the model; those of the trained decoder are statistics. */
    private static void addDownstream(SiteSnapshot.Builder snapshot, @Nullable DownstreamReport downstream) {
        if (downstream == null) {
            return;
        }
        snapshot.set(WindowMetric.DOWNSTREAM_REQUESTS, downstream.requests());
        Map<String, Figure> active = downstream.active();
        if (active != null) {
            for (Statistic statistic : WindowBehaviour.STATISTICS) {
                Figure figure = active.get(statistic.label());
                snapshot.set(WindowMetric.of(statistic), "active", figure == null ? null : figure.value());
            }
        }
    }

    private static void addCoverage(SiteSnapshot.Builder snapshot, @Nullable CoverageReport coverage) {
        if (coverage != null) {
            snapshot.set(WindowMetric.COVERAGE, "delivered", coverage.deliveredShare())
                    .set(WindowMetric.COVERAGE, "cached", coverage.cachedShare())
                    .set(WindowMetric.COVERAGE, "not_sampled", coverage.notSampledShare())
                    .set(WindowMetric.COVERAGE, "dropped", coverage.droppedShare())
                    .set(WindowMetric.COVERAGE_MOVED, coverage.moved() == null ? 0 : 1);
        }
    }

    private static @Nullable Double seconds(@Nullable Long milliseconds) {
        return milliseconds == null ? null : Double.valueOf(milliseconds / 1e3);
    }

    /** Returns the warning; absent where nothing warns or where that is undecided. */
    private static @Nullable Integer warning(WindowReport report) {
        if (report.warning() == null || report.warning() == Verdict.UNDECIDED) {
            return null;
        }
        return report.warning() == Verdict.DRIFTED ? 1 : 0;
    }

    /** Returns the smallest, the middle (of an even number the larger) or the largest of ascending angles. */
    private static @Nullable Double angle(@Nullable List<Double> ascending, double share) {
        return ascending == null || ascending.isEmpty()
                ? null
                : ascending.get((int) Math.min(ascending.size() - 1L, Math.round(share * (ascending.size() - 1))));
    }
}
