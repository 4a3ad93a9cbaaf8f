package io.plumbline.requests;

import io.plumbline.records.EncodedRows;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Sums the rows of a few requests that wait to be projected together.
 *
 * <p>The basis of a projection is larger than the cache that is near, and one row alone has to wait for it: {@value
 * #REQUESTS} together need it once, and then a projection takes 6 microseconds at d = 768 and p = 128, as much as the
 * moment of one or two rows. Records of one request that follow each other, a row each where tokens are streamed, are
 * projected as one.
 *
 * <p><b>Size.</b> {@code 128 d} bytes. Not thread-safe; one owner.
 */
public final class WaitingRequests {

    /** The number of requests that wait before they are projected. */
    static final int REQUESTS = 16;

    private final RequestProjection projection;
    private final double[] sums;
    private final long[] request = new long[REQUESTS];
    private final @Nullable String[] name = new @Nullable String[REQUESTS];
    private final long[] records = new long[REQUESTS];
    private final long[] rows = new long[REQUESTS];
    private int count;

    public WaitingRequests(RequestProjection projection) {
        this.projection = projection;
        sums = new double[REQUESTS * projection.dimension()];
    }

    /**
     * Adds one record of a request; never where {@link #isFull}.
     *
     * @param itsName as in {@link RequestTotals#add}
     */
    public void add(long itsRequest, @Nullable String itsName, EncodedRows itsRows) {
        if (itsRows.columns() != projection.dimension()) {
            throw new IllegalArgumentException("rows of %d values: this projection takes rows of %d; nothing was added"
                    .formatted(itsRows.columns(), projection.dimension()));
        }
        int place = 0;
        while (place < count && request[place] != itsRequest) {
            place++;
        }
        if (place == count) {
            request[place] = itsRequest;
            name[place] = itsName;
            count++;
        }
        records[place]++;
        rows[place] += itsRows.rows();
        itsRows.addRowsTo(sums, place * projection.dimension());
    }

    /** Bytes for rows of this width. */
    public static long bytes(int dimension) {
        return (long) Double.BYTES * REQUESTS * dimension;
    }

    /** Returns whether a further request might find no room. */
    public boolean isFull() {
        return count == REQUESTS;
    }

    /** Projects what waits, adds it to all of these, and waits for nothing any more. */
    public void drainTo(RequestTotals... totals) {
        if (count == 0) {
            return;
        }
        int components = projection.components();
        double[] projected = projection.project(sums, count);
        for (int place = 0; place < count; place++) {
            double[] sum = Arrays.copyOfRange(projected, place * components, (place + 1) * components);
            for (RequestTotals each : totals) {
                each.add(request[place], name[place], records[place], rows[place], sum);
            }
        }
        Arrays.fill(sums, 0, count * projection.dimension(), 0);
        Arrays.fill(records, 0);
        Arrays.fill(rows, 0);
        Arrays.fill(name, null);
        count = 0;
    }
}
