package io.plumbline.moments;

import io.plumbline.linalg.Matrix;
import io.plumbline.records.MomentRecordWriter;
import io.plumbline.records.RequestName;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The totals of the requests of a pane that is being filled: of the {@code capacity} requests whose mixed hashes are
 * smallest. One that is left out stays so, hence each has all its rows here.
 *
 * <p><b>Size.</b> {@code 8 d + 128} bytes a request. Not thread-safe.
 */
final class OpenTotals {

    private static final int ENTRY_OVERHEAD = 128;

    private final int capacity;
    private final TreeMap<Long, Entry> byHash = new TreeMap<>();

    private static final class Entry {
        final long request;
        final @Nullable String name;
        final double[] sum;
        long records;
        long rows;

        Entry(long request, @Nullable String name, int dimension) {
            this.request = request;
            this.name = name;
            sum = new double[dimension];
        }
    }

    /** @param capacity 0 totals nothing */
    OpenTotals(int capacity) {
        this.capacity = capacity;
    }

    /**
     * Adds the rows of a batch.
     *
     * @param name of their request; null where the batch is one
     */
    void add(long request, @Nullable String name, Matrix rows) {
        long hash = SplitMix.mix(request);
        if (byHash.size() >= capacity && (capacity == 0 || hash > byHash.lastKey())) {
            return;
        }
        Entry entry = byHash.computeIfAbsent(
                hash, unused -> new Entry(request, name == null ? null : RequestName.shortened(name), rows.columns()));
        entry.records++;
        entry.rows += rows.rows();
        for (int row = 0; row < rows.rows(); row++) {
            for (int i = 0; i < entry.sum.length; i++) {
                entry.sum[i] += rows.get(row, i);
            }
        }
        if (byHash.size() > capacity) {
            byHash.pollLastEntry();
        }
    }

    long bytes() {
        Map.Entry<Long, Entry> first = byHash.firstEntry();
        return first == null ? 0 : byHash.size() * ((long) Double.BYTES * first.getValue().sum.length + ENTRY_OVERHEAD);
    }

    /** Adds the totals to a record; nothing where there are none. */
    void writeTo(MomentRecordWriter writer) {
        if (byHash.isEmpty()) {
            return;
        }
        Collection<Entry> all = byHash.values();
        writer.totals(
                all.stream().mapToLong(entry -> entry.request).toArray(),
                all.stream().mapToLong(entry -> entry.records).toArray(),
                all.stream().mapToLong(entry -> entry.rows).toArray(),
                all.stream().map(entry -> entry.name).toList(),
                all.stream().map(entry -> entry.sum).toList());
    }
}
