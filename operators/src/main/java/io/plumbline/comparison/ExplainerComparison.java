package io.plumbline.comparison;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
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
import io.plumbline.probes.Probe;
import io.plumbline.records.ActivationBatch;
import java.util.Comparator;
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
 * @param probes what became of their verdicts; none where rows have no partner, or nothing is measured
 * @param causes mistakes that explain the change
 */
public record ExplainerComparison(
        @JsonPropertyDescription("requests before and after")
        List<Integer> requests,

        @JsonPropertyDescription("rows compared, before and after: those that are finite and not masked, of both where "
                + "they are paired")
        List<Long> rows,

        @JsonPropertyDescription("why rows have no partner; null where they have") @Nullable
        String unpaired,

        @JsonPropertyDescription("why there are no figures; null where there are") @Nullable
        String unmeasured,

        @JsonPropertyDescription("whether all pairs of rows are the same to the bit")
        boolean identical,

        @JsonPropertyDescription("[figures](../use/compare.md) by name, those that could be measured: `value`, and "
                + "`low` and `high` of a 95 % interval over requests")
        Map<String, Estimate> figures,

        @JsonPropertyDescription(
                "`active`, `surviving` and `below` features, and the `worst`; null where rows have no partner")
        @Nullable
        FeatureSurvival features,

        @JsonPropertyDescription(
                "features that are [active more or less often](#feature-activity); null where rows have a partner")
        @Nullable
        ActivityChanges activity,

        @JsonPropertyDescription("of each of `--probes`: `name`, `flips`, `rate_before` and `rate_after`")
        List<ProbeFlips> probes,

        @JsonPropertyDescription(
                "[mistakes](../use/compare.md#mistakes) that explain the change: `kind` and `sentence`")
        List<Cause> causes) {

    /** The figure of the probe that reads most requests otherwise. */
    public static final String PROBE_FLIPS = "probe_flips";

    /** The figure of what the rest of the model makes of a change. */
    public static final String KL = "kl";

    private static final double INFINITE = Double.POSITIVE_INFINITY;
    private static final int NO_SUBSPACES = 0;

    /** Returns this with one more figure. */
    public ExplainerComparison with(String figure, Estimate estimate) {
        Map<String, Estimate> more = new LinkedHashMap<>(figures);
        more.put(figure, estimate);
        return new ExplainerComparison(
                requests, rows, unpaired, unmeasured, identical, more, features, activity, probes, causes);
    }

    /** Returns why a figure that was asked for is not among {@link #figures()}. */
    String notMeasured(String figure) {
        // The rest of the model runs on whole requests, whatever rows are left of them.
        if (unmeasured != null && !figure.equals(KL)) {
            return unmeasured;
        }
        if (unpaired != null) {
            return "rows are not paired, " + unpaired;
        }
        return figure.equals(KL)
                ? "every request has one row, or one that is not finite"
                : "no feature is active in enough requests";
    }

    /**
     * Measures both.
     *
     * @param rank of the subspaces that are compared
     * @param before requests, each read when it is asked for, with targets as they come; as those of {@code after}
     * @param layers other places of the model before the change, by name, with the same prompts; one of them may be
     *     where the rows of after come from
     * @param probes that read the rows, as wide as these
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
            List<Probe> probes,
            int most) {
        if (before.size() < 2 || after.size() < 2) {
            throw new IllegalArgumentException(
                    "%d and %d requests: expected 2 or more before and after".formatted(before.size(), after.size()));
        }
        Recording recorded = Recording.read(before, explainer, mask);
        Recording recordedAfter = Recording.read(after, explainer, mask);
        String unpaired = Prompts.difference(recorded.prompts(), recordedAfter.prompts());
        return measured(
                explainer,
                rank,
                recorded,
                recordedAfter,
                unpaired,
                Prompts.missingTemplate(recorded.prompts(), recordedAfter.prompts()),
                layers.isEmpty() || unpaired != null ? null : nearest(before, after, layers),
                probes,
                most);
    }

    /**
     * Measures samples of requests of two engines, without the figures of subspaces, which take more than a window's
     * time.
     *
     * @param unpaired why rows have no partner; null where row i of request q of both is a pair
     * @param most how many features are listed
     */
    public static ExplainerComparison ofSamples(
            Explainer explainer,
            List<ActivationBatch> before,
            List<ActivationBatch> after,
            @Nullable String unpaired,
            int most) {
        return measured(
                explainer,
                NO_SUBSPACES,
                Recording.read(before, explainer, RowMask.NONE),
                Recording.read(after, explainer, RowMask.NONE),
                unpaired,
                null,
                null,
                List.of(),
                most);
    }

    private static ExplainerComparison measured(
            Explainer explainer,
            int rank,
            Recording all,
            Recording allAfter,
            @Nullable String unpaired,
            @Nullable String template,
            @Nullable String layer,
            List<Probe> probes,
            int most) {
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
        Side sideBefore = new Side(groups, explainer, rank != NO_SUBSPACES);
        Side sideAfter = new Side(groups, explainer, rank != NO_SUBSPACES);
        Pairs pairs = unpaired == null ? new Pairs(groups, explainer.features()) : null;
        List<ProbeFlips.Counts> flips = probes.stream()
                .map(probe -> new ProbeFlips.Counts(probe, groups))
                .toList();
        for (int i = 0; i < Math.max(places.length, placesAfter.length); i++) {
            ActivationBatch b = i < places.length ? recorded.left(places[i]) : null;
            ActivationBatch a = i < placesAfter.length ? recordedAfter.left(placesAfter[i]) : null;
            SparseCodes codes = b == null ? null : sideBefore.add(group(i, groups, places), b);
            SparseCodes codesAfter = a == null ? null : sideAfter.add(group(i, groups, placesAfter), a);
            if (pairs != null && b != null && a != null && codes != null && codesAfter != null) {
                int group = group(i, groups, places);
                pairs.add(group, b, a, codes, codesAfter);
                flips.forEach(counts -> counts.add(group, b.activations(), a.activations()));
            }
        }
        boolean identical = unmeasured == null
                && pairs != null
                && pairs.isIdentical()
                && recorded.notFinite() == recordedAfter.notFinite();
        FeatureSurvival survival = null;
        ActivityChanges activity = null;
        List<ProbeFlips> flipped = List.of();
        Map<String, Estimate> figures = new LinkedHashMap<>();
        if (unmeasured == null) {
            FeatureActivity activeBefore = sideBefore.activity.snapshot();
            FeatureActivity activeAfter = sideAfter.activity.snapshot();
            if (pairs != null) {
                Pairs.Survival survived = pairs.survival(activeBefore, activeAfter, most);
                survival = survived.features();
                if (survival.active() > 0) {
                    figures.put("survival", survived.share());
                }
            } else {
                activity = ActivityComparison.of(activeBefore, ActivityComparison.DEFAULT_FALSE_DISCOVERY_RATE)
                        .changes(activeAfter, most);
            }
            addLosses(figures, groups, sideBefore, sideAfter);
            if (rank != NO_SUBSPACES) {
                addSubspaces(figures, explainer, rank, groups, sideBefore, sideAfter);
            }
            if (identical && rank != NO_SUBSPACES) {
                figures.put("gap_to_before", new Estimate(0.0, 0.0, 0.0)); // two equal bases are apart by rounding
            }
            if (pairs != null) {
                figures.put("row_error", Estimate.of(groups, 0.0, INFINITE, pairs::errorWithout));
                figures.put("row_cosine", Estimate.of(groups, -1.0, 1.0, pairs::cosineWithout));
                flipped = flips.stream().map(counts -> counts.result(identical)).toList();
                flipped.stream()
                        .map(ProbeFlips::flips)
                        .max(Comparator.comparingDouble(Estimate::high))
                        .ifPresent(worst -> figures.put(PROBE_FLIPS, worst));
            }
        }
        return new ExplainerComparison(
                List.of(all.requests().size(), allAfter.requests().size()),
                List.of(sideBefore.rows(), sideAfter.rows()),
                unpaired,
                unmeasured,
                identical,
                figures,
                survival,
                activity,
                flipped,
                Causes.of(recorded, recordedAfter, sideBefore, sideAfter, pairs, template, layer));
    }

    /** Returns the group of the i-th request that has rows left. */
    private static int group(int i, int groups, int... places) {
        return (int) ((long) i * groups / places.length);
    }

    private static void addLosses(Map<String, Estimate> figures, int groups, Side before, Side after) {
        figures.put("fvu_before", Estimate.of(groups, 0.0, INFINITE, before::fvuWithout));
        figures.put("fvu", Estimate.of(groups, 0.0, INFINITE, after::fvuWithout));
        figures.put(
                "fvu_rise",
                Estimate.of(groups, -INFINITE, INFINITE, group -> after.fvuWithout(group) - before.fvuWithout(group)));
    }

    private static void addSubspaces(
            Map<String, Estimate> figures, Explainer explainer, int rank, int groups, Side before, Side after) {
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

    /**
     * Returns the mean over requests of {@code |X_after - X|_F / |X_after|_F}, of rows that are finite on both sides;
     * infinite where prompts differ, NaN where no request of after has such rows and a length.
     */
    private static double distance(List<ActivationBatch> place, List<ActivationBatch> after) {
        if (Prompts.difference(Prompts.of(place), Prompts.of(after)) != null) {
            return INFINITE;
        }
        double sum = 0.0;
        int counted = 0;
        for (int i = 0; i < place.size(); i++) {
            ActivationBatch here = place.get(i);
            ActivationBatch there = after.get(i);
            int[] finite = IntStream.range(0, here.rows())
                    .filter(row ->
                            Recording.isFinite(here.activations(), row) && Recording.isFinite(there.activations(), row))
                    .toArray();
            if (finite.length > 0) {
                Matrix rows = there.keep(finite).activations();
                double length = rows.frobeniusNorm();
                if (length > 0.0) {
                    sum += rows.distance(here.keep(finite).activations()) / length;
                    counted++;
                }
            }
        }
        return sum / counted;
    }
}
