package io.plumbline.judgement;

import io.plumbline.judgement.Threshold.Level;
import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Levels that keep a promise about false alarms by the baseline's requests, where a recording holds too few clean
 * windows: for {@code T = ln mean (1/p_g)^a} over a window's requests, {@code p_g = (1 + c_g)/(B + 1)} with the number
 * c_g of the B baseline requests that score at least as high as request g.
 *
 * <p><b>Assumption.</b> The window's requests and the baseline's are exchangeable. Then T has the same distribution
 * whatever that of the scores is: a request falls into each of the B+1 gaps between the baseline's scores with
 * probabilities that are uniform on the simplex (the baseline is a sample), and the requests of a window do so
 * independently given these.
 *
 * <p><b>Level.</b> {@value #BASELINES} such baselines are drawn, and {@value #WINDOWS} windows against each, fewer
 * where windows have more than 200 requests. With the share u of a baseline's windows above t, the alarms per window
 * after debounce are those of {@link AlarmLaw#alarmsGiven}; the level is the smallest t at which their mean over
 * baselines is within the budget. Windows that are judged by one baseline are so counted as dependent. The share of few
 * drawn windows scatters, which raises the mean of its square: the level errs on the safe side. There is none where no
 * drawn window would lie above it.
 *
 * <p><b>Windows of other numbers of requests</b> than those drawn for take the level of the next smaller number, which
 * is higher: numbers grow by a tenth.
 *
 * <p><b>What breaks it:</b> requests of a window that resemble each other (retries, one client), as for
 * {@link RequestDetector}.
 *
 * <p><b>Cost.</b> Up to {@code 10^6 n} additions for a window of n requests, once for each number: 0.5 s at n = 17.
 * Draws have a fixed seed: every instance has the same levels. Any number of threads.
 */
public final class RequestLevels {

    private static final int BASELINES = 1_000;
    private static final int WINDOWS = 1_000;
    private static final int FEWEST_WINDOWS = 200;

    /** Requests that are drawn against one baseline where windows have many. */
    private static final int MOST_REQUESTS = 200_000;

    private static final long SEED = 0x52657175657374L;
    private static final double DAY_MS = 86_400_000.0;

    /** Points of the distribution of one request's evidence that windows are drawn from, as bits of an index. */
    private static final int POINT_BITS = 16;

    /** The step from one number of requests to the next, above those that are drawn for one by one. */
    private static final double STEP = 1.1;

    private static final int LARGEST = 4_096;
    private static final double ROUNDING = 1e-9;

    private final Threshold.FalseAlarms threshold;
    private final int requests;
    private final double exponent;
    private final Map<Integer, Level> levels = new ConcurrentHashMap<>();

    /**
     * The levels of one baseline.
     *
     * @param requests B, at least 1
     * @param exponent a, in (0, 1)
     */
    public RequestLevels(Threshold.FalseAlarms threshold, int requests, double exponent) {
        if (requests < 1) {
            throw new IllegalArgumentException(
                    "levels from %d requests of a baseline: expected at least 1".formatted(requests));
        }
        this.threshold = threshold;
        this.requests = requests;
        this.exponent = exponent;
    }

    /**
     * Returns the level of windows of so many requests.
     *
     * @param ofWindow 1 or more
     */
    public Level level(long ofWindow) {
        return levels.computeIfAbsent(drawnFor(ofWindow), this::drawn);
    }

    private static int drawnFor(long ofWindow) {
        int number = 1;
        for (int next = 1; next <= Math.min(ofWindow, LARGEST); next = (int) Math.ceil(next * STEP)) {
            number = next;
        }
        return number;
    }

    private Level drawn(int ofWindow) {
        double[][] values = new double[BASELINES][];
        int windows = Math.max(FEWEST_WINDOWS, Math.min(WINDOWS, MOST_REQUESTS / ofWindow));
        double[] all = new double[BASELINES * windows];
        double[] ofRank = new double[requests + 1];
        Arrays.setAll(ofRank, atLeast -> Math.pow((requests + 1.0) / (atLeast + 1.0), exponent));
        SplittableRandom random = new SplittableRandom(SEED);
        for (int baseline = 0; baseline < BASELINES; baseline++) {
            values[baseline] = windows(windows, points(ofRank, random), ofWindow, random);
            System.arraycopy(values[baseline], 0, all, baseline * windows, windows);
        }
        Arrays.sort(all);
        double target = threshold.law().target(threshold.budget());
        int broken = -1;
        int kept = all.length - 1;
        while (kept - broken > 1) {
            int middle = (kept + broken) >>> 1;
            if (rate(values, all[middle]) <= target) {
                kept = middle;
            } else {
                broken = middle;
            }
        }
        double level = all[kept];
        // A rate of 0 is one that so many windows do not resolve.
        if (level >= (1.0 - ROUNDING) * exponent * Math.log(requests + 1.0) || rate(values, level) == 0.0) {
            return new Level.Unknown("%s, among %s of the baseline, cannot keep %s"
                    .formatted(
                            Amounts.count(ofWindow, "request"),
                            Amounts.number(requests),
                            threshold.budget().sentence()));
        }
        return new Level.Known(level, basis(ofWindow, values, level));
    }

    private Basis basis(int ofWindow, double[][] values, double level) {
        double above = 0.0;
        for (double[] baseline : values) {
            above += share(baseline, level) / values.length;
        }
        Double perDay = threshold.budget() instanceof AlarmBudget.PerTime
                ? Double.valueOf(DAY_MS / threshold.law().millisecondsBetween(rate(values, level)))
                : null;
        return new Basis(
                Basis.Clean.REQUESTS,
                requests,
                above,
                perDay,
                null,
                "ranks of %s among %s of the baseline"
                        .formatted(Amounts.count(ofWindow, "request"), Amounts.number(requests)),
                null);
    }

    /** Returns the alarms per window, or windows above, on average over baselines. */
    private double rate(double[][] values, double level) {
        double rate = 0.0;
        for (double[] baseline : values) {
            double share = share(baseline, level);
            rate += threshold.budget() instanceof AlarmBudget.PerTime
                    ? threshold.law().alarmsGiven(share)
                    : share;
        }
        return rate / values.length;
    }

    /** Returns the share of sorted values above a level. */
    private static double share(double[] sorted, double level) {
        int low = 0;
        int high = sorted.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (sorted[middle] > level) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return (double) (sorted.length - low) / sorted.length;
    }

    /** Draws a baseline; returns {@code p^-a} at evenly spaced quantiles of a clean request, largest first. */
    private static double[] points(double[] ofRank, SplittableRandom random) {
        double[] gaps = new double[ofRank.length];
        double sum = 0.0;
        for (int i = 0; i < gaps.length; i++) {
            gaps[i] = -Math.log(1.0 - random.nextDouble());
            sum += gaps[i];
        }
        double[] points = new double[1 << POINT_BITS];
        int gap = 0;
        double reached = gaps[0] / sum;
        for (int i = 0; i < points.length; i++) {
            while (gap + 1 < gaps.length && (i + 0.5) / points.length > reached) {
                gap++;
                reached += gaps[gap] / sum;
            }
            points[i] = ofRank[gap];
        }
        return points;
    }

    private static double[] windows(int windows, double[] points, int ofWindow, SplittableRandom random) {
        double[] values = new double[windows];
        for (int window = 0; window < windows; window++) {
            double sum = 0.0;
            for (int request = 0; request < ofWindow; request++) {
                sum += points[random.nextInt() >>> (Integer.SIZE - POINT_BITS)];
            }
            values[window] = Math.log(sum / ofWindow);
        }
        Arrays.sort(values);
        return values;
    }
}
