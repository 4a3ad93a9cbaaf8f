package io.plumbline.judgement;

import java.time.Duration;
import java.util.function.DoublePredicate;
import java.util.function.IntPredicate;
import org.apache.commons.math3.special.Beta;
import org.apache.commons.math3.util.CombinatoricsUtils;

/**
 * Computes how often a site that has not drifted raises an alarm, when the level is an order statistic of clean
 * windows.
 *
 * <p><b>Assumption.</b> Disjoint windows and the clean windows are <em>exchangeable</em>: no order of them is likelier
 * than another. Nothing is assumed about the distribution, and windows need not be independent. Traffic that changes
 * with the hour breaks it unless the clean windows hold all hours alike.
 *
 * <p><b>One window.</b> With K clean windows and the level at the c-th largest of them, a new window lies above it with
 * probability at most {@code c/(K+1)}, exactly that without ties (split conformal prediction: Vovk, Gammerman and
 * Shafer, Algorithmic Learning in a Random World, 2005; Lei et al. 2018, doi:10.1080/01621459.2017.1307116). So K
 * windows support {@code 1/(K+1)} at best.
 *
 * <p><b>Debounce, j of n.</b> A site becomes drifted only in a window that is above, with j-1 others above among
 * the n-1 before it. Windows share their clean windows, so their exceedances are not independent: i of m windows are
 * above with the beta-binomial probability {@code C(m,i) B(c+i, K+1-c+m-i) / B(c, K+1-c)} (Gumbel and von Schelling,
 * The distribution of the number of exceedances, Ann. Math. Statist. 21, 1950, 247-262), and the chance per window of
 * becoming drifted is at most {@code sum_{i=j-1}^{n-1} C(n-1,i) B(c+i+1, K+n-c-i) / B(c, K+1-c)}. Multiplying {@code
 * (c/(K+1))^j} instead would promise too much: with c = 1 and 2 of 2 half of the truth.
 *
 * <p><b>Hopping windows</b> overlap: of j windows above, only {@code j' = ceil(j / ceil(size/advance))} need be
 * disjoint. The union bound over the choice of windows is used, {@code C(n-1, j'-1) prod_{i=1}^{j'} (c+j'-1)/(K+i)}:
 * given j' windows, each is among the {@code c+j'-1} largest of K+j', and all ordered choices are equally likely. It
 * errs on the safe side, the more so the larger the overlap.
 *
 * <p><b>For this baseline.</b> The rates above are averages over all baselines that might have been recorded. Given the
 * baseline, the share u of windows above the c-th largest of its K clean values is what it is; over baselines it has
 * the distribution {@code Beta(c, K+1-c)}, or is smaller where values can tie. Windows being independent given their
 * distribution, the site becomes drifted with probability {@code u P(Binomial(n-1, u) >= j-1)} per window, or for
 * hopping windows at most {@code C(n-1, j'-1) u^j'}: both rise with u, so the {@value #CONFIDENCE} quantile of u bounds
 * them with that confidence (a tolerance limit: Wilks, Ann. Math. Statist. 12, 1941, 91-96). With c = 1 it takes {@code
 * ln 0.05 / ln(1-u)} clean windows, about three times as many as the average.
 *
 * <p>Several statistics are judged as one, see {@code CleanScores}, and so need no share of the promise each.
 *
 * <p>Immutable; any number of threads.
 *
 * @param debounce j of n
 * @param size length of a window
 * @param advance distance between window starts, at most {@code size}
 */
public record AlarmLaw(DriftPolicy debounce, Duration size, Duration advance) {

    /** The confidence with which a promise is kept for one baseline. */
    public static final double CONFIDENCE = 0.95;

    /** The most windows that are searched, far above any number that someone could keep. */
    private static final int MOST_WINDOWS = 1_000_000_000;

    /** Room for rounding when a rate is compared with the one asked for: 1/20 is not more than 0.05. */
    private static final double ROUNDING = 1.0 + 1e-9;

    public AlarmLaw {
        if (advance.toMillis() < 1 || advance.compareTo(size) > 0) {
            throw new IllegalArgumentException(
                    "windows of %s every %s: expected an advance of 1 ms up to the size".formatted(size, advance));
        }
    }

    /** Returns the law of tumbling windows. */
    public static AlarmLaw tumbling(DriftPolicy debounce, Duration size) {
        return new AlarmLaw(debounce, size, size);
    }

    /** Returns the chance that a clean window is above the level, on average over baselines. */
    public double perWindow(int cleanWindows, int atOrAbove) {
        return Math.min(1.0, atOrAbove / (cleanWindows + 1.0));
    }

    /**
     * Returns the chance that a clean window makes its site drifted, on average over baselines: after debounce, so the
     * expected false alarms per advance.
     *
     * @param cleanWindows K
     * @param atOrAbove c: 1 for a level at the largest clean value, 2 for the second largest
     */
    public double alarmsPerWindow(int cleanWindows, int atOrAbove) {
        if (atOrAbove < 1 || atOrAbove > cleanWindows) {
            throw new IllegalArgumentException("the value number %d from the top of %d clean windows: expected 1 to %d"
                    .formatted(atOrAbove, cleanWindows, cleanWindows));
        }
        double single = perWindow(cleanWindows, atOrAbove);
        if (debounce.needed() == 1) {
            return single;
        }
        boolean exact = advance.equals(size);
        return Math.min(single, exact ? exceedances(cleanWindows, atOrAbove) : unionBound(cleanWindows, atOrAbove));
    }

    /** Returns what was asked for, in the unit of {@link #rate}. */
    double target(AlarmBudget budget) {
        return budget instanceof AlarmBudget.PerTime time
                ? time.perAdvance(advance)
                : ((AlarmBudget.PerWindow) budget).rate();
    }

