package io.plumbline.topology.panes;

import io.plumbline.moments.RowSample;
import io.plumbline.topology.ingest.Ingested;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The requests of one pane by the engine that served them, of a site whose engines are compared. */
final class EnginesPart implements PanePart<EngineRequests> {

    private final @Nullable String header;
    private final EngineRequests requests = new EngineRequests();
    private final AppendedParts appended = new AppendedParts();

    /** Keeps none where the engines of the site are not compared; parts that come all the same are passed over. */
    EnginesPart(PaneSite site) {
        header = site.enginesBy();
    }

    /** Returns a window's requests before any came; null where the site keeps none. */
    static @Nullable EngineRequests nothing(PaneSite site) {
        return site.enginesBy() == null ? null : new EngineRequests();
    }

    /** Offers a record of rows whose producer says the header. */
    @Override
    public void add(Ingested record, long timestampMs) {
        if (header == null || !(record instanceof Ingested.Rows rows) || rows.summed() == null) {
            return;
        }
        String value = rows.notes().origin().value(header);
        if (value != null) {
            requests.offer(value, rows.request().hash(), rows.record(), rows.summed());
        }
    }

    @Override
    public @Nullable EngineRequests value() {
        return header == null ? null : requests;
    }

    @Override
    public List<byte[]> encode() {
        return requests.encode(RowSample.RECORD_PART_BYTES);
    }

    @Override
    public void take(byte[] part) {
        if (header != null) {
            requests.mergeEncoded(part);
        }
    }

    @Override
    public void store(PartSlots slots) {
        appended.store(
                slots, requests.bytes(), requests::stored, () -> requests.encodeNew(RowSample.RECORD_PART_BYTES));
    }

    @Override
    public void load(byte[] part) {
        if (header != null) {
            requests.mergeEncoded(part);
            requests.stored(true);
        }
        appended.loaded(part);
    }

    @Override
    public long bytes() {
        return requests.bytes();
    }
}
