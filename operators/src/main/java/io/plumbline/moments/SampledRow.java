package io.plumbline.moments;

import org.jspecify.annotations.Nullable;

/**
 * One row kept for fitting and checking a decoder.
 *
 * @param hash names the row: a function of what was sent, the same in any partition and after a replay
 * @param request names the group of dependent rows it came with
 * @param timestampMs event time of the record it came in, or {@link #NO_TIME}; says which rows are neighbours
 * @param activation what the encoder reads
 * @param target what the decoder should give, or null when that is the activation itself
 */
public record SampledRow(long hash, long request, long timestampMs, float[] activation, float @Nullable [] target) {

    /** The time of a row of a recording, which does not say when its requests were made. */
    public static final long NO_TIME = 0;

    /** Returns what the decoder should give: the target, or the activation where there is none. */
    public float[] targetRow() {
        return target == null ? activation : target;
    }

    /** Returns this row under the name of another group. */
    public SampledRow of(long group) {
        return group == request ? this : new SampledRow(hash, group, timestampMs, activation, target);
    }

    /** Returns how many numbers it has, targets among them. */
    public int values() {
        return activation.length + (target == null ? 0 : target.length);
    }

    /** Bytes of its values. */
    long bytes() {
        return (long) Float.BYTES * values();
    }
}
