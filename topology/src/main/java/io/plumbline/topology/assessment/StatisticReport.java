package io.plumbline.topology.assessment;

import io.plumbline.calibration.Basis;
import io.plumbline.calibration.Reading;
import org.jspecify.annotations.Nullable;

/**
 * One statistic of one window beside its threshold.
 *
 * @param statistic its name
 * @param role {@code trigger} or {@code warn}
 * @param value null where undefined
 * @param threshold null where there is none
 * @param exceeded null where that cannot be said
 * @param cleanWindows how many clean windows the threshold was taken from; null for a number or a share
 * @param windowRate share of clean windows above it, of all statistics of this role together, at most
 * @param alarmsPerDay false alarms a day after debounce, of all statistics of this role together, at most
 * @param basis the sentence for the threshold, or why there is none
 */
public record StatisticReport(
        String statistic,
        String role,
        @Nullable Double value,
        @Nullable Double threshold,
        @Nullable Boolean exceeded,
        @Nullable Integer cleanWindows,
        @Nullable Double windowRate,
        @Nullable Double alarmsPerDay,
        @Nullable String basis) {

    static StatisticReport of(String role, Reading reading) {
        Basis basis = reading.basis();
        return new StatisticReport(
                reading.statistic(),
                role,
                reading.value(),
                reading.threshold(),
                reading.exceeded(),
                basis == null ? null : basis.cleanWindows(),
                basis == null ? null : basis.windowRate(),
                basis == null ? null : basis.alarmsPerDay(),
                basis == null ? reading.undecided() : basis.sentence());
    }
}
