package io.plumbline.calibration;

import java.util.Locale;

/**
 * When a site turns drifted and when it turns back: debounce and hysteresis over the windows' levels.
 *
 * <p>A site turns drifted when {@code windowsOver} of its last {@code ofWindows} decided windows exceeded the threshold. It
 * turns back when as many of them were at or below the clear level, which lies at or below the threshold. Undecided
 * windows neither count nor reset. Pure and immutable.
 */
public record DriftPolicy(int windowsOver, int ofWindows) {

    private static final int LONGEST_MEMORY = 64;

    public DriftPolicy {
        if (windowsOver < 1 || ofWindows < windowsOver || ofWindows > LONGEST_MEMORY) {
            throw new IllegalArgumentException(
                    "debounce = %d of %d: expected j of n with 1 <= j <= n <= %d, such as 2 of 3"
                            .formatted(windowsOver, ofWindows, LONGEST_MEMORY));
        }
    }

    /** What a window changed. */
    public enum Transition {
        NONE,
        DRIFTED,
        CLEARED
    }

    /** The state after a window, what is said, and what changed. */
    public record Step(DriftState state, DriftVerdict verdict, Transition transition) {}

    /**
     * Takes one decided window.
     *
     * @param value the trigger statistic
     * @param threshold above it the window counts against the site
     * @param clearLevel at or below it the window counts for the site
     */
    public Step step(DriftState state, String statistic, double value, double threshold, double clearLevel) {
        DriftState seen = state.seen(value > threshold, value <= clearLevel);
        int over = Long.bitCount(seen.over() & lastWindows());
        int clear = Long.bitCount(seen.clear() & lastWindows());
        if (!state.drifted()) {
            String reason = String.format(
                    Locale.ROOT,
                    "%s = %.4f, threshold %.4f; %d of the last %d windows over, %d needed",
                    statistic,
                    value,
                    threshold,
                    over,
                    Math.min(ofWindows, seen.decided()),
                    windowsOver);
            return over >= windowsOver
                    ? new Step(seen.turned(true), new DriftVerdict.Drifted(reason), Transition.DRIFTED)
                    : new Step(seen, new DriftVerdict.Aligned(reason), Transition.NONE);
        }
        String reason = String.format(
                Locale.ROOT,
                "%s = %.4f, clear level %.4f; %d of the last %d windows clear, %d needed",
                statistic,
                value,
                clearLevel,
                clear,
                Math.min(ofWindows, seen.decided()),
                windowsOver);
        return clear >= windowsOver
                ? new Step(seen.turned(false), new DriftVerdict.Aligned(reason), Transition.CLEARED)
                : new Step(seen, new DriftVerdict.Drifted(reason), Transition.NONE);
    }

    private long lastWindows() {
        return ofWindows == LONGEST_MEMORY ? -1L : (1L << ofWindows) - 1;
    }
}
