package io.plumbline.topology.console;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.topology.report.Groups;
import io.plumbline.topology.report.Headline;
import io.plumbline.topology.report.SectionKind.Shown;
import io.plumbline.topology.report.Sections;
import io.plumbline.topology.report.WindowReport;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One window as a chart needs it: the groups of its report that are small. In JSON its keys are those of {@link
 * WindowReport} where both have them, every statistic that is {@linkplain Statistic#shown shown} and every section of
 * {@link Shown#EACH_WINDOW} among them; a number that is undefined in the window is null.
 *
 * @param headline how many times its threshold the deciding statistic is, and which, in words; null where the window is
 *     undecided
 * @param details what goes with the reason, a sentence each
 * @param gapThreshold threshold of the faithfulness gap; null where it has none
 * @param gapUpperBoundVacuous whether the upper bound exceeds the largest possible gap
 * @param groupShares share of requests of each group by its number; null where the window tells no groups
 * @param numbers the statistics that exist in the window
 * @param sections what the page shows in each window, by key
 */
public record WindowPoint(
        @JsonUnwrapped WindowReport.Header header,
        long rows,
        @JsonUnwrapped WindowReport.Counts counts,
        @JsonUnwrapped WindowReport.Judged judged,
        @Nullable Double overThreshold,
        @Nullable String headline,
        List<String> details,
        @JsonUnwrapped WindowReport.Evidence evidence,
        @JsonUnwrapped WindowReport.InService inService,
        @JsonUnwrapped(prefix = "masked_") WindowReport.Masked masked,
        @Nullable Double gapThreshold,
        @Nullable Boolean gapUpperBoundVacuous,
        @Nullable Map<Integer, Double> groupShares,
        @JsonIgnore Map<Statistic, Double> numbers,
        @JsonIgnore Map<String, @Nullable Object> sections) {

    public WindowPoint {
        groupShares = groupShares == null ? null : Collections.unmodifiableMap(groupShares);
        numbers = Collections.unmodifiableMap(numbers);
        details = List.copyOf(details);
        sections = Collections.unmodifiableMap(sections);
    }

    static WindowPoint of(WindowReport report) {
        GapAssessment geometry = report.geometry();
        Headline headline = report.judged().headline();
        return new WindowPoint(
                report.header(),
                geometry.rows(),
                report.counts(),
                report.judged(),
                report.overThreshold(),
                headline == null ? null : headline.sentence(),
                report.details(),
                report.evidence(),
                report.inService(),
                report.masked(),
                gapThreshold(report),
                geometry.isVacuous(Statistic.GAP_UPPER_BOUND),
                groupShares(report.section(Sections.GROUPS)),
                numbers(geometry),
                report.sections().shown(Shown.EACH_WINDOW));
    }

    private static @Nullable Map<Integer, Double> groupShares(@Nullable Groups groups) {
        return groups == null
                ? null
                : groups.groups().stream().collect(Collectors.toMap(Groups.Group::number, Groups.Group::share));
    }

    private static Map<Statistic, Double> numbers(GapAssessment geometry) {
        Map<Statistic, Double> numbers = new EnumMap<>(Statistic.class);
        for (Statistic statistic : Statistic.shown()) {
            geometry.value(statistic).ifPresent(number -> numbers.put(statistic, number));
        }
        return numbers;
    }

    /** Every statistic by its label, and the sections by their keys. */
    @JsonAnyGetter
    Map<String, @Nullable Object> flat() {
        Map<String, @Nullable Object> flat = new LinkedHashMap<>();
        for (Statistic statistic : Statistic.shown()) {
            flat.put(statistic.label(), numbers.get(statistic));
        }
        flat.putAll(sections);
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
        return header.windowStartMs() == other.header.windowStartMs()
                && header.windowEndMs() == other.header.windowEndMs();
    }
}
