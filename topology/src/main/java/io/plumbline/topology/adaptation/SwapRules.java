package io.plumbline.topology.adaptation;

import io.plumbline.judgement.DriftPolicy;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Limits how far a site's decoder may be changed without a person.
 *
 * @param mode who decides that a decoder which passed the gate goes into service
 * @param maxSwaps adapted decoders that may go into service by themselves in any {@code swapPeriod} of event time
 * @param swapPeriod see there
 * @param candidateLifetime how long a candidate waits for approval, broker time
 * @param rollback in how many of the first windows after a swap the decoder may do significantly worse than the trained
 *     one before the trained one returns: j of n; null: never
 * @param pause event time for which nothing is refitted after such a return
 */
public record SwapRules(
        Mode mode,
        int maxSwaps,
        Duration swapPeriod,
        Duration candidateLifetime,
        @Nullable DriftPolicy rollback,
        Duration pause) {

    /** Says who decides what goes into service. */
    public enum Mode {
        /** Nobody decides: the site is watched and asks for nothing. */
        OBSERVE,
        /** A person decides: what passed the gate waits as a candidate. */
        PROPOSE,
        /** The gate decides. */
        AUTO
    }

    /** The default of {@link #rollback}. */
    public static final DriftPolicy DEFAULT_ROLLBACK = new DriftPolicy(2, 5);

    /** The rules where the configuration says nothing. */
    public static final SwapRules DEFAULT = new SwapRules(
            Mode.PROPOSE, 4, Duration.ofDays(1), Duration.ofDays(7), DEFAULT_ROLLBACK, Duration.ofHours(1));

    /** The event time for which a newer candidate leaves one that waits alone: a person needs some to look at it. */
    public static final Duration LEAST_WAIT = Duration.ofHours(1);

    /** The most swaps that are remembered. */
    public static final int MOST_SWAPS = 1000;

    public SwapRules {
        if (maxSwaps < 1 || maxSwaps > MOST_SWAPS || swapPeriod.isZero() || candidateLifetime.isZero()) {
            throw new IllegalArgumentException(
                    ("max_swaps = %d per %s, candidate_lifetime = %s: expected 1 to %d per positive time, "
                                    + "and a positive time")
                            .formatted(maxSwaps, swapPeriod, candidateLifetime, MOST_SWAPS));
        }
    }

    /** Returns whether a drift asks for another decoder. */
    public boolean adapts() {
        return mode != Mode.OBSERVE;
    }
}
