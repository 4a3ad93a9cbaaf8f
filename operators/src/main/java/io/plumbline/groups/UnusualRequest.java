package io.plumbline.groups;

import io.plumbline.records.RequestName;
import io.plumbline.requests.RequestTotal;
import org.jspecify.annotations.Nullable;

/**
 * Holds what is kept of a request that is unlike the baseline's: in which direction it lies from their location.
 *
 * <p>The array is shared, not copied: treat it as read-only.
 *
 * @param content hash of its rows and sum; copies have the same one
 * @param request the smallest hash of its copies, see {@link RequestTotal}
 * @param name the first name of its copies, cut by {@link RequestName#shortened}; null where none has one
 * @param copies requests with this content, at least 1
 * @param direction unit vector of p numbers, see {@link GroupSpace}
 */
public record UnusualRequest(
        long content, long request, @Nullable String name, long copies, double[] direction) {

    /** Returns its name, or where it has none its hash in hexadecimal. */
    public String label() {
        return name == null ? "%016x".formatted(request) : name;
    }

    /** Returns this request with the copies of another one of equal content. */
    UnusualRequest with(UnusualRequest copy) {
        boolean isFirst = name != null && (copy.name == null || name.compareTo(copy.name) <= 0);
        return new UnusualRequest(
                content, Math.min(request, copy.request), isFirst ? name : copy.name, copies + copy.copies, direction);
    }
}
