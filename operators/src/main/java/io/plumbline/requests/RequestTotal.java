package io.plumbline.requests;

import io.plumbline.records.RequestName;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Holds what is kept of one request: enough for its mean in the projected space.
 *
 * <p>The array is shared, not copied: treat it as read-only.
 *
 * @param request its hash, as sampled rows have it
 * @param name the text that names it, cut by {@link RequestName#shortened}; null where the record is its own request
 * @param rows of the target space, masked ones not among them; at least 1
 * @param sum of those rows, projected
 */
public record RequestTotal(long request, @Nullable String name, long rows, double[] sum) {

    /** Returns whether the other object has the same content, array included. */
    @Override
    public boolean equals(Object other) {
        return other instanceof RequestTotal total
                && request == total.request
                && rows == total.rows
                && (name == null ? total.name == null : name.equals(total.name))
                && Arrays.equals(sum, total.sum);
    }

    @Override
    public int hashCode() {
        return 31 * Long.hashCode(request) + Arrays.hashCode(sum);
    }

    @Override
    public String toString() {
        return "RequestTotal[%s, %016x, %d rows, %d components]".formatted(name, request, rows, sum.length);
    }
}
