package io.plumbline.topology.metrics;

import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.judgement.Verdict;
import io.plumbline.topology.report.Sections;
import io.plumbline.topology.report.SequentialReport;
import io.plumbline.topology.report.StatisticReport;
import io.plumbline.topology.report.TargetsReport;
import io.plumbline.topology.report.WindowMetric;
import io.plumbline.topology.report.WindowReport;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Translates the report of a window into the values of its site's gauges. */
final class WindowValues {

    private static final double DAY_SECONDS = 86_400.0;

    private WindowValues() {}

    /** Returns every value that the report defines; what is undefined is left out. */
    static SiteSnapshot of(WindowReport report) {
        GapAssessment geometry = report.geometry();
        List<Double> angles = geometry.principalAngles();
        double rowsThatCame = report.masked().byToken() + report.masked().byNorm() + geometry.rows();
        SiteSnapshot.Builder snapshot = SiteSnapshot.of(report.header().site())
                .window(report.header().windowStartMs(), report.header().windowEndMs())
                .verdict(report.judged().verdict())
                .set(WindowMetric.DECODER_VERSION, report.inService().decoderVersion())
                .set(WindowMetric.BASELINE_CREATED, seconds(report.baseline().createdMs()))
                .set(WindowMetric.BASELINE_REVISION, report.baseline().revision())
                .set(
                        WindowMetric.DECIDING,
                        report.judged().trigger(),
                        report.judged().triggerValue())
                .set(WindowMetric.OVER_THRESHOLD, report.judged().trigger(), report.overThreshold())
                .set(WindowMetric.WARNING, warning(report))
                .set(WindowMetric.FVU, "active", report.inService().reconstructionFvu())
                .set(WindowMetric.ROWS, geometry.rows())
                .set(WindowMetric.RANK, geometry.rank())
                .set(WindowMetric.DIMENSION, geometry.dimension())
                .set(WindowMetric.ACTIVE_FAITHFULNESS_GAP, report.inService().activeFaithfulnessGap())
                .set(WindowMetric.PRINCIPAL_ANGLE, "smallest", angle(angles, 0.0))
                .set(WindowMetric.PRINCIPAL_ANGLE, "median", angle(angles, 0.5))
                .set(WindowMetric.PRINCIPAL_ANGLE, "largest", angle(angles, 1.0))
                .set(WindowMetric.GAP_BOUND_VACUOUS, "upper", geometry.isVacuous(Statistic.GAP_UPPER_BOUND))
                .set(WindowMetric.CERTIFIED, oneOrZero(geometry.davisKahanCertified()))
                .set(WindowMetric.MASKED, "token_id", report.masked().byToken() / rowsThatCame)
                .set(WindowMetric.MASKED, "norm", report.masked().byNorm() / rowsThatCame)
                .set(WindowMetric.ENERGY_CONCENTRATED, report.section(Sections.ENERGY_WARNING) == null ? 0 : 1);
        for (StatisticReport statistic : report.evidence().statistics()) {
            snapshot.set(WindowMetric.THRESHOLD, statistic.statistic(), statistic.threshold());
        }
        snapshot.set(WindowMetric.FALSE_ALARM_INTERVAL, "windows", interval(report, StatisticReport::cleanWindows));
        snapshot.set(WindowMetric.FALSE_ALARM_INTERVAL, "requests", interval(report, StatisticReport::cleanRequests));
        report.sections().addTo(snapshot);
        for (SequentialReport sequential : report.evidence().sequential()) {
            snapshot.set(WindowMetric.SEQUENTIAL_EVIDENCE, sequential.statistic(), sequential.share());
        }
        for (Statistic statistic : Statistic.shown()) {
            snapshot.set(statistic, geometry.value(statistic).orElse(Double.NaN));
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

    /** Returns the seconds between false alarms of the triggers whose threshold rests on such clean values. */
    private static double interval(WindowReport report, Function<StatisticReport, @Nullable Integer> clean) {
        return DAY_SECONDS
                / report.evidence().statistics().stream()
                        .filter(one -> one.role().equals(StatisticReport.TRIGGER) && clean.apply(one) != null)
                        .map(StatisticReport::alarmsPerDay)
                        .filter(Objects::nonNull)
                        .mapToDouble(Double::doubleValue)
                        .max()
                        .orElse(Double.NaN);
    }

    private static @Nullable Double seconds(@Nullable Long milliseconds) {
        return milliseconds == null ? null : Double.valueOf(milliseconds / 1e3);
    }

    private static @Nullable Integer oneOrZero(@Nullable Boolean flag) {
        return flag == null ? null : Integer.valueOf(flag ? 1 : 0);
    }

    /** Returns the warning; absent where nothing warns or where that is undecided. */
    private static @Nullable Integer warning(WindowReport report) {
        if (report.evidence().warning() == null || report.evidence().warning() == Verdict.UNDECIDED) {
            return null;
        }
        return report.evidence().warning() == Verdict.DRIFTED ? 1 : 0;
    }

    /** Returns the smallest, the middle (of an even number the larger) or the largest of ascending angles. */
    private static @Nullable Double angle(@Nullable List<Double> ascending, double share) {
        return ascending == null || ascending.isEmpty()
                ? null
                : ascending.get((int) Math.min(ascending.size() - 1L, Math.round(share * (ascending.size() - 1))));
    }
}
