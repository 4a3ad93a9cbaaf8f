package io.plumbline.calibration;

import org.jspecify.annotations.Nullable;

/**
 * What stands behind a level that was taken from clean windows.
 *
 * @param cleanWindows K, the fewest where two sizes were interpolated
 * @param windowRate the share of clean windows that lie above it, at most
 * @param alarmsPerDay false alarms a day after debounce, at most; null where the level was not asked for by alarms
 * @param confidence the probability with which both rates hold for this baseline; null where they are averages over all baselines
 *     that might have been recorded, of which this one may be worse
 * @param rule which clean value it is, or between which
 * @param shortfall null where the level keeps what was asked for; otherwise what it keeps instead and what to collect
 */
public record Basis(
        int cleanWindows,
        double windowRate,
        @Nullable Double alarmsPerDay,
        @Nullable Double confidence,
        String rule,
        @Nullable String shortfall) {

    /** The rule, what it promises, and what is missing. */
    public String sentence() {
        String promise = "%s: 1 clean window in %s above it".formatted(rule, Amounts.number(1.0 / windowRate));
        if (alarmsPerDay != null && alarmsPerDay > 0.0) {
            promise += ", at most 1 false alarm in " + Amounts.time(86_400_000.0 / alarmsPerDay);
        }
        promise += confidence == null
                ? ", on average over baselines"
                : ", with %s %% confidence for this baseline".formatted(Amounts.number(100.0 * confidence));
        return shortfall == null ? promise : promise + "; " + shortfall;
    }

    /** Of a level between two levels: what both keep. */
    Basis and(Basis other, String rule) {
        Double days = alarmsPerDay == null || other.alarmsPerDay == null
                ? null
                : Double.valueOf(Math.max(alarmsPerDay, other.alarmsPerDay));
        return new Basis(
                Math.min(cleanWindows, other.cleanWindows),
                Math.max(windowRate, other.windowRate),
                days,
                other.confidence == null ? null : confidence,
                rule,
                shortfall == null ? other.shortfall : shortfall);
    }
}
