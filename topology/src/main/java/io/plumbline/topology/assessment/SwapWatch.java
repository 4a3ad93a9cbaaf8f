package io.plumbline.topology.assessment;

import io.plumbline.adaptation.PairedErrors;
import io.plumbline.calibration.DriftPolicy;

/**
 * How a decoder has done since its swap: of the first windows in which it could be compared with the trained one, in
 * how many it did significantly worse.
 *
 * <p>The rule is j of the first n, so that the decision falls soon after the swap or never: later on it is the verdict
 * that says whether traffic is back. With a window wrong in at most 1 % of cases ({@link PairedErrors}) the default of
 * 2 of 5 undoes a swap that does no worse in at most {@code 10 · 0.01² = 0.1 %} of cases where windows are independent,
 * and in at most {@code 5 · 0.01 / 2 = 2.5 %} however they depend on each other.
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

    /** Returns the watch after a window with this decoder in service. */
    SwapWatch after(long inService, PairedErrors errors, DriftPolicy rule) {
        SwapWatch before = version == inService ? this : new SwapWatch(inService, 0, 0);
        if (!errors.isComparable() || before.windows >= rule.memory()) {
            return before;
        }
        return new SwapWatch(inService, before.windows + 1, before.worse + (errors.firstIsWorse() ? 1 : 0));
    }

    /** Returns whether the swap is to be undone. */
    boolean hasFailed(DriftPolicy rule) {
        return worse >= rule.needed();
    }
}
