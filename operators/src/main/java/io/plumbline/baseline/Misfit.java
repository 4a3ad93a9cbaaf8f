package io.plumbline.baseline;

import io.plumbline.geometry.FaithfulnessGap;
import io.plumbline.geometry.Statistic;
import io.plumbline.judgement.Amounts;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.commons.math3.stat.descriptive.rank.Median;

/**
 * Finds the signs that the explainer was not trained on rows like the baseline's: it reconstructs them worse than their
 * mean would, or its gap is as large as that of two random subspaces; or that it fits a part of them only, so that some
 * clean windows are reconstructed much worse than others.
 *
 * <p>Neither stops anything: a site may be watched by a gap that is large from the start, and then little of a drift
 * shows in it.
 */
public final class Misfit {

    /**
     * The share of chance ({@link FaithfulnessGap#chanceNormalised}) from which on a gap says nothing. Two random
     * subspaces have 1 with a standard deviation of {@code √2/d}; an SAE of its own model had .47 to .6.
     */
    static final double CHANCE = 0.9;

    /** How many times the median FVU of clean windows the largest is where the explainer fits a part of them only. */
    static final double UNEVEN = 1.5;

    /** The fewest clean windows that say how much FVU varies. */
    private static final int FEWEST_WINDOWS = 4;

    private Misfit() {}

    /**
     * Returns one sentence with all signs, and what to look for; empty where there is none.
     *
     * @param samples clean windows of the ranks in question; of each rank those with the most rows are looked at
     */
    public static Optional<String> of(Baseline baseline, List<NullSample> samples) {
        List<String> signs = new ArrayList<>();
        if (baseline.reconstructionFvu() > 1.0) {
            signs.add("the explainer explains less than nothing of these rows: FVU %s, where their mean alone has 1"
                    .formatted(Amounts.number(baseline.reconstructionFvu())));
        }
        List<NullSample> largest = samples.stream()
                .collect(Collectors.groupingBy(
                        NullSample::rank, Collectors.maxBy(Comparator.comparingInt(NullSample::rowsPerWindow))))
                .values()
                .stream()
                .flatMap(Optional::stream)
                .sorted(Comparator.comparingInt(NullSample::rank))
                .toList();
        largest.stream()
                .flatMap(sample -> atChance(sample, baseline.dimension()).stream())
                .forEach(signs::add);
        if (signs.isEmpty()) {
            return largest.stream()
                    .limit(1)
                    .flatMap(sample -> uneven(sample).stream())
                    .findFirst();
        }
        return Optional.of(String.join("; ", signs)
                + ". The rows are probably of another hook or layer than the explainer was trained on, or scaled"
                + " otherwise (normalisation)");
    }

    private static Optional<String> uneven(NullSample sample) {
        double[] fvus = sample.values(Statistic.RECONSTRUCTION_FVU_TRAINED.label());
        double median = new Median().evaluate(fvus);
        double most = Arrays.stream(fvus).max().orElse(Double.NaN);
        return fvus.length < FEWEST_WINDOWS || !(most > UNEVEN * median)
                ? Optional.empty()
                : Optional.of(("the explainer does not fit part of this traffic: FVU %s to %s in clean windows of %s."
                                + " Drift that it reconstructs no worse than that part stays unseen: watch the kinds of"
                                + " traffic as sites of their own, or take an explainer that was trained on all")
                        .formatted(
                                Amounts.number(Arrays.stream(fvus).min().orElse(Double.NaN)),
                                Amounts.number(most),
                                Amounts.count(sample.rowsPerWindow(), "row")));
    }

    private static Optional<String> atChance(NullSample sample, int dimension) {
        double[] gaps = sample.values(DriftJudge.DEFAULT_TRIGGER);
        if (gaps.length == 0) {
            return Optional.empty();
        }
        double median = new Median().evaluate(gaps);
        double share = new FaithfulnessGap(median, sample.rank(), dimension)
                .chanceNormalised()
                .orElse(0.0);
        return share < CHANCE
                ? Optional.empty()
                : Optional.of(String.format(
                        Locale.ROOT,
                        "the gap of rank %d is at chance level: %.4g, and its square is %.2f of what random subspaces "
                                + "have",
                        sample.rank(),
                        median,
                        share));
    }
}
