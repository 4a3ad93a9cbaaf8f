package io.plumbline.topology.console;

import io.plumbline.geometry.GapAssessment;
import io.plumbline.topology.assessment.StatisticReport;
import io.plumbline.topology.assessment.WindowReport;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One window as a chart needs it. In JSON its keys are those of {@link WindowReport} where both have them; a number that is undefined in
 * the window is null.
 *
 * @param statistics those that trigger or warn, each with its threshold
 * @param reconstructionFvu of the decoder in service
 * @param gapUpperBoundVacuous whether the upper bound exceeds the largest possible gap
 */
public record WindowPoint(
        long windowStartMs,
        long windowEndMs,
        String closedBy,
        long rows,
        long requests,
        String verdict,
        String reason,
        String trigger,
        @Nullable Double triggerValue,
        @Nullable Double threshold,
        @Nullable Double faithfulnessGap,
        @Nullable Double gapThreshold,
        @Nullable Double gapLowerBound,
        @Nullable Double gapUpperBound,
        @Nullable Boolean gapUpperBoundVacuous,
        double largestGap,
        @Nullable Double activeFaithfulnessGap,
        @Nullable Double baselineGap,
        @Nullable Double reconstructionFvuTrained,
        @Nullable Double reconstructionFvu,
        @Nullable Double secondMomentShiftRatio,
        @Nullable Double whitenedMeanShift,
        @Nullable Double residualEnergy,
        @Nullable Double topEigenvalueShare,
        double maskedShare,
        @Nullable String energyWarning,
        @Nullable String warning,
        @Nullable String warningReason,
        long decoderVersion,
        boolean adaptationRequested,
        boolean rollbackRequested,
        List<Level> statistics) {

    /** One statistic beside its threshold. */
    public record Level(
            String statistic,
            String role,
            @Nullable Double value,
            @Nullable Double threshold) {}

    private static final String GAP = "faithfulness_gap";

    public WindowPoint {
        statistics = List.copyOf(statistics);
    }

    static WindowPoint of(WindowReport report) {
        GapAssessment geometry = report.geometry();
        return new WindowPoint(
                report.windowStartMs(),
                report.windowEndMs(),
                report.closedBy(),
                geometry.rows(),
                report.requests(),
                report.verdict(),
                report.reason(),
                report.trigger(),
                report.triggerValue(),
                report.threshold(),
                geometry.faithfulnessGap(),
                gapThreshold(report),
                geometry.gapLowerBound(),
                geometry.gapUpperBound(),
                geometry.vacuous().get("gap_upper_bound"),
                geometry.largestGap(),
                report.activeFaithfulnessGap(),
                geometry.baselineGap(),
                geometry.reconstructionFvuTrained(),
                report.reconstructionFvu(),
                geometry.secondMomentShiftRatio(),
                geometry.whitenedMeanShift(),
                geometry.residualEnergy(),
                geometry.topEigenvalueShare(),
                report.maskedShare(),
                report.energyWarning(),
                report.warning(),
                report.warningReason(),
                report.decoderVersion(),
                report.adaptationRequested(),
                report.rollbackRequested(),
                report.statistics().stream()
                        .map(one -> new Level(one.statistic(), one.role(), one.value(), one.threshold()))
                        .toList());
    }

    private static @Nullable Double gapThreshold(WindowReport report) {
        return report.statistics().stream()
                .filter(one -> one.statistic().equals(GAP))
                .map(StatisticReport::threshold)
                .findFirst()
                .orElse(null);
    }

    /** Whether both speak of the same stretch of event time. */
    boolean isSameWindow(WindowPoint other) {
        return windowStartMs == other.windowStartMs && windowEndMs == other.windowEndMs;
    }
}
