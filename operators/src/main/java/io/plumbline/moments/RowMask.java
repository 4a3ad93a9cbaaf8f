package io.plumbline.moments;

import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.ActivationBlob;
import io.plumbline.records.EncodedRows;
import io.plumbline.records.MomentRecord;
import java.util.Arrays;
import java.util.function.Function;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Takes rows out of a batch before anything is summed. The same class does it in the monitor and on files, so that a
 * window and its baseline are of the same rows.
 *
 * <p>The norm is that of the target row, {@code |y|}: what enters the second moment. Of a transcoder's row both sides
 * go.
 *
 * <p><b>Cost.</b> Nothing where nothing is masked; else {@code 2 n d} flops for the norms, and a copy of a batch that
 * lost rows. Immutable and thread-safe.
 */
public final class RowMask {

    /** Takes out nothing. */
    public static final RowMask NONE = new RowMask(new long[0], Double.POSITIVE_INFINITY);

    private static final double SAME_NORM = 1e-9;

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
            throw new IllegalArgumentException(("norm_cap = %s: the baseline does not say how long its median row is; "
                            + "run `plumbline baseline` again")
                    .formatted(cap));
        }
        return new RowMask(
                rules.tokenIds().stream().mapToLong(Long::longValue).toArray(),
                cap == null || medianNorm == null ? Double.POSITIVE_INFINITY : cap * medianNorm);
    }

    /**
     * The part of a batch that is left, decoded or not; {@code rows} is null where no row is.
     *
     * @param <T> {@link ActivationBatch} or {@link ActivationBlob}
     */
    public record Kept<T>(@Nullable T rows, MaskedRows masked) {}

    /** Returns what a producer of moments says that it took out when it applied this mask. */
    public MomentRecord.Mask applied() {
        return new MomentRecord.Mask(tokenIds.clone(), largestNorm);
    }

    /**
     * Returns whether what a producer took out is what this mask takes out; the largest norm up to a share of 1e-9, for
     * its rounding.
     */
    public boolean isApplied(MomentRecord.Mask applied) {
        return Arrays.equals(tokenIds, applied.tokenIds())
                && (largestNorm == applied.largestNorm()
                        || Math.abs(applied.largestNorm() / largestNorm - 1.0) <= SAME_NORM);
    }

    /** Returns whether a batch without token ids cannot be masked. */
    public boolean needsTokenIds() {
        return tokenIds.length > 0;
    }

    /**
     * Takes the rows out. A batch that loses none comes back as it is.
     *
     * @throws IllegalArgumentException if token ids are masked and the batch has none
     */
    public Kept<ActivationBatch> apply(ActivationBatch batch) {
        return apply(batch, batch.rows(), batch.tokenIds(), row -> norm(batch.targetRows(), row), batch::keep);
    }

    /** Returns which rows {@link #apply(ActivationBatch)} leaves, ascending. */
    public int[] rowsLeft(ActivationBatch batch) {
        int[] all = IntStream.range(0, batch.rows()).toArray();
        int[] left = apply(all, batch.rows(), batch.tokenIds(), row -> norm(batch.targetRows(), row), kept -> kept)
                .rows();
        return left == null ? new int[0] : left;
    }

    /**
     * Masks rows that are not decoded. With a cap on norms each row is, one after the other, into one array of
     * {@code 8 d} bytes.
     */
    public Kept<ActivationBlob> apply(ActivationBlob blob) {
        EncodedRows rows = blob.targetRows();
        double[] one = new double[largestNorm == Double.POSITIVE_INFINITY ? 0 : rows.columns()];
        return apply(
                blob,
                blob.rows(),
                blob.tokenIds(),
                row -> {
                    rows.copy(row, one, 0);
                    return norm(one, 0, one.length);
                },
                blob::keep);
    }

    private <T> Kept<T> apply(
            T all, int rows, long @Nullable [] ids, IntToDoubleFunction norm, Function<int[], T> keep) {
        if (tokenIds.length == 0 && largestNorm == Double.POSITIVE_INFINITY) {
            return new Kept<>(all, MaskedRows.NONE);
        }
        if (needsTokenIds() && ids == null) {
            throw new IllegalArgumentException(
                    "the batch has no tensor \"token_ids\" [%d], and token ids %s are masked; no row of it was added"
                            .formatted(rows, Arrays.toString(tokenIds)));
        }
        int[] kept = new int[rows];
        int count = 0;
        long byToken = 0;
        long byNorm = 0;
        for (int row = 0; row < rows; row++) {
            if (ids != null && Arrays.binarySearch(tokenIds, ids[row]) >= 0) {
                byToken++;
            } else if (largestNorm != Double.POSITIVE_INFINITY && isTooLong(norm.applyAsDouble(row))) {
                byNorm++;
            } else {
                kept[count++] = row;
            }
        }
        if (count == rows) {
            return new Kept<>(all, MaskedRows.NONE);
        }
        MaskedRows masked = new MaskedRows(byToken, byNorm);
        return new Kept<>(count == 0 ? null : keep.apply(Arrays.copyOf(kept, count)), masked);
    }

    /**
     * Returns whether a row is too long; one that is not finite is not masked: whoever sums it refuses it and says
     * where it is.
     */
    private boolean isTooLong(double norm) {
        return norm > largestNorm && norm < Double.POSITIVE_INFINITY;
    }

    /** Returns {@code |y|} of one row, for values whose squares stay in float64. */
    static double norm(Matrix rows, int row) {
        return norm(rows.values(), row * rows.columns(), rows.columns());
    }

    private static double norm(double[] values, int from, int count) {
        double sum = 0.0;
        for (int i = from; i < from + count; i++) {
            sum += values[i] * values[i];
        }
        return Math.sqrt(sum);
    }
}
