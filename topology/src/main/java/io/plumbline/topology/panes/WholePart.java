package io.plumbline.topology.panes;

import io.plumbline.moments.RowSample;
import io.plumbline.records.RequestRecord;
import io.plumbline.requests.WholeRequests;
import io.plumbline.topology.ingest.Ingested;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The requests of one pane that are kept whole, and how much of what is stored of them is history. */
final class WholePart implements PanePart<WholeRequests> {

    /** The most stored bytes beside twice the live ones, before all are written anew. */
    private static final long FEW = 1 << 20;

    private final @Nullable WholeRequests requests;
    private long storedBytes;

    /** Keeps none where the site keeps none; parts that come all the same are passed over. */
    WholePart(PaneSite site) {
        requests = nothing(site);
    }

    /** Returns a window's whole requests before any came; null where the site keeps none. */
    static @Nullable WholeRequests nothing(PaneSite site) {
        return site.wholeRequests() == 0 ? null : WholeRequests.ofCapacity(site.wholeRequests());
    }

    /** Offers every request of a record. */
    @Override
    public void add(Ingested record, long timestampMs) {
        if (requests == null || !(record instanceof Ingested.Rows rows) || rows.whole() == null) {
            return;
        }
        RequestRecord whole = rows.whole();
        long named = rows.request().hash();
        for (int i = 0; i < whole.count(); i++) {
            int index = i;
            long request = whole.count() == 1 ? named : RowSample.hash(named, i);
            requests.offer(request, named, rows.record(), () -> whole.request(index));
        }
    }

    @Override
    public void take(byte[] part) {
        if (requests != null) {
            requests.mergeEncoded(part);
        }
    }

    @Override
    public @Nullable WholeRequests value() {
        return requests;
    }

    @Override
    public long bytes() {
        return requests == null ? 0 : requests.bytes();
    }

    @Override
    public List<byte[]> encode() {
        return requests == null ? List.of() : requests.encode(RowSample.RECORD_PART_BYTES);
    }

    @Override
    public void store(PartSlots slots) {
        if (requests == null) {
            return;
        }
        boolean anew = storedBytes > 2 * requests.bytes() + FEW;
        if (anew) {
            requests.stored(false);
            storedBytes = 0;
        }
        List<byte[]> parts = requests.encodeNew(RowSample.RECORD_PART_BYTES);
        parts.forEach(part -> storedBytes += part.length);
        if (anew) {
            slots.replace(parts);
        } else {
            slots.append(parts);
        }
    }

    @Override
    public void load(byte[] part) {
        if (requests != null) {
            requests.mergeEncoded(part);
            requests.stored(true);
        }
        storedBytes += part.length;
    }
}
