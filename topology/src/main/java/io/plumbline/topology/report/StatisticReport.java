package io.plumbline.topology.report;

import io.plumbline.judgement.Basis;
import io.plumbline.judgement.Reading;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One statistic of one window beside its threshold.
 *
 * @param statistic its name
 * @param role {@code trigger} or {@code warn}
 * @param value null where undefined
 * @param score the value's distance from the mean of the clean windows of as many rows, in their standard deviations:
 *     the statistic with the largest one speaks for the window; null where the threshold was not taken from clean
 *     windows
 * @param threshold in the statistic's own unit; null where there is none
 * @param exceeded null where that cannot be said
 * @param cleanWindows how many clean windows the threshold was taken from; null for a number or a share
 * @param cleanRequests how many of the baseline's requests it was taken from; null where it was taken from windows
 * @param windowRate share of clean windows above it, of all statistics of this role together, at most
 * @param alarmsPerDay false alarms a day after debounce, of all statistics of this role together, at most
 * @param confidence with which both rates hold for this baseline; null where they are averages over baselines
 * @param basis the sentence for the threshold, or why there is none
 */
public record StatisticReport(
        String statistic,
        String role,
        @Nullable Double value,
        @Nullable Double score,
        @Nullable Double threshold,
        @Nullable Boolean exceeded,
        @Nullable Integer cleanWindows,
        @Nullable Integer cleanRequests,
        @Nullable Double windowRate,
        @Nullable Double alarmsPerDay,
        @Nullable Double confidence,
        @Nullable String basis) {

    /** The role of a statistic that decides. */
    public static final String TRIGGER = "trigger";

    /** Returns the report of every statistic that triggers. */
    public static List<StatisticReport> triggers(List<Reading> readings) {
        return readings.stream().map(reading -> of(TRIGGER, reading)).toList();
    }

    /** Returns the report of one statistic; {@code role} is trigger or warn. */
    public static StatisticReport of(String role, Reading reading) {
        Basis basis = reading.basis();
        return new StatisticReport(
                reading.statistic(),
                role,
                reading.value(),
                reading.score(),
                reading.threshold(),
                reading.exceeded(),
                basis == null ? null : basis.countOf(Basis.Clean.WINDOWS),
                basis == null ? null : basis.countOf(Basis.Clean.REQUESTS),
                basis == null ? null : basis.windowRate(),
                basis == null ? null : basis.alarmsPerDay(),
                basis == null ? null : basis.confidence(),
                basis == null ? reading.undecided() : basis.sentence());
    }
}
