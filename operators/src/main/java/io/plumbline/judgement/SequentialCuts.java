package io.plumbline.judgement;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.commons.math3.distribution.ChiSquaredDistribution;

/**
 * The cuts at which a {@link SequentialDetector} counts values above.
 *
 * <p><b>Without a model:</b> the d-th largest clean value, d = 1, 4, 16, ... up to a quarter of them.
 *
 * <p><b>With a tail model:</b> from the {@value #TAIL}nd largest clean value u on, or that of an eighth of them where
 * they are fewer; none with a model where that leaves fewer than {@value #FEWEST_IN_TAIL}. Beyond u lie the values
 * {@code u - beta ln t} that a clean value above u exceeds with chance {@code t} = 1/4, 1/16, ... beta is the mean
 * excess of the d - 1 clean values above u at the upper end of its 95 % interval, {@code 2 (d-1) mean / chi²} with the
 * 5 % point of chi² of 2 (d-1) degrees: the exponential tail is the model, its scale is not taken from luck. The cuts
 * end where a clean value beyond has a chance of one in {@value #TRUSTED} levels: so a single value cannot bring an
 * alarm, and the model is not trusted farther.
 *
 * @param cuts from the farthest out
 */
record SequentialCuts(List<Cut> cuts) {

    /** The ratio of the clean values above a cut to those above the cut before. */
    private static final int STEP = 4;

    /** How many clean values the tail is fitted to. */
    private static final int TAIL = 32;

    private static final int TAIL_SHARE = 8;
    private static final int FEWEST_IN_TAIL = 8;

    private static final double TRUSTED = 8.0;
    private static final double UNCERTAIN = 0.05;

    public SequentialCuts {
        cuts = List.copyOf(cuts);
    }

    /**
     * One of the cuts, at a clean value.
     *
     * @param rank d, of the clean value
     * @param cleanValue the d-th largest clean value
     * @param value values above it are hits; not below {@code cleanValue}
     * @param beyond chance that a clean value above {@code cleanValue} is above {@code value} too; 1 without a model
     */
    public record Cut(int rank, double cleanValue, double value, double beyond) {}

    /**
     * Returns the cuts at these clean values.
     *
     * @param tailLevel 0: none with a model; else the level the detector alarms at
     */
    static SequentialCuts of(double[] clean, double tailLevel) {
        if (clean.length == 0 || Arrays.stream(clean).anyMatch(value -> !Double.isFinite(value))) {
            throw new IllegalArgumentException(
                    "%d clean values: expected 1 or more, all finite".formatted(clean.length));
        }
        double[] sorted = clean.clone();
        Arrays.sort(sorted);
        List<Cut> cuts = new ArrayList<>();
        int most = Math.max(1, (clean.length + 1) / STEP);
        int tail = tailLevel > 0.0 ? tailRank(clean.length) : 1;
        if (tail > 1) {
            tailCuts(sorted, tail, tailLevel, cuts);
        }
        for (int rank = tail; rank <= most; rank *= STEP) {
            double value = sorted[clean.length - rank];
            cuts.add(new Cut(rank, value, value, 1.0));
        }
        return new SequentialCuts(cuts);
    }

    /** Returns d of the tail; 1 where there are too few clean values for one. */
    private static int tailRank(int clean) {
        int rank = Math.min(TAIL, clean / TAIL_SHARE);
        return rank < FEWEST_IN_TAIL ? 1 : rank;
    }

    private static void tailCuts(double[] sorted, int rank, double level, List<Cut> cuts) {
        double from = sorted[sorted.length - rank];
        int excesses = rank - 1;
        double sum = Arrays.stream(sorted, sorted.length - excesses, sorted.length)
                .map(value -> value - from)
                .sum();
        double scale = 2.0 * sum / new ChiSquaredDistribution(2.0 * excesses).inverseCumulativeProbability(UNCERTAIN);
        double beyond = 1.0 / STEP;
        // Clean values that are all equal show no tail.
        while (scale > 0.0 && beyond * rank / (sorted.length + 1.0) >= 1.0 / (TRUSTED * level)) {
            cuts.add(0, new Cut(rank, from, from - scale * Math.log(beyond), beyond));
            beyond /= STEP;
        }
    }

    /** Returns the ranks of clean values that are counted, each once. */
    int[] ranks() {
        return cuts.stream().mapToInt(Cut::rank).distinct().toArray();
    }

    /** Returns the clean value of a rank. */
    double cleanValue(int rank) {
        return cuts.stream()
                .filter(cut -> cut.rank() == rank)
                .findFirst()
                .orElseThrow()
                .cleanValue();
    }
}