    /** Returns what a level keeps to, in the unit the budget is in: windows above, or alarms per advance. */
    double rate(AlarmBudget budget, int cleanWindows, int atOrAbove) {
        return budget instanceof AlarmBudget.PerTime
                ? alarmsPerWindow(cleanWindows, atOrAbove)
                : perWindow(cleanWindows, atOrAbove);
    }

    /**
     * Returns the lowest level that keeps to the budget, counted from the largest clean value; 0 if even that one does
     * not.
     */
    int atOrAbove(AlarmBudget budget, int cleanWindows) {
        double target = target(budget) * ROUNDING;
        return largest(cleanWindows + 1, level -> rate(budget, cleanWindows, level) <= target);
    }

    /** Returns the least number of clean windows with which the budget can be kept. */
    int windowsNeeded(AlarmBudget budget) {
        double target = target(budget) * ROUNDING;
        return largest(MOST_WINDOWS, windows -> rate(budget, windows, 1) > target) + 1;
    }

    /**
     * Returns the chance per window of becoming drifted where the share of clean windows above the level is known.
     *
     * @param exceedance that share, u, in [0, 1]
     */
    public double alarmsGiven(double exceedance) {
        int others = debounce.memory() - 1;
        double sum = 0.0;
        if (advance.equals(size)) {
            for (int i = debounce.needed() - 1; i <= others; i++) {
                sum += CombinatoricsUtils.binomialCoefficientDouble(others, i)
                        * Math.pow(exceedance, i + 1.0)
                        * Math.pow(1.0 - exceedance, others - i);
            }
        } else {
            int disjoint = disjoint();
            sum = CombinatoricsUtils.binomialCoefficientDouble(others, disjoint - 1) * Math.pow(exceedance, disjoint);
        }
        return Math.min(exceedance, sum);
    }

    /**
     * Returns the share of clean windows above the c-th largest of K, at most, with {@value #CONFIDENCE} confidence.
     */
    double exceedanceAtMost(int cleanWindows, int atOrAbove) {
        return largest(share -> Beta.regularizedBeta(share, atOrAbove, cleanWindows + 1.0 - atOrAbove) <= CONFIDENCE);
    }

    /**
     * Returns the lowest level that keeps to the budget with {@value #CONFIDENCE} confidence, counted as in
     * {@link #atOrAbove}.
     */
    int confidentlyAtOrAbove(AlarmBudget budget, int cleanWindows) {
        double allowed = allowedExceedance(budget);
        return largest(
                cleanWindows + 1,
                level -> Beta.regularizedBeta(allowed, level, cleanWindows + 1.0 - level) >= CONFIDENCE);
    }

    /**
     * Returns the least number of clean windows with which the budget can be kept with {@value #CONFIDENCE} confidence.
     */
    int windowsNeededConfidently(AlarmBudget budget) {
        double needed = Math.log1p(-CONFIDENCE) / Math.log1p(-allowedExceedance(budget));
        return (int) Math.min(MOST_WINDOWS, Math.ceil(needed));
    }

    /** Returns the largest share of clean windows above a level that keeps to the budget. */
    private double allowedExceedance(AlarmBudget budget) {
        double target = target(budget) * ROUNDING;
        return budget instanceof AlarmBudget.PerTime ? largest(share -> alarmsGiven(share) <= target) : target;
    }

    /** Returns the largest number in [0, 1] for which something holds that holds for 0 and for all below it. */
    private static double largest(DoublePredicate holds) {
        double kept = 0.0;
        double broken = 1.0;
        // To the last digit: shares may be as small as one window in years.
        for (double middle = 0.5; middle > kept && middle < broken; middle = (kept + broken) / 2.0) {
            if (holds.test(middle)) {
                kept = middle;
            } else {
                broken = middle;
            }
        }
        return kept;
    }

    /** Returns the largest number below {@code end} for which something holds that holds for 0 and for all below it. */
    private static int largest(int end, IntPredicate holds) {
        int kept = 0;
        int broken = end;
        while (broken - kept > 1) {
            int middle = (kept + broken) >>> 1;
            if (holds.test(middle)) {
                kept = middle;
            } else {
                broken = middle;
            }
        }
        return kept;
    }

    private int disjoint() {
        long overlapping = (size.toMillis() + advance.toMillis() - 1) / advance.toMillis();
        return (int) ((debounce.needed() + overlapping - 1) / overlapping);
    }

    /** Returns the milliseconds between two false alarms, on average at least. */
    public double millisecondsBetween(double alarmsPerWindow) {
        return advance.toMillis() / alarmsPerWindow;
    }

    private double exceedances(int cleanWindows, int atOrAbove) {
        int others = debounce.memory() - 1;
        double below = cleanWindows + 1.0 - atOrAbove;
        double all = Beta.logBeta(atOrAbove, below);
        double sum = 0.0;
        for (int i = debounce.needed() - 1; i <= others; i++) {
            sum += Math.exp(CombinatoricsUtils.binomialCoefficientLog(others, i)
                    + Beta.logBeta(atOrAbove + i + 1.0, below + others - i)
                    - all);
        }
        return sum;
    }

    private double unionBound(int cleanWindows, int atOrAbove) {
        int disjoint = disjoint();
        double log = CombinatoricsUtils.binomialCoefficientLog(debounce.memory() - 1, disjoint - 1);
        for (int i = 1; i <= disjoint; i++) {
            log += Math.log((atOrAbove + disjoint - 1.0) / (cleanWindows + i));
        }
        return Math.exp(log);
    }
}
