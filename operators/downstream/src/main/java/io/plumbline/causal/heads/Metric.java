package io.plumbline.causal.heads;

import io.plumbline.causal.heads.Sums.Of;
import java.util.Locale;

/**
 * One figure of the causal metrics, as a function of sums over requests. The lower-case name is the key in JSON and
 * documents. NaN where it is not defined.
 */
public enum Metric {
    /** Mean of {@code -log p(next token)} of the original run, in nats. */
    CE_ORIGINAL,
    /** Mean of {@code -log p(next token)} with the rows replaced by their reconstructions, in nats. */
    CE_PATCHED,
    /** Mean of {@code -log p(next token)} with the rows replaced by zero, in nats. */
    CE_ZERO,
    /** {@code ce_patched - ce_original}. */
    DELTA_CE,
    /** The absolute value of {@code delta_ce}, taken of the mean over all rows. */
    ABS_DELTA_CE,
    /** The absolute value taken of each request's mean, then averaged. */
    MEAN_ABS_DELTA_CE_BY_REQUEST,
    /** {@code (ce_zero - ce_patched) / (ce_zero - ce_original)}; says nothing where both are near each other. */
    LOSS_RECOVERED,
    /** Mean of {@code KL(original || patched)} of the next token, in nats. */
    KL,
    /** Share of rows after which both runs have the same most likely token. */
    TOP1_AGREEMENT,
    /** Squared error of the reconstruction, of the targets' variance. */
    FVU,
    /** Mean number of active features. */
    L0,
    /** Normalised area over the perturbation curve, at the last token. */
    NAOPC,
    /** Normalised area over the perturbation curve with each drop clipped to 0 to 1. */
    NAOPC_CLIPPED,
    /** Normalised comprehensiveness: the drop without the top 32 features. */
    NCOMP,
    /** The drop without the top 8. */
    NCOMP8,
    /** The drop without the top 4. */
    NCOMP4,
    /** Mean KL of the original run to the zero run. */
    KL_ZERO,
    /** {@code (kl_zero - kl) / kl_zero}. */
    KL_SCORE,
    /** {@code 1 - fvu}. */
    EXPLAINED_VARIANCE;

    /** Returns the figure of these sums. */
    public double of(Sums sums) {
        return switch (this) {
            case CE_ORIGINAL -> sums.ratio(Of.CE_ORIGINAL, Of.ROWS_CE);
            case CE_PATCHED -> sums.ratio(Of.CE_PATCHED, Of.ROWS_CE);
            case CE_ZERO -> sums.ratio(Of.CE_ZERO, Of.ROWS_CE);
            case DELTA_CE -> difference(sums, Of.CE_PATCHED, Of.CE_ORIGINAL);
            case ABS_DELTA_CE -> Math.abs(difference(sums, Of.CE_PATCHED, Of.CE_ORIGINAL));
            case MEAN_ABS_DELTA_CE_BY_REQUEST -> sums.ratio(Of.ABS_DELTA_CE, Of.REQUESTS_CE);
            case LOSS_RECOVERED ->
                (sums.get(Of.CE_ZERO) - sums.get(Of.CE_PATCHED)) / (sums.get(Of.CE_ZERO) - sums.get(Of.CE_ORIGINAL));
            case KL -> sums.ratio(Of.KL, Of.ROWS);
            case TOP1_AGREEMENT -> sums.ratio(Of.AGREEMENTS, Of.ROWS);
            case FVU -> sums.ratio(Of.ERROR, Of.SPREAD);
            case L0 -> sums.ratio(Of.ACTIVE, Of.ROWS);
            case NAOPC -> sums.ratio(Of.AOPC, Of.ABLATED);
            case NAOPC_CLIPPED -> sums.ratio(Of.AOPC_CLIPPED, Of.ABLATED);
            case NCOMP -> sums.ratio(Of.COMP_32, Of.ABLATED);
            case NCOMP8 -> sums.ratio(Of.COMP_8, Of.ABLATED);
            case NCOMP4 -> sums.ratio(Of.COMP_4, Of.ABLATED);
            case KL_ZERO -> sums.ratio(Of.KL_ZERO, Of.ROWS);
            case KL_SCORE -> 1.0 - sums.ratio(Of.KL, Of.KL_ZERO);
            case EXPLAINED_VARIANCE -> 1.0 - sums.ratio(Of.ERROR, Of.SPREAD);
        };
    }

    /** Returns the name in JSON. */
    String key() {
        return name().toLowerCase(Locale.ROOT);
    }

    private static double difference(Sums sums, Of of, Of from) {
        return (sums.get(of) - sums.get(from)) / sums.get(Of.ROWS_CE);
    }
}
