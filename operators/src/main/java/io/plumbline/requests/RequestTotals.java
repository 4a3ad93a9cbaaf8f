package io.plumbline.requests;

import io.plumbline.moments.RowSample;
import io.plumbline.moments.SplitMix;
import io.plumbline.records.MomentRecord;
import io.plumbline.records.RequestName;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Rows and projected sums of requests: of the {@code capacity} requests whose mixed hashes are smallest (bottom-k
 * sampling), each with everything that came of it.
 *
 * <p>A request among the k smallest of a whole is so in each part that has a record of it, so none of its rows was left
 * out anywhere: merging the totals of any split gives those of the whole, up to the rounding of sums, and exactly on
 * integer-valued rows. Which requests are kept says nothing about what they hold, so the kept ones are a uniform sample
 * of all.
 *
 * <p>A producer of moments sends the totals of fewer requests than came, and no other one has a smaller mixed hash than
 * the last of these. What is above the smallest such limit is known in part only and is left out: the kept ones stay a
 * uniform sample, and many small ones together hold nearly all of theirs.
 *
 * <p>Unlike the rows of a {@link RowSample}, a record that is added twice counts twice: sums cannot tell.
 *
 * <p><b>Size.</b> {@code 8 p} bytes a request and about {@value #ENTRY_OVERHEAD} more, names of up to {@value
 * RequestName#LONGEST} characters apart. <b>Cost.</b> p additions a record; ask {@link #keeps} first and a record of a
 * request that is not kept costs one comparison.
 *
 * <p>Not thread-safe; one owner.
 */
public final class RequestTotals {

    /** Requests that are kept of a pane or a window: some megabyte at 128 components. */
    public static final int DEFAULT_CAPACITY = 1_024;

    /** The bytes of the objects around the numbers of a request: its entry, array, tree entry and key. */
    public static final int ENTRY_OVERHEAD = 128;

    /** The largest sum: those of many parts could leave the range of double beyond it. */
    static final double LARGEST_SUM = 1e200;

    /** The most rows or records: more than 2^40 of each of 8,000 partitions. Sums of so few stay in a long. */
    static final long MOST = 1L << 53;

    /** The limit that leaves out no request. */
    static final long NO_LIMIT = Long.MAX_VALUE;

    private final RequestProjection.Id projection;
    private int capacity;
    private long limit = NO_LIMIT;
    private final TreeMap<Long, Entry> byHash = new TreeMap<>();
    private long recordsNotKept;

    private RequestTotals(RequestProjection.Id projection, int capacity) {
        this.projection = projection;
        this.capacity = capacity;
    }

    /** The totals of one request, being added up. */
    static final class Entry {
        final long request;

        @Nullable
        String name;

        long records;
        long rows;
        final double[] sum;

        Entry(long request, @Nullable String name, long records, long rows, double[] sum) {
            this.request = request;
            this.name = name;
            this.records = records;
            this.rows = rows;
            this.sum = sum;
        }

        private void add(@Nullable String itsName, long moreRecords, long moreRows, double[] more) {
            // One request has one name; should two share a hash, every order of merging shall keep the same one.
            if (name == null || (itsName != null && itsName.compareTo(name) < 0)) {
                name = itsName;
            }
            records += moreRecords;
            rows += moreRows;
            for (int i = 0; i < sum.length; i++) {
                sum[i] += more[i];
            }
        }

        private RequestTotal total() {
            return new RequestTotal(request, name, rows, sum.clone());
        }
    }

    /** Empty totals of at most {@code requests} requests. */
    public static RequestTotals ofCapacity(RequestProjection.Id projection, int requests) {
        if (requests < 1) {
            throw new IllegalArgumentException("totals of %d requests: expected at least 1".formatted(requests));
        }
        return new RequestTotals(projection, requests);
    }

    /**
     * Returns the projected totals of a moment, at most {@code requests}; null where it brings none. Where these are
     * not all its requests, the moment limits the totals.
     *
     * <p><b>Cost.</b> {@code 2 p d} flops a request.
     *
     * @throws IllegalArgumentException if the moment is of another width than the projection takes
     */
    public static @Nullable RequestTotals of(RequestProjection projection, int requests, MomentRecord moment) {
        MomentRecord.Totals sent = moment.totals();
        if (sent == null) {
            return null;
        }
        if (sent.sums().columns() != projection.dimension()) {
            throw new IllegalArgumentException("sums of %d values: this projection takes rows of %d; nothing was added"
                    .formatted(sent.sums().columns(), projection.dimension()));
        }
        RequestTotals totals = ofCapacity(projection.id(), requests);
        totals.recordsNotKept = moment.counts().requests();
        if (!moment.isTotalledWhole()) {
            totals.limitTo(SplitMix.mix(sent.requests()[sent.size() - 1]));
        }
        int components = projection.components();
        double[] sums = new double[WaitingRequests.REQUESTS * projection.dimension()];
        for (int from = 0; from < Math.min(sent.size(), requests); from += WaitingRequests.REQUESTS) {
            int count = Math.min(WaitingRequests.REQUESTS, sent.size() - from);
            for (int i = 0; i < count; i++) {
                sent.sums().copy(from + i, sums, i * projection.dimension());
            }
            double[] projected = projection.project(sums, count);
            for (int i = 0; i < count; i++) {
                int place = from + i;
                totals.recordsNotKept -= sent.records()[place];
                totals.add(
                        sent.requests()[place],
                        sent.names().get(place),
                        sent.records()[place],
                        sent.rows()[place],
                        Arrays.copyOfRange(projected, i * components, (i + 1) * components));
            }
        }
        return totals;
    }

    /**
     * Returns whether a record of this request would be kept; where not, its sum need not be computed:
     * {@link #addNotKept}.
     */
    public boolean keeps(long request) {
        return SplitMix.mix(request) <= (byHash.size() < capacity ? limit : byHash.lastKey());
    }

    /** Counts a record of a request that is not kept. */
    public void addNotKept() {
        recordsNotKept++;
    }

    /**
     * Adds one record of a request.
     *
     * @param name of at most {@value RequestName#LONGEST} characters, {@link RequestName#shortened}; null where the
     *     record is its own request
     * @param rows of the record, at least 1
     * @param sum of these rows, projected; copied where it must be
     */
    public void add(long request, @Nullable String name, long rows, double[] sum) {
        if (rows < 1 || sum.length != projection.components()) {
            throw new IllegalArgumentException(
                    "%d rows with a sum of %d components: expected at least 1 row and %d components"
                            .formatted(rows, sum.length, projection.components()));
        }
        add(request, name, 1, rows, sum);
    }

    /** Adds {@code records} records of a request at once. */
    void add(long request, @Nullable String name, long records, long rows, double[] sum) {
        if (!keeps(request)) {
            recordsNotKept += records;
            return;
        }
        long hash = SplitMix.mix(request);
        Entry known = byHash.get(hash);
        if (known != null) {
            known.add(name, records, rows, sum);
            return;
        }
        byHash.put(hash, new Entry(request, name, records, rows, sum.clone()));
        leaveOutBeyondCapacity();
    }

    private void leaveOutBeyondCapacity() {
        while (byHash.size() > capacity) {
            recordsNotKept += byHash.pollLastEntry().getValue().records;
        }
    }

    /** Leaves out requests whose mixed hashes are above {@code hash}, from now on: rows of them may be missing. */
    private void limitTo(long hash) {
        limit = Math.min(limit, hash);
        SortedMap<Long, Entry> beyond = byHash.tailMap(limit, false);
        for (Entry entry : beyond.values()) {
            recordsNotKept += entry.records;
        }
        beyond.clear();
    }

    /**
     * Adds someone else's totals; the other ones are not changed. Of two capacities the smaller one holds from then on:
     * the bottom k of a union is only known up to the smaller k. So a capacity may be changed while totals are stored.
     * Of two limits the smaller one holds, too.
     *
     * @throws IllegalArgumentException if they were taken under another projection; nothing was added
     */
    public RequestTotals merge(RequestTotals other) {
        if (!projection.equals(other.projection)) {
            throw new IllegalArgumentException(
                    "request totals under the projection %s do not fit those under %s; nothing was added"
                            .formatted(other.projection, projection));
        }
        capacity = Math.min(capacity, other.capacity);
        limitTo(other.limit);
        leaveOutBeyondCapacity();
        recordsNotKept += other.recordsNotKept;
        for (Entry entry : other.byHash.values()) {
            add(entry.request, entry.name, entry.records, entry.rows, entry.sum);
        }
        return this;
    }

    /**
     * The requests kept, in ascending order of their mixed hashes: each prefix is itself a uniform sample of requests.
     */
    public List<RequestTotal> totals() {
        return byHash.values().stream().map(Entry::total).toList();
    }

    /** Returns which projection the sums were taken under. */
    public RequestProjection.Id projection() {
        return projection;
    }

    /** Requests kept. */
    public int size() {
        return byHash.size();
    }

    int capacity() {
        return capacity;
    }

    /** Records added, of requests kept or not. */
    public long records() {
        long records = recordsNotKept;
        for (Entry entry : byHash.values()) {
            records += entry.records;
        }
        return records;
    }

    /** Records of requests that are not kept: beyond the capacity they are counted alone. */
    public long recordsNotKept() {
        return recordsNotKept;
    }

    /** Bytes of what is kept, with the objects around it. */
    public long bytes() {
        return byHash.size() * (8L * projection.components() + ENTRY_OVERHEAD);
    }

    /**
     * Returns the totals as byte strings of at most {@code maxBytesPerPart} bytes, none where nothing was added. Each
     * string holds totals on its own; together they merge to these totals.
     *
     * @throws IllegalArgumentException if one request does not fit in a part
     */
    public List<byte[]> encode(int maxBytesPerPart) {
        return RequestTotalsCodec.parts(
                projection, capacity, limit, recordsNotKept, List.copyOf(byHash.values()), maxBytesPerPart);
    }

    /**
     * Returns a part of {@link #encode} without one request; the same array where it has none of it. Its records then
     * count among those that are not kept.
     *
     * @throws IllegalArgumentException if the bytes are not such a part
     */
    public static byte[] without(byte[] part, long request) {
        RequestTotals totals = decode(part);
        Entry erased = totals.byHash.remove(SplitMix.mix(request));
        if (erased == null) {
            return part;
        }
        totals.recordsNotKept += erased.records;
        return totals.encode(part.length).get(0);
    }

    /**
     * Reads one part of encoded totals; it is checked as a whole.
     *
     * @throws IllegalArgumentException if the bytes are not such a part
     */
    public static RequestTotals decode(byte[] part) {
        RequestTotalsCodec.Part read = RequestTotalsCodec.decode(part);
        RequestTotals totals = new RequestTotals(read.projection(), read.capacity());
        totals.limit = read.limit();
        totals.recordsNotKept = read.recordsNotKept();
        for (Map.Entry<Long, Entry> entry : read.byHash().entrySet()) {
            totals.byHash.put(entry.getKey(), entry.getValue());
        }
        return totals;
    }
}
