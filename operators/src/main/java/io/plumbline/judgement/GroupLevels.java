package io.plumbline.judgement;

import io.plumbline.judgement.Threshold.Level;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.math3.optim.MaxEval;
import org.apache.commons.math3.optim.nonlinear.scalar.GoalType;
import org.apache.commons.math3.optim.univariate.BrentOptimizer;
import org.apache.commons.math3.optim.univariate.SearchInterval;
import org.apache.commons.math3.optim.univariate.UnivariateObjectiveFunction;
import org.apache.commons.math3.special.Beta;

/**
 * Levels for the size of a group of new traffic that keep a promise about false alarms, from the number of requests
 * that the baseline was recorded of.
 *
 * <p><b>What a false alarm is.</b> A rare kind of the usual traffic that is by chance absent from the baseline and then
 * has m of the n requests that are pooled. Let a kind have the share q of requests, and let each of its requests in the
 * baseline make it known with the chance {@value #RECOGNISED}, independently. It alarms with the probability
 * {@code (1 - 0.65 q)^B P(Binomial(n, q) >= m)}. Kinds whose requests are unusual have the share u together, so
 * whatever their shares are, at most
 *
 * <pre>
 * u max over q of (1 - 0.65 q)^B P(Binomial(n, q) >= m) / q
 * </pre>
 *
 * of them are expected to alarm in one window, on average over baselines. The level is m - 1 with the smallest m for
 * which that is within the budget. Debounce is not counted: pools of neighbouring windows overlap.
 *
 * <p><b>What breaks it.</b> Requests that come in bunches (one client's batch) and times of day that the baseline does
 * not hold: these are new to it, and are reported as such. The chance is the lowest that was measured (65 to 100 % on
 * two kinds of recorded activations), not proven.
 *
 * <p><b>Cost.</b> A tenth of a millisecond for each m, once for each number of pooled requests, which is rounded up by
 * up to a fiftieth. Any number of threads.
 */
public final class GroupLevels {

    /** The chance with which one request of the baseline makes its kind known. */
    private static final double RECOGNISED = 0.65;

    private static final double STEP = 1.02;
    private static final double DAY_MS = 86_400_000.0;
    private static final int EVALUATIONS = 500;
    private static final double PRECISION = 1e-9;

    private final Threshold.FalseAlarms threshold;
    private final int requests;
    private final double unusual;
    private final int fewest;
    private final Map<Long, Level> levels = new ConcurrentHashMap<>();

    /**
     * The levels of one baseline.
     *
     * @param requests B, whose groups the baseline knows, at least 1
     * @param unusual u, in (0, 1)
     * @param fewest requests that make a group, at least 2
     */
    public GroupLevels(Threshold.FalseAlarms threshold, int requests, double unusual, int fewest) {
        if (requests < 1 || fewest < 2) {
            throw new IllegalArgumentException("groups of %d among %d requests of a baseline: expected 2 and 1 at least"
                    .formatted(fewest, requests));
        }
        this.threshold = threshold;
        this.requests = requests;
        this.unusual = unusual;
        this.fewest = fewest;
    }

    /**
     * Returns the level: a group of more requests of the pool speaks for drift.
     *
     * @param pooled n, 1 or more
     */
    public Level level(long pooled) {
        long roundedUp = 1;
        while (roundedUp < pooled) {
            roundedUp = (long) Math.ceil(roundedUp * STEP);
        }
        return levels.computeIfAbsent(roundedUp, this::found);
    }

    private Level found(long pooled) {
        double target = threshold.law().target(threshold.budget());
        for (int size = fewest; size <= pooled; size++) {
            double rate = rate(size, pooled);
            if (rate <= target) {
                return new Level.Known(size - 1.0, basis(rate, pooled));
            }
        }
        return new Level.Unknown("%s, with a baseline of %s, cannot keep %s"
                .formatted(
                        Amounts.count(pooled, "pooled request"),
                        Amounts.number(requests),
                        threshold.budget().sentence()));
    }

    private Basis basis(double rate, long pooled) {
        return new Basis(
                Basis.Clean.REQUESTS,
                requests,
                rate,
                threshold.budget() instanceof AlarmBudget.PerTime
                        ? Double.valueOf(DAY_MS / threshold.law().millisecondsBetween(rate))
                        : null,
                null,
                "a kind that none of %s of the baseline showed, among %s pooled"
                        .formatted(Amounts.count(requests, "request"), Amounts.number((double) pooled)),
                null);
    }

    /** Returns how many kinds are expected to have so many pooled requests and not to be known, at most. */
    private double rate(int size, long pooled) {
        // The logarithm is concave in ln q: the factors' slopes in it all fall. Its maximum lies above (m-1)/(n+B).
        double lowest = Math.min(0.5 * (size - 1.0) / (pooled + requests), 0.5 * unusual);
        double found = new BrentOptimizer(PRECISION, PRECISION)
                .optimize(
                        new MaxEval(EVALUATIONS),
                        GoalType.MAXIMIZE,
                        new SearchInterval(Math.log(lowest), Math.log(unusual)),
                        new UnivariateObjectiveFunction(
                                logShare -> requests * Math.log1p(-RECOGNISED * Math.exp(logShare))
                                        + Math.log(Beta.regularizedBeta(Math.exp(logShare), size, pooled - size + 1.0))
                                        - logShare))
                .getValue();
        return Math.min(1.0, unusual * Math.exp(found));
    }
}
