package io.plumbline.baseline;

import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.FaithfulnessGap;
import io.plumbline.geometry.Statistic;
import io.plumbline.judgement.Threshold;
import io.plumbline.judgement.Threshold.Level;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Compares what a site would be held to by another baseline: for a person to look at before it takes the old one's
 * place.
 *
 * @param shiftRatio {@code |M_new - M_old|_F / |M_old|_F}
 * @param gaps for every rank both have clean windows of, {@code |Pi_new - Pi_old|_F} between the two active subspaces
 * @param thresholds for every statistic, rank and window size that either has clean windows of
 */
public record BaselineDiff(double shiftRatio, Map<Integer, FaithfulnessGap> gaps, List<Change> thresholds) {

    /** The statistics that are compared: those that measure drift, and not a bound or a constant of the site. */
    public static final List<String> STATISTICS = Arrays.stream(Statistic.values())
            .filter(Statistic::measuresDrift)
            .map(Statistic::label)
            .toList();

    /**
     * The levels of one statistic at one rank and window size.
     *
     * @param oldLevel null where the old baseline gives none
     * @param newLevel null where the new one gives none: windows of this size could not be judged any more
     * @param oldWindows clean windows behind it
     */
    public record Change(
            String statistic,
            int rank,
            int rowsPerWindow,
            @Nullable Double oldLevel,
            @Nullable Double newLevel,
            int oldWindows,
            int newWindows) {}

    public BaselineDiff {
        gaps = new LinkedHashMap<>(gaps);
        thresholds = List.copyOf(thresholds);
    }

    /**
     * Compares two baselines of one explainer at every rank. <b>Cost:</b> two decompositions of d x d per rank.
     * <b>Memory:</b> {@code 8 d^2} bytes for the one matrix that is unfolded at a time, and up to {@code 20 d^2}
     * for its decomposition.
     *
     * @param threshold the rule both are asked for a level by
     * @param together the statistics that are judged as one; the others each by itself
     * @throws IllegalArgumentException if they are of two explainers: their statistics are not the same
     */
    public static BaselineDiff between(Baseline old, Baseline other, Threshold threshold, List<String> together) {
        return between(old, other, rank -> true, threshold, together);
    }

    /** Compares as {@link #between(Baseline, Baseline, Threshold, List)} does, at one rank alone. */
    public static BaselineDiff betweenAt(
            int rank, Baseline old, Baseline other, Threshold threshold, List<String> together) {
        return between(old, other, one -> one == rank, threshold, together);
    }

    private static BaselineDiff between(
            Baseline old, Baseline other, IntPredicate ranks, Threshold threshold, List<String> together) {
        if (!old.explainerSha256().equals(other.explainerSha256())) {
            throw new IllegalArgumentException(
                    "the old baseline was made with decoder %s, the new one with %s: there is nothing to compare"
                            .formatted(old.explainerSha256(), other.explainerSha256()));
        }
        Map<Integer, FaithfulnessGap> gaps = new LinkedHashMap<>();
        List<Change> changes = new ArrayList<>();
        TreeSet<NullSample> sizes =
                new TreeSet<>(Comparator.comparingInt(NullSample::rank).thenComparingInt(NullSample::rowsPerWindow));
        Stream.concat(old.samples().stream(), other.samples().stream())
                .filter(sample -> ranks.test(sample.rank()))
                .forEach(sizes::add);
        for (NullSample size : sizes) {
            if (!gaps.containsKey(size.rank())) {
                gaps.put(size.rank(), gap(old, other, size.rank()));
            }
            for (String statistic : STATISTICS) {
                List<String> asOne = together.contains(statistic) ? together : List.of(statistic);
                changes.add(new Change(
                        statistic,
                        size.rank(),
                        size.rowsPerWindow(),
                        level(old, size, statistic, asOne, threshold),
                        level(other, size, statistic, asOne, threshold),
                        windows(old, size, statistic),
                        windows(other, size, statistic)));
            }
        }
        return new BaselineDiff(other.moment().shiftFrom(old.moment()), gaps, changes);
    }

    private static FaithfulnessGap gap(Baseline old, Baseline other, int rank) {
        return FaithfulnessGap.between(
                ActiveSubspace.leadingOnly(old.moment().matrix(), rank, null).subspace(),
                ActiveSubspace.leadingOnly(other.moment().matrix(), rank, null).subspace());
    }

    private static @Nullable Double level(
            Baseline of, NullSample size, String statistic, List<String> together, Threshold threshold) {
        return of.sample(size.rank(), size.rowsPerWindow())
                                .map(sample -> sample.level(together, statistic, threshold, of.dimension()))
                                .orElse(null)
                        instanceof Level.Known known
                ? known.value()
                : null;
    }

    private static int windows(Baseline of, NullSample size, String statistic) {
        return of.sample(size.rank(), size.rowsPerWindow())
                .map(sample -> sample.values(statistic).length)
                .orElse(0);
    }
}
