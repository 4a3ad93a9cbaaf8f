package io.plumbline.causal.heads;

import java.util.Arrays;

/**
 * Holds what removing features of the last row does to the logit of the token that the original run predicts there.
 * Only that row is replaced.
 *
 * @param target the original run's most likely token after the last row
 * @param original its logit there
 * @param full its logit with the last row's reconstruction, {@code l_0}
 * @param none its logit with all features at zero, so {@code b_dec}
 * @param ranked the active features in the order of removal
 * @param effects what each of these was ranked by, in the same order: at ties within the accuracy of the head, some
 *     1e-5, the order is anybody's
 * @param without the logit without the first m features, for each of {@link #BUDGETS}
 */
public record Ablation(
        int target, double original, double full, double none, int[] ranked, double[] effects, double[] without) {

    private static final int[] BUDGETS = {1, 2, 4, 8, 16, 32, 64, 128};

    /** Requests whose logit moves less between all features and none are left out: the quotient is unstable. */
    private static final double LEAST_RANGE = 0.1;

    /** Returns how many features are removed, in the order of {@link #without}. */
    static int[] budgets() {
        return BUDGETS.clone();
    }

    /** Returns whether {@code |l_0 - l_none|} is large enough to divide by. */
    public boolean counts() {
        return Math.abs(full - none) >= LEAST_RANGE;
    }

    /** Returns {@code (l_0 - l_without_m) / |l_0 - l_none|} for each budget. */
    public double[] drops() {
        double range = Math.abs(full - none);
        return Arrays.stream(without).map(logit -> (full - logit) / range).toArray();
    }

    /** Adds what the metrics need; nothing where the request does not count. */
    void addTo(Sums.Builder sums) {
        if (!counts()) {
            return;
        }
        double[] drops = drops();
        sums.add(Sums.Of.ABLATED, 1.0);
        sums.add(Sums.Of.AOPC, Arrays.stream(drops).average().orElseThrow());
        sums.add(
                Sums.Of.AOPC_CLIPPED,
                Arrays.stream(drops)
                        .map(drop -> Math.max(0.0, Math.min(1.0, drop)))
                        .average()
                        .orElseThrow());
        sums.add(Sums.Of.COMP_32, drops[5]);
        sums.add(Sums.Of.COMP_8, drops[3]);
        sums.add(Sums.Of.COMP_4, drops[2]);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Ablation ablation
                && target == ablation.target
                && original == ablation.original
                && full == ablation.full
                && none == ablation.none
                && Arrays.equals(ranked, ablation.ranked)
                && Arrays.equals(effects, ablation.effects)
                && Arrays.equals(without, ablation.without);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(without);
    }

    @Override
    public String toString() {
        return "Ablation[target %d, full %s, none %s, without %s]"
                .formatted(target, full, none, Arrays.toString(without));
    }
}
