package io.plumbline.baseline;

import io.plumbline.moments.MaskRules;
import io.plumbline.moments.RowMask;
import org.jspecify.annotations.Nullable;

/**
 * Says which rows a baseline was made without, so that windows are made without the same.
 *
 * @param rules what was left out
 * @param medianNorm median norm of the target rows that are not of a masked token, to 0.05 %; what a cap is relative
 *     to. Null in files written before it was kept
 */
public record Masking(MaskRules rules, @Nullable Double medianNorm) {

    /** The masking of files that do not say. */
    public static final Masking UNKNOWN = new Masking(MaskRules.NONE, null);

    public Masking {
        if (medianNorm != null && !(medianNorm >= 0.0 && medianNorm <= Double.MAX_VALUE)) {
            throw new IllegalArgumentException("median norm %s: expected a number of at least 0".formatted(medianNorm));
        }
        if (rules.normCap() != null && medianNorm == null) {
            throw new IllegalArgumentException("norm_cap = %s of no median norm".formatted(rules.normCap()));
        }
    }

    /** Takes the same rows out of other batches. */
    public RowMask mask() {
        return RowMask.of(rules, medianNorm);
    }
}
