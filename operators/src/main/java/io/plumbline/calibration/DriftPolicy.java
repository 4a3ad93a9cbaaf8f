package io.plumbline.calibration;

/**
 * Turns the statistic of one window after another into verdicts that do not flicker.
 *
 * <p><b>Debounce.</b> A site becomes drifted when {@code needed} of its last {@code memory} judged windows lie above the
 * threshold. <b>Hysteresis.</b> It becomes aligned again when as many lie at or below {@code clearShare} times the threshold;
 * in between nothing changes. <b>Cooldown.</b> For so long after a change there is no other, though windows are still
 * remembered, so that a change that is due happens with the first judged window after it.
 *
 * <p><b>Undecided windows</b> neither count nor reset: they are not remembered, and the site's standing stays. Three windows
 * above the threshold with a gap in the data between them are still three in a row; a site that falls silent is the
 * business of another alert.
 *
 * <p>A pure function of state, value and time. Immutable; any number of threads.
 *
 * @param clearShare the clear level as a share of the threshold, in (0, 1]; 1 = no hysteresis
 * @param cooldownMs in milliseconds of event time
 */
public record DriftPolicy(int needed, int memory, double clearShare, long cooldownMs) {

    public DriftPolicy {
        if (needed < 1 || memory < needed || memory > DriftState.LONGEST_MEMORY) {
            throw new IllegalArgumentException(
                    "debounce %d of %d windows: expected 1 <= needed <= memory <= %d; 2 of 3 is usual"
                            .formatted(needed, memory, DriftState.LONGEST_MEMORY));
        }
        if (!(clearShare > 0.0 && clearShare <= 1.0)) {
            throw new IllegalArgumentException(
                    "clear share = %s: expected a share in (0, 1]; 0.9 clears 10 %% below the threshold"
                            .formatted(clearShare));
        }
        if (cooldownMs < 0) {
            throw new IllegalArgumentException("cooldown = %d ms: expected 0 or more".formatted(cooldownMs));
        }
    }

    /** Every window speaks for itself. */
    public static DriftPolicy immediate() {
        return new DriftPolicy(1, 1, 1.0, 0);
    }

    /** What a window did to its site. */
    public enum Transition {
        NONE,
        BECAME_DRIFTED,
        BECAME_ALIGNED
    }

    /** The state to keep, the verdict of the window, and whether the site's standing changed with it. */
    public record Outcome(DriftState state, DriftVerdict verdict, Transition transition) {}

    /** A window that cannot be judged: everything stays. */
    public Outcome undecided(DriftState state, String reason) {
        return new Outcome(state, new DriftVerdict.Undecided(reason), Transition.NONE);
    }

    /**
     * Judges one window.
     *
     * @param value of the statistic; NaN is undecided
     * @param level the threshold in force; an unknown one is undecided
     * @param timeMs event time of the window, ms since the epoch
     */
    public Outcome judge(DriftState state, double value, Threshold.Level level, long timeMs) {
        if (level instanceof Threshold.Level.Unknown unknown) {
            return undecided(state, unknown.reason());
        }
        if (Double.isNaN(value)) {
            return undecided(state, "the statistic is undefined in this window");
        }
        double threshold = ((Threshold.Level.Known) level).value();
        boolean againstStanding = state.drifted() ? value <= clearShare * threshold : value > threshold;
        DriftState next = state.remembering(againstStanding, memory);
        Transition transition = Transition.NONE;
        if (Long.bitCount(next.outcomes()) >= needed && cooledDown(next, timeMs)) {
            next = next.changed(timeMs);
            transition = next.drifted() ? Transition.BECAME_DRIFTED : Transition.BECAME_ALIGNED;
        }
        DriftVerdict verdict = next.drifted()
                ? new DriftVerdict.Drifted(value, threshold)
                : new DriftVerdict.Aligned(value, threshold);
        return new Outcome(next, verdict, transition);
    }

    private boolean cooledDown(DriftState state, long timeMs) {
        return state.lastChangeMs() == Long.MIN_VALUE || timeMs - state.lastChangeMs() >= cooldownMs;
    }
}
