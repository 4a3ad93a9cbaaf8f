package io.plumbline.topology.console;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonIgnore;
import io.plumbline.calibration.Verdict;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.topology.report.Breakdown;
import io.plumbline.topology.report.CoverageReport;
import io.plumbline.topology.report.Headline;
import io.plumbline.topology.report.Sections;
import io.plumbline.topology.report.WindowReport;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One window as a chart needs it. In JSON its keys are those of {@link WindowReport} where both have them, every {@link
 * Statistic} among them; a number that is undefined in the window is null.
 *
 * @param details what goes with the reason, a sentence each
 * @param headline how many times its threshold the deciding statistic is, and which, in words; null where the window is
 *     undecided
 * @param statistics those that trigger or warn, each with its threshold
 * @param numbers the statistics that exist in the window; flat in JSON, see {@link #flat()}
 * @param reconstructionFvu of the decoder in service
 * @param gapUpperBoundVacuous whether the upper bound exceeds the largest possible gap
 */
public record WindowPoint(
        long windowStartMs,
        long windowEndMs,
        String closedBy,
        long rows,
        long requests,
        Verdict verdict,
        String reason,
        List<String> details,
        String trigger,
        @Nullable Double triggerValue,
        @Nullable Double threshold,
        @Nullable Double overThreshold,
        @Nullable String headline,
        @JsonIgnore Map<Statistic, Double> numbers,
        @Nullable Double gapThreshold,
        @Nullable Boolean gapUpperBoundVacuous,
        @Nullable Double activeFaithfulnessGap,
        @Nullable Double reconstructionFvu,
        double maskedShare,
        @Nullable CoverageReport coverage,
        @Nullable Breakdown breakdown,
        @Nullable String energyWarning,
        @Nullable Verdict warning,
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

    public WindowPoint {
        numbers = Collections.unmodifiableMap(numbers);
        details = List.copyOf(details);
        statistics = List.copyOf(statistics);
    }

    static WindowPoint of(WindowReport report) {
        GapAssessment geometry = report.geometry();
        Headline headline = report.judged().headline();
        return new WindowPoint(
                report.header().windowStartMs(),
                report.header().windowEndMs(),
                report.header().closedBy(),
                geometry.rows(),
                report.counts().requests(),
                report.judged().verdict(),
                report.judged().reason(),
                report.details(),
                report.judged().trigger(),
                report.judged().triggerValue(),
                report.judged().threshold(),
                report.overThreshold(),
                headline == null ? null : headline.sentence(),
                numbers(geometry),
                gapThreshold(report),
                geometry.isVacuous(Statistic.GAP_UPPER_BOUND),
                report.inService().activeFaithfulnessGap(),
                report.inService().reconstructionFvu(),
                report.masked().share(),
                report.section(Sections.COVERAGE),
                report.section(Sections.BREAKDOWN),
                report.section(Sections.ENERGY_WARNING),
                report.evidence().warning(),
                report.evidence().warningReason(),
                report.inService().decoderVersion(),
                report.inService().adaptationRequested(),
                report.inService().rollbackRequested(),
                report.evidence().statistics().stream()
                        .map(one -> new Level(one.statistic(), one.role(), one.value(), one.threshold()))
                        .toList());
    }

    private static Map<Statistic, Double> numbers(GapAssessment geometry) {
        Map<Statistic, Double> numbers = new EnumMap<>(Statistic.class);
        for (Statistic statistic : Statistic.values()) {
            geometry.value(statistic).ifPresent(number -> numbers.put(statistic, number));
        }
        return numbers;
    }

    /** The number of a statistic, null where it is undefined in the window. */
    @Nullable
    Double number(Statistic statistic) {
        return numbers.get(statistic);
    }

    /** Every statistic by its label. */
    @JsonAnyGetter
    Map<String, @Nullable Double> flat() {
        Map<String, @Nullable Double> flat = new LinkedHashMap<>();
        for (Statistic statistic : Statistic.values()) {
            flat.put(statistic.label(), numbers.get(statistic));
        }
        return flat;
    }

    private static @Nullable Double gapThreshold(WindowReport report) {
        return report.evidence().statistics().stream()
                .filter(one -> one.statistic().equals(Statistic.FAITHFULNESS_GAP.label()))
                .flatMap(one -> Stream.ofNullable(one.threshold())) // none in a window with too few rows
                .findFirst()
                .orElse(null);
    }

    /** Returns whether both speak of the same stretch of event time. */
    boolean isSameWindow(WindowPoint other) {
        return windowStartMs == other.windowStartMs && windowEndMs == other.windowEndMs;
    }
}
