package io.plumbline.moments;

import io.plumbline.linalg.Matrix;
import io.plumbline.wire.ActivationBatch;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Takes rows out of a batch before anything is summed. The same class does it in the monitor and on files, so that a window
 * and its baseline are of the same rows.
 *
 * <p>The norm is that of the target row, {@code |y|}: what enters the second moment. Of a transcoder's row both sides go.
 *
 * <p><b>Cost.</b> Nothing where nothing is masked; else {@code 2 n d} flops for the norms, and a copy of a batch that lost
 * rows. Immutable and thread-safe.
 */
public final class RowMask {

    /** Takes out nothing. */
    public static final RowMask NONE = new RowMask(new long[0], Double.POSITIVE_INFINITY);

    private final long[] tokenIds;
    private final double largestNorm;

    private RowMask(long[] tokenIds, double largestNorm) {
        this.tokenIds = tokenIds;
        this.largestNorm = largestNorm;
    }

    /**
     * The mask of these rules.
     *
     * @param medianNorm the baseline's, in the units of the rows; needed where there is a cap
     * @throws IllegalArgumentException if there is a cap and nothing it is relative to
     */
    public static RowMask of(MaskRules rules, @Nullable Double medianNorm) {
        Double cap = rules.normCap();
        if (cap != null && medianNorm == null) {
            throw new IllegalArgumentException(
                    "norm_cap = %s: the baseline does not say how long its median row is; run `plumbline baseline` again"
                            .formatted(cap));
        }
        return new RowMask(
                rules.tokenIds().stream().mapToLong(Long::longValue).toArray(),
                cap == null || medianNorm == null ? Double.POSITIVE_INFINITY : cap * medianNorm);
    }

    /** What is left of a batch; {@code batch} is null where no row is. */
    public record Kept(@Nullable ActivationBatch batch, MaskedRows masked) {}

    /** Whether a batch without token ids cannot be masked. */
    public boolean needsTokenIds() {
        return tokenIds.length > 0;
    }

    /**
     * Takes the rows out. A batch that loses none comes back as it is.
     *
     * @throws IllegalArgumentException if token ids are masked and the batch has none
     */
    public Kept apply(ActivationBatch batch) {
        long[] ids = batch.tokenIds();
        if (needsTokenIds() && ids == null) {
            throw new IllegalArgumentException(
                    "the batch has no tensor \"token_ids\" [%d], and token ids %s are masked; no row of it was added"
                            .formatted(batch.rows(), Arrays.toString(tokenIds)));
        }
        int[] kept = new int[batch.rows()];
        int count = 0;
        long byToken = 0;
        long byNorm = 0;
        for (int row = 0; row < batch.rows(); row++) {
            if (ids != null && Arrays.binarySearch(tokenIds, ids[row]) >= 0) {
                byToken++;
            } else if (isTooLong(batch.targetRows(), row)) {
                byNorm++;
            } else {
                kept[count++] = row;
            }
        }
        if (count == batch.rows()) {
            return new Kept(batch, MaskedRows.NONE);
        }
        MaskedRows masked = new MaskedRows(byToken, byNorm);
        return new Kept(count == 0 ? null : select(batch, Arrays.copyOf(kept, count)), masked);
    }

    /** A row that is not finite is not masked: whoever sums it refuses it and says where it is. */
    private boolean isTooLong(Matrix rows, int row) {
        if (largestNorm == Double.POSITIVE_INFINITY) {
            return false;
        }
        double norm = norm(rows, row);
        return norm > largestNorm && norm < Double.POSITIVE_INFINITY;
    }

    /** {@code |y|} of one row, for values whose squares stay in float64. */
    static double norm(Matrix rows, int row) {
        double sum = 0.0;
        int from = row * rows.columns();
        for (int i = from; i < from + rows.columns(); i++) {
            sum += rows.values()[i] * rows.values()[i];
        }
        return Math.sqrt(sum);
    }

    private static ActivationBatch select(ActivationBatch batch, int[] kept) {
        long[] ids = batch.tokenIds();
        Matrix targets = batch.targets();
        return new ActivationBatch(
                select(batch.activations(), kept),
                targets == null ? null : select(targets, kept),
                ids == null
                        ? null
                        : Arrays.stream(kept).mapToLong(row -> ids[row]).toArray());
    }

    private static Matrix select(Matrix rows, int[] kept) {
        Matrix selected = Matrix.zeros(kept.length, rows.columns());
        for (int i = 0; i < kept.length; i++) {
            System.arraycopy(
                    rows.values(), kept[i] * rows.columns(), selected.values(), i * rows.columns(), rows.columns());
        }
        return selected;
    }
}
