package io.plumbline.judgement;

import java.util.Locale;

/**
 * Adds up evidence over the requests of all windows: finds a drift of few requests.
 *
 * <p>The values of a window are the scores of its requests, the clean values those of the baseline's requests. Two
 * detectors take them. The first compares ranks and supposes only that requests of clean traffic are exchangeable with
 * the baseline's ({@link Mode#CONFORMAL}). B baseline requests let it find a share e of foreign requests where
 * {@code e B} exceeds {@code ln(level)} by about 4, see {@link #smallestShareByRanks}: a share of 6 % at B = 271 and
 * one false alarm in 90 days of windows of a minute. The second supposes an exponential tail beyond the baseline's
 * scores ({@link SequentialCuts}) and finds smaller shares of requests that are far out ({@link Mode#TAIL_MODEL}); no
 * single request brings its alarm.
 *
 * <p>They share the promise: each has twice the level. Requests of one window that resemble each other (retries, one
 * client) are not exchangeable, and may bring an alarm sooner.
 *
 * <p>A pure function. <b>State:</b> under 2 KiB.
 */
public final class RequestDetector {

    private final SequentialDetector ranks;
    private final SequentialDetector tail;

    private RequestDetector(SequentialDetector ranks) {
        this.ranks = ranks;
        this.tail = ranks.withTailModel();
    }

    /**
     * Returns a detector with a bound on false alarms of both modes together.
     *
     * @param windowsPerAlarm the average number of clean windows between two false alarms, at least; 1 or more
     */
    public static RequestDetector ofRunLength(double windowsPerAlarm) {
        return new RequestDetector(SequentialDetector.ofRunLength(2.0 * windowsPerAlarm));
    }

    /** The assumption about clean traffic that an alarm rests on. */
    public enum Mode {
        /** Assumes that clean traffic is exchangeable with the baseline. */
        CONFORMAL,
        /** Assumes also that scores beyond the baseline's have an exponential tail: an alarm is a warning. */
        TAIL_MODEL;

        /** Returns the name in reports. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** The memories of both detectors. */
    public record Memory(SequentialState ranks, SequentialState tail) {

        /** The memory of a site before its first window. */
        public static final Memory INITIAL = new Memory(SequentialState.INITIAL, SequentialState.INITIAL);
    }

    /**
     * The effect of one window.
     *
     * @param evidence of the reported mode
     * @param mode conformal where that brings an alarm or has as much evidence, else the tail model
     */
    public record Step(Memory memory, double evidence, boolean alarm, Mode mode) {}

    /**
     * Takes one window.
     *
     * @param scores of its requests, in any order
     * @param clean scores of the baseline's requests; others than the memory's start over
     * @param joins whether later windows are compared with this one too: not when it is known to be drifted
     */
    public Step next(Memory memory, double[] scores, double[] clean, boolean joins) {
        SequentialDetector.Step byRanks = ranks.next(memory.ranks(), scores, clean, joins);
        SequentialDetector.Step byTail = tail.next(memory.tail(), scores, clean, joins);
        boolean conformal = byRanks.alarm() || (!byTail.alarm() && byRanks.evidence() >= byTail.evidence());
        return new Step(
                new Memory(byRanks.state(), byTail.state()),
                conformal ? byRanks.evidence() : byTail.evidence(),
                byRanks.alarm() || byTail.alarm(),
                conformal ? Mode.CONFORMAL : Mode.TAIL_MODEL);
    }

    /** Returns the evidence of either mode at which there is an alarm. */
    public double level() {
        return ranks.level();
    }

    /**
     * Returns about the smallest share of foreign requests that ranks alone find; smaller ones rest on the tail model.
     *
     * @param clean requests of the baseline
     */
    public double smallestShareByRanks(int clean) {
        return ranks.smallestShare(clean);
    }

    /**
     * Returns the least number of baseline requests for which windows of foreign requests only are found by ranks
     * alone.
     */
    public int leastClean() {
        return ranks.leastClean();
    }
}
