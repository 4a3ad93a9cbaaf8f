package io.plumbline.causal.heads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.plumbline.causal.heads.SiteStudy.Found;
import io.plumbline.causal.heads.Sums.Of;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Compares what was found with the values per request of an independent float64 implementation. Its tolerances: 1e-4
 * for logits, cross-entropies and KL, 1e-4 of a squared error, 1e-3 for drops, which are quotients with a denominator
 * as small as 0.1.
 *
 * <p><b>Ties.</b> Where two features have the same effect within {@value #TIE} of a logit, float32 and float64 may
 * remove them in another order. What depends on that order is then not compared but counted: removed one by one they
 * are alike, together with others they need not be.
 */
final class OracleComparison {

    /** Twice the largest error of the head's logits against float64, since an effect is a difference of two. */
    private static final double TIE = 2e-5;

    /** The largest difference by name, so that a soak can say it. */
    private final Map<String, Double> largest = new TreeMap<>();

    private long values;
    private long ties;

    /** @param ids of the features in the oracle, by the feature here */
    void compare(
            String what, List<Found> found, FeatureRanking ranking, JsonNode method, JsonNode targets, long[] ids) {
        for (int i = 0; i < found.size(); i++) {
            String where = what + ", request " + i;
            compare(where, found.get(i), ranking, method, i, ids);
            Ablation ablation = ablation(found.get(i), where);
            assertEquals(targets.path(i).asInt(), ablation.target(), where);
        }
    }

    private static Ablation ablation(Found found, String where) {
        Ablation ablation = found.ablation();
        if (ablation == null) {
            throw new AssertionError(where + ": no features were ablated");
        }
        return ablation;
    }

    private void compare(String where, Found found, FeatureRanking ranking, JsonNode method, int i, long[] ids) {
        Sums sums = found.sums();
        within(where, "ce_original", Metric.CE_ORIGINAL.of(sums), method, i, 1e-4);
        within(where, "ce_patched", Metric.CE_PATCHED.of(sums), method, i, 1e-4);
        within(where, "ce_zero", Metric.CE_ZERO.of(sums), method, i, 1e-4);
        within(where, "delta_ce", Metric.DELTA_CE.of(sums), method, i, 1e-4);
        within(where, "kl", Metric.KL.of(sums), method, i, 1e-4);
        within(where, "l0", Metric.L0.of(sums), method, i, 1e-6);
        within(
                where,
                "sse",
                sums.get(Of.ERROR),
                method,
                i,
                1e-4 * method.path("sse").path(i).asDouble());
        Ablation ablation = ablation(found, where);
        within(where, "logit_original", ablation.original(), method, i, 1e-4);
        within(where, "logit_full", ablation.full(), method, i, 1e-4);
        within(where, "logit_none", ablation.none(), method, i, 1e-4);
        JsonNode drops = method.path(ranking + "_drops").path(i);
        assertEquals(!drops.path(0).isNull(), ablation.counts(), where + ": counts");
        if (ablation.counts()) {
            double[] ours = ablation.drops();
            boolean tied = false;
            for (int m = 0; m < ours.length; m++) {
                if (isTied(ablation, Ablation.budgets()[m])) {
                    tied = true;
                    ties++;
                } else {
                    near(
                            where + ", budget " + m,
                            ranking + "_drops",
                            drops.path(m).asDouble(),
                            ours[m],
                            1e-3);
                }
            }
            if (!tied) {
                within(where, "naopc_" + ranking, Metric.NAOPC.of(sums), method, i, 1e-3);
                within(where, "ncomp_" + ranking, Metric.NCOMP.of(sums), method, i, 1e-3);
            }
        }
        JsonNode top = method.path(ranking + "_top").path(i);
        for (int rank = 0; rank < top.size(); rank++) {
            if (top.path(rank).asLong() == ids[ablation.ranked()[rank]]) {
                values++;
            } else {
                assertEquals(
                        ablation.effects()[rank],
                        effect(ablation, top.path(rank).asLong(), ids),
                        TIE,
                        where + ": effect of rank " + rank + " and of the feature that the oracle has there");
                ties++;
            }
        }
    }

    /** Returns whether the last feature removed and the first one left have the same effect. */
    private static boolean isTied(Ablation ablation, int budget) {
        return budget < ablation.effects().length && ablation.effects()[budget - 1] - ablation.effects()[budget] < TIE;
    }

    private static double effect(Ablation ablation, long feature, long[] ids) {
        for (int rank = 0; rank < ablation.ranked().length; rank++) {
            if (ids[ablation.ranked()[rank]] == feature) {
                return ablation.effects()[rank];
            }
        }
        throw new AssertionError("feature " + feature + " is not active");
    }

    private void within(String where, String name, double ours, JsonNode method, int i, double tolerance) {
        JsonNode value = method.path(name).path(i);
        assertTrue(value.isNumber(), where + ": the oracle has no " + name);
        near(where, name, value.asDouble(), ours, tolerance);
    }

    private void near(String where, String name, double theirs, double ours, double tolerance) {
        assertEquals(theirs, ours, tolerance, where + ": " + name);
        largest.merge(name, Math.abs(theirs - ours), Math::max);
        values++;
    }

    long values() {
        return values;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(values + " values, " + ties + " ties; largest differences:");
        largest.forEach((name, difference) -> text.append(" %s %.1e".formatted(name, difference)));
        return text.toString();
    }
}
