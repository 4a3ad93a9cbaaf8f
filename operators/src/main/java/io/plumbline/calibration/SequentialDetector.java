package io.plumbline.calibration;

import java.util.Arrays;

/**
 * Adds up small evidence over windows: finds a drift that stays below the threshold of a single window.
 *
 * <p><b>One window.</b> Its rank among the K clean windows and the n windows since the detector started gives the conformal
 * p-value {@code p = (1 + number of those at or above it)/(K + n + 1)}. Where clean windows and new ones are exchangeable, these
 * p-values are (at least as large as) independent uniform ones, whatever the distribution and however small K is (Vovk,
 * Gammerman and Shafer, Algorithmic Learning in a Random World, 2005): comparing with the n as well is what makes them
 * independent. Against fixed clean windows alone, whose own chance shifts all ranks one way, evidence would grow on clean
 * traffic.
 *
 * <p><b>Evidence.</b> {@code f(p) = integral_0^1 e p^(e-1) de = (1 - p + p ln p)/(p ln^2 p)} has mean 1 over uniform p and falls
 * with p, so {@code R <- (1 + R) f(p)}, the Shiryaev-Roberts sum over every window the drift may have begun at, has
 * {@code R_n - n} for a supermartingale. An alarm is {@code R >= level}, after which R starts from 0.
 *
 * <p><b>Average run length.</b> By optional stopping the expected number of alarms in N clean windows is at most
 * {@code N / level} (Shin, Ramdas and Rinaldo, E-detectors, 2022, arXiv:2203.03532; Volkhonskiy et al., Inductive conformal
 * martingales for change-point detection, 2017): one alarm in {@code level} windows, on average over clean windows too. m
 * statistics that share the promise each have m times the level. After {@value #EPOCH} windows the comparison starts over, which
 * bounds the state and keeps a drift that has become the larger part of the windows from being what is normal; the bound holds
 * for every stretch and so for their sum.
 *
 * <p>A pure function. <b>Cost:</b> {@code K + n} comparisons a window. <b>State:</b> 8 n bytes.
 */
public final class SequentialDetector {

    /** Windows after which the comparison starts over. */
    public static final int EPOCH = 512;

    private final double level;

    private SequentialDetector(double level) {
        this.level = level;
    }

    /**
     * A detector with a bound on false alarms.
     *
     * @param windowsPerAlarm the average number of clean windows between two false alarms of this statistic, at least; 1 or more
     */
    public static SequentialDetector ofRunLength(double windowsPerAlarm) {
        if (!(windowsPerAlarm >= 1.0 && windowsPerAlarm < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException(
                    "an average run length of %s windows: expected 1 or more".formatted(windowsPerAlarm));
        }
        return new SequentialDetector(windowsPerAlarm);
    }

    /** What one window did. */
    public record Step(SequentialState state, double evidence, boolean alarm) {}

    /**
     * Takes one window's value of the statistic.
     *
     * @param clean the clean windows' values; another set than the state's starts over
     */
    public Step next(SequentialState state, double value, double[] clean) {
        SequentialState from = state.goesOnWith(clean) ? state : SequentialState.startedWith(Arrays.hashCode(clean));
        long atOrAbove = count(clean, value) + from.countAtOrAbove(value);
        double p = (1.0 + atOrAbove) / (clean.length + from.windows() + 1.0);
        double evidence = (1.0 + from.evidence()) * bet(p);
        boolean alarm = evidence >= level;
        return new Step(from.with(value, alarm ? 0.0 : evidence), evidence, alarm);
    }

    /** Evidence at which there is an alarm. */
    public double level() {
        return level;
    }

    /** {@code f}; its limit at p = 1 is 1/2. */
    static double bet(double p) {
        double log = Math.log(p);
        // Below, the two terms of the numerator cancel: f = 1/2 - log/6 + ...
        return Math.abs(log) < 1e-4 ? 0.5 - log / 6.0 : (1.0 - p + p * log) / (p * log * log);
    }

    private static long count(double[] values, double value) {
        return Arrays.stream(values).filter(other -> other >= value).count();
    }
}
