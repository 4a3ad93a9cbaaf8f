package io.plumbline.comparison;

import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.features.ActivityChanges;
import io.plumbline.features.ActivityComparison;
import io.plumbline.features.FeatureActivity;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.geometry.FaithfulnessGap;
import io.plumbline.geometry.Subspace;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowMask;
import io.plumbline.records.ActivationBatch;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Compares an explainer on recorded requests with the same explainer on the same prompts after a change of the model.
 *
 * <p>Row i of request q before and row i of request q after are a pair where both sides have the same requests with as
 * many rows each, and the same token ids where both say. Where they do not, nothing of pairs is measured, and there is
 * {@link #activity()} in the place of {@link #features()}. Rows that are not finite or masked are left out, of both
 * sides where there are pairs.
 *
 * <p><b>Cost.</b> Every row is read twice and encoded once; two eigenspaces for each of at most
 * {@value Estimate#MOST_GROUPS} groups of requests. Everything is in float64.
 *
 * @param requests before and after
 * @param rows compared, before and after
 * @param unpaired why rows have no partner; null where they have
 * @param identical whether all pairs of rows are the same to the bit
 * @param figures by name, those that could be measured
 * @param features which of them survive; null where rows have no partner
 * @param activity which of them are active more or less often; null where rows have a partner
 * @param causes mistakes that explain the change
 */
public record ExplainerComparison(
        List<Integer> requests,
        List<Long> rows,
        @Nullable String unpaired,
        boolean identical,
        Map<String, Estimate> figures,
        @Nullable FeatureSurvival features,
        @Nullable ActivityChanges activity,
        List<Cause> causes) {

    private static final double INFINITE = Double.POSITIVE_INFINITY;

    /** Returns why a figure is not among {@link #figures()}. */
    String notMeasured() {
        return unpaired == null ? "no feature is active in enough requests" : "rows are not paired, " + unpaired;
    }

    /**
     * Measures both.
     *
     * @param rank of the subspaces that are compared
     * @param before requests, each read when it is asked for, with targets as they come; as those of {@code after}
     * @param layers other places of the model before the change, by name, with the same prompts; one of them may be
     *     where the rows of after come from
     * @param most how many features are listed
     * @throws IllegalArgumentException where a side has fewer than two requests, or no finite row
     */
    public static ExplainerComparison between(
            Explainer explainer,
            int rank,
            RowMask mask,
            List<ActivationBatch> before,
            List<ActivationBatch> after,
            Map<String, List<ActivationBatch>> layers,
            int most) {
        int groups = Math.min(Estimate.MOST_GROUPS, Math.min(before.size(), after.size()));
        if (groups < 2) {
            throw new IllegalArgumentException(
                    "%d and %d requests: expected 2 or more before and after".formatted(before.size(), after.size()));
        }
        Prompts promptsBefore = Prompts.of(before);
        Prompts promptsAfter = Prompts.of(after);
        String unpaired = Prompts.difference(promptsBefore, promptsAfter);
        Side sideBefore = new Side(groups, explainer);
        Side sideAfter = new Side(groups, explainer);
        Pairs pairs = unpaired == null ? new Pairs(groups, explainer.features()) : null;
        long[] notFinite = new long[2];
        for (int place = 0; place < Math.max(before.size(), after.size()); place++) {
            ActivationBatch b = place < before.size() ? before.get(place) : null;
            ActivationBatch a = place < after.size() ? after.get(place) : null;
            int[] keptBefore = kept(b, explainer, mask, notFinite, 0);
            int[] keptAfter = kept(a, explainer, mask, notFinite, 1);
            if (pairs != null) {
                keptBefore = IntStream.of(keptBefore)
                        .filter(row -> Arrays.binarySearch(keptAfter, row) >= 0)
                        .toArray();
            }
            int groupBefore = (int) ((long) place * groups / before.size());
            int groupAfter = (int) ((long) place * groups / after.size());
            SparseCodes codesBefore = add(sideBefore, groupBefore, b, keptBefore);
            SparseCodes codesAfter = add(sideAfter, groupAfter, a, pairs == null ? keptAfter : keptBefore);
            if (pairs != null && b != null && a != null && codesBefore != null && codesAfter != null) {
                pairs.add(groupBefore, b.keep(keptBefore), a.keep(keptBefore), codesBefore, codesAfter);
            }
        }
        if (sideBefore.rows() == 0 || sideAfter.rows() == 0) {
            throw new IllegalArgumentException(
                    "no row is left: %d before and %d after are not finite".formatted(notFinite[0], notFinite[1]));
        }
        boolean identical = pairs != null && pairs.isIdentical() && notFinite[0] == notFinite[1];
        FeatureActivity activity = sideBefore.activity.snapshot();
        FeatureActivity activityAfter = sideAfter.activity.snapshot();
        FeatureSurvival survival = pairs == null ? null : pairs.survival(activity, activityAfter, most);
        Map<String, Estimate> figures = new LinkedHashMap<>();
        if (survival != null && survival.active() > 0) {
            figures.put("survival", survival.share());
        }
        addFigures(figures, explainer, rank, groups, sideBefore, sideAfter);
        if (identical) {
            figures.put("gap_to_before", new Estimate(0.0, 0.0, 0.0)); // two equal bases are apart by rounding
        }
        if (pairs != null) {
            figures.put("row_error", Estimate.of(groups, 0.0, INFINITE, pairs::errorWithout));
            figures.put("row_cosine", Estimate.of(groups, -1.0, 1.0, pairs::cosineWithout));
        }
        return new ExplainerComparison(
                List.of(before.size(), after.size()),
                List.of(sideBefore.rows(), sideAfter.rows()),
                unpaired,
                identical,
                figures,
                survival,
                pairs != null
                        ? null
                        : ActivityComparison.of(activity, ActivityComparison.DEFAULT_FALSE_DISCOVERY_RATE)
                                .changes(activityAfter, most),
                Causes.of(
                        sideBefore,
                        sideAfter,
                        notFinite,
                        pairs,
                        Prompts.missingTemplate(promptsBefore, promptsAfter),
                        layers.isEmpty() || unpaired != null ? null : nearest(before, after, layers)));
    }

    private static @Nullable SparseCodes add(Side side, int group, @Nullable ActivationBatch request, int... rows) {
        return request == null || rows.length == 0 ? null : side.add(group, request.keep(rows));
    }

    /** Returns the rows that are finite and not masked, and counts those that are not finite. */
    private static int[] kept(
            @Nullable ActivationBatch request, Explainer explainer, RowMask mask, long[] notFinite, int side) {
        if (request == null) {
            return new int[0];
        }
        int[] finite = IntStream.range(0, request.rows())
                .filter(row -> isFinite(request.activations(), row) && isFinite(request.targetRows(), row))
                .toArray();
        notFinite[side] += request.rows() - finite.length;
        return finite.length == 0
                ? finite
                : IntStream.of(mask.rowsLeft(explainer.space().of(request.keep(finite))))
                        .map(row -> finite[row])
                        .toArray();
    }

    private static boolean isFinite(Matrix rows, int row) {
        return Double.isFinite(rows.rowRange(row, row + 1).frobeniusNorm());
    }

    private static void addFigures(
            Map<String, Estimate> figures, Explainer explainer, int rank, int groups, Side before, Side after) {
        figures.put("fvu_before", Estimate.of(groups, 0.0, INFINITE, before::fvuWithout));
        figures.put("fvu", Estimate.of(groups, 0.0, INFINITE, after::fvuWithout));
        figures.put(
                "fvu_rise",
                Estimate.of(groups, -INFINITE, INFINITE, group -> after.fvuWithout(group) - before.fvuWithout(group)));
        Subspace decoder = ExplainerSubspace.of(explainer.decoder(), rank).subspace();
        ActiveSubspace[] spacesBefore = before.spaces(rank);
        ActiveSubspace[] spacesAfter = after.spaces(rank);
        figures.put("gap_before", gap(spacesBefore, group -> decoder));
        figures.put("gap", gap(spacesAfter, group -> decoder));
        figures.put("gap_to_before", gap(spacesAfter, group -> spacesBefore[group + 1].subspace()));
        figures.put("shift", Estimate.of(groups, 0.0, INFINITE, group -> {
            Matrix moment = before.momentWithout(group);
            return after.momentWithout(group).distance(moment) / moment.frobeniusNorm();
        }));
    }

    private static Estimate gap(ActiveSubspace[] spaces, IntFunction<Subspace> other) {
        return Estimate.of(
                spaces.length - 1,
                0.0,
                new FaithfulnessGap(0.0, spaces[0].rank(), spaces[0].dimension()).largest(),
                group -> FaithfulnessGap.between(spaces[group + 1].subspace(), other.apply(group))
                        .value());
    }

    /** Returns which place after's rows are more than twice as near to as to before's; empty where none is. */
    private static String nearest(
            List<ActivationBatch> before, List<ActivationBatch> after, Map<String, List<ActivationBatch>> layers) {
        double here = distance(before, after);
        double least = here / 2.0;
        String nearest = "";
        for (Map.Entry<String, List<ActivationBatch>> layer : layers.entrySet()) {
            double there = distance(layer.getValue(), after);
            if (there < least) {
                least = there;
                nearest = String.format(
                        Locale.ROOT,
                        "after's rows are those of %s: the difference is %.3g of a row, that to before's %.3g",
                        layer.getKey(),
                        there,
                        here);
            }
        }
        return nearest;
    }

    /** Returns the mean over requests of {@code |X_after - X|_F / |X_after|_F}; infinite where prompts differ. */
    private static double distance(List<ActivationBatch> place, List<ActivationBatch> after) {
        if (Prompts.difference(Prompts.of(place), Prompts.of(after)) != null) {
            return INFINITE;
        }
        double sum = 0.0;
        for (int i = 0; i < place.size(); i++) {
            Matrix rows = after.get(i).activations();
            sum += rows.distance(place.get(i).activations()) / rows.frobeniusNorm();
        }
        return sum / place.size();
    }
}
