package io.plumbline.baseline;

import io.plumbline.geometry.Evidence;
import java.util.Arrays;

/**
 * The scores of a baseline's requests, which turn another request's score into a p-value.
 *
 * <p>The p-value is the rank among the B scores, {@code (1 + #{scores >= s}) / (B + 1)}: distribution-free. Beyond the
 * T-th largest score u it is {@code T / (B + 1) exp(-(s - u) / e)} with the mean excess e of the scores above u: <b>an
 * exponential model of the tail</b>, since B scores alone cannot tell apart what lies beyond the largest.
 * {@code T = 20}, or a tenth of B where that is less. Never below {@code e^-30}.
 *
 * <p>The model does not have to hold for a false-alarm rate: a window's statistic is calibrated on clean windows whose
 * requests went through the same tail. It decides how much a far request counts beside several near ones.
 */
final class ScoreRanks {

    /** The fewest scores that say something about a tail. */
    static final int FEWEST = 20;

    private static final int TAIL = 20;
    private static final int TAIL_SHARE = 10;
    private static final double SMALLEST = Math.exp(-Evidence.LARGEST);

    private final double[] ascending;
    private final int tail;
    private final double tailBegins;
    private final double meanExcess;

    private ScoreRanks(double[] ascending) {
        this.ascending = ascending;
        this.tail = Math.min(TAIL, ascending.length / TAIL_SHARE);
        this.tailBegins = ascending[ascending.length - tail];
        double excess = 0.0;
        for (int i = ascending.length - tail + 1; i < ascending.length; i++) {
            excess += ascending[i] - tailBegins;
        }
        this.meanExcess = excess / (tail - 1);
    }

    /**
     * Ranks among these scores.
     *
     * @param scores at least {@value #FEWEST}, finite, in any order; copied
     */
    static ScoreRanks of(double[] scores) {
        double[] ascending = scores.clone();
        Arrays.sort(ascending);
        if (ascending.length < FEWEST || !Arrays.stream(ascending).allMatch(Double::isFinite)) {
            throw new IllegalArgumentException(
                    "%d scores of requests, from %s to %s: expected at least %d finite numbers"
                            .formatted(
                                    ascending.length,
                                    ascending.length == 0 ? "-" : ascending[0],
                                    ascending.length == 0 ? "-" : ascending[ascending.length - 1],
                                    FEWEST));
        }
        return new ScoreRanks(ascending);
    }

    /** Returns the rank alone, {@code (1 + #{scores >= s}) / (B + 1)}. */
    double rank(double score) {
        return (1.0 + atLeast(score)) / (ascending.length + 1.0);
    }

    /** Returns the rank that one of these scores has among the others. */
    double rankOfOwn(double score) {
        return (double) atLeast(score) / ascending.length;
    }

    /**
     * Returns the p-value that one of these scores has among the others.
     *
     * @param score one of them
     */
    double pValueOfOwn(double score) {
        if (!(score > tailBegins)) {
            return rankOfOwn(score);
        }
        int own = Arrays.binarySearch(ascending, score);
        double[] others = new double[ascending.length - 1];
        System.arraycopy(ascending, 0, others, 0, own);
        System.arraycopy(ascending, own + 1, others, own, others.length - own);
        return new ScoreRanks(others).pValue(score);
    }

    double pValue(double score) {
        int scores = ascending.length;
        if (!(score > tailBegins)) {
            return (1.0 + atLeast(score)) / (scores + 1.0);
        }
        double inTail = (double) tail / (scores + 1);
        // Where the farthest scores are all equal, anything above them is beyond all.
        double beyond = meanExcess > 0.0 ? Math.exp(-(score - tailBegins) / meanExcess) : (1.0 + atLeast(score)) / tail;
        return Math.max(SMALLEST, inTail * beyond);
    }

    /** Scores that are at least this one. */
    private int atLeast(double score) {
        int low = 0;
        int high = ascending.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (ascending[middle] < score) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return ascending.length - low;
    }

    int size() {
        return ascending.length;
    }

    /** Returns a copy of the scores, ascending. */
    double[] scores() {
        return ascending.clone();
    }
}
