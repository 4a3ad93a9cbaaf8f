package io.plumbline.causal.heads;

import java.util.Locale;

/** The order in which the features of a row are removed; signed, largest first, of equal ones the lowest id first. */
public enum FeatureRanking {
    /** Orders by the target logit's drop without that one feature: a run of the head for each active feature. */
    CAUSAL,
    /**
     * Orders by direct logit attribution {@code z_j (W_dec[j] . W_U[target])}: no run, and it needs the unembedding.
     */
    DLA;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
