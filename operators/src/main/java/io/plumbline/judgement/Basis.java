package io.plumbline.judgement;

import org.jspecify.annotations.Nullable;

/**
 * The clean windows or requests that a level was taken from, and what they promise.
 *
 * @param clean which of the two
 * @param count K, the fewest where two sizes were interpolated
 * @param windowRate the share of clean windows that lie above it, at most
 * @param alarmsPerDay false alarms a day after debounce, at most; null where the level was not asked for by alarms
 * @param confidence the probability with which both rates hold for this baseline; null where they are averages over all
 *     baselines that might have been recorded; this one may be worse than their average
 * @param rule which clean value it is, or between which
 * @param shortfall null where the level keeps what was asked for; otherwise what it keeps instead and what to collect
 */
public record Basis(
        Clean clean,
        int count,
        double windowRate,
        @Nullable Double alarmsPerDay,
        @Nullable Double confidence,
        String rule,
        @Nullable String shortfall) {

    /** The part of a baseline that a level rests on. */
    public enum Clean {
        WINDOWS,
        REQUESTS
    }

    private static final double DAY_MS = 86_400_000.0;

    /** Returns how many clean windows or requests these are; null where they are the other. */
    public @Nullable Integer countOf(Clean asked) {
        return clean == asked ? Integer.valueOf(count) : null;
    }

    /** Returns whether it keeps what was asked for. */
    public boolean isKept() {
        return shortfall == null;
    }

    /** Returns the rule, what it promises, and what is missing. */
    public String sentence() {
        String promise = "%s: 1 clean window in %s above it".formatted(rule, Amounts.number(1.0 / windowRate));
        if (alarmsPerDay != null && alarmsPerDay > 0.0) {
            promise += ", at most 1 false alarm in " + Amounts.time(DAY_MS / alarmsPerDay);
        }
        promise += confidence == null ? ", on average over baselines" : ", " + withConfidence(confidence);
        return shortfall == null ? promise : promise + "; " + shortfall;
    }

    /** Returns the promise alone, in a few words. */
    public String promise() {
        String rate = alarmsPerDay != null && alarmsPerDay > 0.0
                ? "1 false alarm in " + Amounts.time(DAY_MS / alarmsPerDay)
                : "1 clean window in %s above".formatted(Amounts.number(1.0 / windowRate));
        return confidence == null ? rate + " on average" : rate + " " + withConfidence(confidence);
    }

    private static String withConfidence(double confidence) {
        return "with %s %% confidence for this baseline".formatted(Amounts.number(100.0 * confidence));
    }

    /** Returns what stands behind a level between two levels: what both keep. */
    public Basis and(Basis other, String rule) {
        Double days = alarmsPerDay == null || other.alarmsPerDay == null
                ? null
                : Double.valueOf(Math.max(alarmsPerDay, other.alarmsPerDay));
        return new Basis(
                clean,
                Math.min(count, other.count),
                Math.max(windowRate, other.windowRate),
                days,
                other.confidence == null ? null : confidence,
                rule,
                shortfall == null ? other.shortfall : shortfall);
    }
}
