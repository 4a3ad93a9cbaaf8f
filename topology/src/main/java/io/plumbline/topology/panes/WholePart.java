package io.plumbline.topology.panes;

import io.plumbline.moments.RowSample;
import io.plumbline.records.RequestRecord;
import io.plumbline.requests.WholeRequests;
import io.plumbline.topology.ingest.Ingested;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The requests of one pane that are kept whole. */
final class WholePart implements PanePart<WholeRequests> {

    private final @Nullable WholeRequests requests;
    private final AppendedParts appended = new AppendedParts();

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
        appended.store(
                slots, requests.bytes(), requests::stored, () -> requests.encodeNew(RowSample.RECORD_PART_BYTES));
    }

    @Override
    public void load(byte[] part) {
        if (requests != null) {
            requests.mergeEncoded(part);
            requests.stored(true);
        }
        appended.loaded(part);
    }
}
