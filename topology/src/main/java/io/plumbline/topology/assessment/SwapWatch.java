package io.plumbline.topology.assessment;

import io.plumbline.adaptation.PairedErrors;
import io.plumbline.judgement.DriftPolicy;
import org.jspecify.annotations.Nullable;

/**
 * Counts how a decoder has done since its swap: of the first windows in which it could be compared with the trained
 * one, in how many it did significantly worse.
 *
 * <p>The rule is j of the first n, so that the decision falls soon after the swap or never: later on it is the verdict
 * that says whether traffic is back. With a window wrong in at most 1 % of cases ({@link PairedErrors}) the default of
 * 2 of 5 undoes a swap that does no worse in at most {@code 10 · 0.01² = 0.1 %} of cases where windows are independent,
 * and in at most {@code 5 · 0.01 / 2 = 2.5 %} however they depend on each other. At a site that names the rest of its
 * model a window is also worse where its KL is, which at most doubles the 1 %: 0.4 % and 5 %.
 *
 * @param version of the decoder; 0: none
 * @param windows that were compared, at most n
 * @param worse of them
 */
record SwapWatch(long version, int windows, int worse) {

    static final SwapWatch NONE = new SwapWatch(0, 0, 0);

    SwapWatch {
        if (version < 0 || windows < 0 || worse < 0 || worse > windows) {
            throw new IllegalArgumentException(
                    "version %d did worse in %d of %d windows".formatted(version, worse, windows));
        }
    }

    /**
     * Returns the watch after a window with this decoder in service.
     *
     * @param errors its squared errors against the trained decoder's
     * @param divergences its KL against the trained decoder's; null where the rest of the model was not run
     */
    SwapWatch after(long inService, PairedErrors errors, @Nullable PairedErrors divergences, DriftPolicy rule) {
        SwapWatch before = version == inService ? this : new SwapWatch(inService, 0, 0);
        if (!errors.isComparable() || before.windows >= rule.memory()) {
            return before;
        }
        boolean isWorse = errors.firstIsWorse() || (divergences != null && divergences.firstIsWorse());
        return new SwapWatch(inService, before.windows + 1, before.worse + (isWorse ? 1 : 0));
    }

    /** Returns whether the swap is to be undone. */
    boolean hasFailed(DriftPolicy rule) {
        return worse >= rule.needed();
    }
}
