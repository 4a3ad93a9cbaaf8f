package io.plumbline.judgement;

import io.plumbline.judgement.DriftVerdict.Debounce;

/**
 * Turns the statistic of one window after another into verdicts that do not flicker.
 *
 * <p><b>Debounce.</b> A site becomes drifted when {@code needed} of its last {@code memory} judged windows lie above
 * the threshold. <b>Hysteresis.</b> It becomes aligned again when as many lie at or below the clear level, which is at
 * most the threshold; in between nothing changes.
 *
 * <p><b>Undecided windows</b> neither count nor reset: they are not remembered, and the site's standing stays. Three
 * windows above the threshold with a gap in the data between them are still three in a row; a site that falls silent is
 * the business of another alert.
 *
 * <p>A pure function of state and value. Immutable; any number of threads.
 */
public record DriftPolicy(int needed, int memory) {

    /** The debouncing of a site where nothing else is written: 2 of the last 3 windows. */
    public static final DriftPolicy STANDARD = new DriftPolicy(2, 3);

    public DriftPolicy {
        if (needed < 1 || memory < needed || memory > DriftState.LONGEST_MEMORY) {
            throw new IllegalArgumentException(
                    "debounce %d of %d windows: expected 1 <= needed <= memory <= %d; 2 of 3 is usual"
                            .formatted(needed, memory, DriftState.LONGEST_MEMORY));
        }
    }

    /** Returns the policy by which every window speaks for itself. */
    public static DriftPolicy immediate() {
        return new DriftPolicy(1, 1);
    }

    /** The change of its site's standing that a window makes. */
    public enum Transition {
        NONE,
        BECAME_DRIFTED,
        BECAME_ALIGNED
    }

    /** The state to keep, the verdict of the window, and whether the site's standing changed with it. */
    public record Outcome(DriftState state, DriftVerdict verdict, Transition transition) {}

    /** Returns the outcome of a window that cannot be judged: everything stays. */
    public Outcome undecided(DriftState state, String reason) {
        return new Outcome(state, new DriftVerdict.Undecided(reason), Transition.NONE);
    }

    /**
     * Takes one window.
     *
     * @param value the statistic; NaN is undecided
     * @param level above it a window speaks for drift
     * @param clear at or below it a window speaks against; levels above {@code level} count as {@code level}
     */
    public Outcome judge(DriftState state, double value, Threshold.Level level, Threshold.Level clear) {
        if (level instanceof Threshold.Level.Unknown unknown) {
            return undecided(state, unknown.reason());
        }
        if (clear instanceof Threshold.Level.Unknown unknown) {
            return undecided(state, unknown.reason());
        }
        if (Double.isNaN(value)) {
            return undecided(state, "the statistic is undefined in this window");
        }
        double threshold = ((Threshold.Level.Known) level).value();
        Basis basis = ((Threshold.Level.Known) level).basis();
        double clearLevel = Math.min(threshold, ((Threshold.Level.Known) clear).value());
        boolean againstStanding = state.drifted() ? value <= clearLevel : value > threshold;
        DriftState next = state.remembering(againstStanding, memory);
        Transition transition = Transition.NONE;
        int against = Long.bitCount(next.outcomes());
        if (against >= needed) {
            next = next.changed();
            transition = next.drifted() ? Transition.BECAME_DRIFTED : Transition.BECAME_ALIGNED;
        }
        DriftVerdict verdict = next.drifted()
                ? new DriftVerdict.Drifted(value, threshold, basis, new Debounce(against, needed, clearLevel))
                : new DriftVerdict.Aligned(value, threshold, basis, new Debounce(against, needed, threshold));
        return new Outcome(next, verdict, transition);
    }
}
