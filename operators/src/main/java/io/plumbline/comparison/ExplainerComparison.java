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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Compares an explainer on recorded requests with the same explainer on the same prompts after a change of the model.
 *
 * <p>Row i of request q before and row i of request q after are a pair where both sides have the same requests with as
 * many rows each, and the same token ids where both say. Where they do not, nothing of pairs is measured, and there is
 * {@link #activity()} in the place of {@link #features()}. Rows that are not finite or masked are left out, of both
 * sides where there are pairs. Groups are of requests that have rows left; where these are fewer than two, causes are
 * named and nothing is measured.
 *
 * <p><b>Cost.</b> Every row is read twice and encoded once; two eigenspaces for each of at most
 * {@value Estimate#MOST_GROUPS} groups of requests. Everything is in float64.
 *
 * @param requests before and after
 * @param rows compared, before and after
 * @param unpaired why rows have no partner; null where they have
 * @param unmeasured why there are no figures; null where there are
 * @param identical whether all pairs of rows are the same to the bit
 * @param figures by name, those that could be measured
 * @param features which of them survive; null where rows have no partner, or nothing is measured
 * @param activity which of them are active more or less often; null where rows have a partner, or nothing is measured
 * @param causes mistakes that explain the change
 */
public record ExplainerComparison(
        List<Integer> requests,
        List<Long> rows,
        @Nullable String unpaired,
        @Nullable String unmeasured,
        boolean identical,
        Map<String, Estimate> figures,
        @Nullable FeatureSurvival features,
        @Nullable ActivityChanges activity,
        List<Cause> causes) {

    private static final double INFINITE = Double.POSITIVE_INFINITY;

    /** Returns why a figure is not among {@link #figures()}. */
    String notMeasured() {
        return unmeasured != null
                ? unmeasured
                : unpaired == null ? "no feature is active in enough requests" : "rows are not paired, " + unpaired;
    }

    /**
     * Measures both.
     *
     * @param rank of the subspaces that are compared
     * @param before requests, each read when it is asked for, with targets as they come; as those of {@code after}
     * @param layers other places of the model before the change, by name, with the same prompts; one of them may be
     *     where the rows of after come from
     * @param most how many features are listed
     * @throws IllegalArgumentException where a side has fewer than two requests
     */
    public static ExplainerComparison between(
            Explainer explainer,
            int rank,
            RowMask mask,
            List<ActivationBatch> before,
            List<ActivationBatch> after,
            Map<String, List<ActivationBatch>> layers,
            int most) {
        if (before.size() < 2 || after.size() < 2) {
            throw new IllegalArgumentException(
                    "%d and %d requests: expected 2 or more before and after".formatted(before.size(), after.size()));
        }
        Recording all = Recording.read(before, explainer, mask);
        Recording allAfter = Recording.read(after, explainer, mask);
        String unpaired = Prompts.difference(all.prompts(), allAfter.prompts());
        Recording recorded = unpaired == null ? all.pairedWith(allAfter) : all;
        Recording recordedAfter = unpaired == null ? allAfter.pairedWith(all) : allAfter;
        int[] places = recorded.places();
        int[] placesAfter = recordedAfter.places();
        int intervals = Math.min(Estimate.MOST_GROUPS, Math.min(places.length, placesAfter.length));
        int groups = Math.max(1, intervals);
        String unmeasured = intervals >= 2
                ? null
                : "requests with finite rows left are %d before and %d after, expected 2 or more for intervals"
                        .formatted(places.length, placesAfter.length);
        Side sideBefore = new Side(groups, explainer);
        Side sideAfter = new Side(groups, explainer);
        Pairs pairs = unpaired == null ? new Pairs(groups, explainer.features()) : null;
        for (int i = 0; i < Math.max(places.length, placesAfter.length); i++) {
            ActivationBatch b = i < places.length ? recorded.left(places[i]) : null;
            ActivationBatch a = i < placesAfter.length ? recordedAfter.left(placesAfter[i]) : null;
            SparseCodes codes = b == null ? null : sideBefore.add(group(i, groups, places), b);
            SparseCodes codesAfter = a == null ? null : sideAfter.add(group(i, groups, placesAfter), a);
            if (pairs != null && b != null && a != null && codes != null && codesAfter != null) {
                pairs.add(group(i, groups, places), b, a, codes, codesAfter);
            }
        }
        boolean identical = unmeasured == null
                && pairs != null
                && pairs.isIdentical()
                && recorded.notFinite() == recordedAfter.notFinite();
        FeatureSurvival survival = null;
        ActivityChanges activity = null;
        Map<String, Estimate> figures = new LinkedHashMap<>();
        if (unmeasured == null) {
            FeatureActivity activeBefore = sideBefore.activity.snapshot();
            FeatureActivity activeAfter = sideAfter.activity.snapshot();
            if (pairs != null) {
                survival = pairs.survival(activeBefore, activeAfter, most);
            } else {
                activity = ActivityComparison.of(activeBefore, ActivityComparison.DEFAULT_FALSE_DISCOVERY_RATE)
                        .changes(activeAfter, most);
            }
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
        }
        return new ExplainerComparison(
                List.of(before.size(), after.size()),
                List.of(sideBefore.rows(), sideAfter.rows()),
                unpaired,
                unmeasured,
                identical,
                figures,
                survival,
                activity,
                Causes.of(
                        recorded,
                        recordedAfter,
                        sideBefore,
                        sideAfter,
                        pairs,
                        Prompts.missingTemplate(recorded.prompts(), recordedAfter.prompts()),
                        layers.isEmpty() || unpaired != null ? null : nearest(before, after, layers)));
    }

    /** Returns the group of the i-th request that has rows left. */
    private static int group(int i, int groups, int... places) {
        return (int) ((long) i * groups / places.length);
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
