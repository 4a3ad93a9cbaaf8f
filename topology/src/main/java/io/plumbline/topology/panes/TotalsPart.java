package io.plumbline.topology.panes;

import io.plumbline.moments.RowSample;
import io.plumbline.records.ActivationBlob;
import io.plumbline.requests.RequestProjection;
import io.plumbline.requests.RequestTotals;
import io.plumbline.requests.WaitingRequests;
import io.plumbline.topology.ingest.Ingested;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The totals of the requests of one pane, and those of them that are not stored yet. What is stored are increments.
 *
 * <p>Sums under two projections must not be added up. A pane keeps the one it began with: what comes under another one,
 * while instances with two baselines run beside each other, is counted and not added, and the window then has no
 * totals.
 *
 * <p><b>Size.</b> Of k requests with p components {@code k (8 p + 128)} bytes, and once more until they are stored.
 */
public final class TotalsPart implements PanePart<RequestTotals> {

    /** The most stored requests beside twice the live ones, before all are written anew. */
    private static final int FEW = 64;

    private final @Nullable RequestProjection projection;
    private final int capacity;
    private @Nullable RequestTotals totals;
    private @Nullable RequestTotals unstored;

    /** The rows that are in no totals yet. */
    private @Nullable WaitingRequests waiting;

    /** Requests and parts that are stored. */
    private int storedWeight;

    public TotalsPart(PaneSite site) {
        projection = site.projection();
        capacity = site.totalling().capacity();
    }

    /** Returns empty totals of a window; null where a site has none. */
    static @Nullable RequestTotals nothing(PaneSite site) {
        RequestProjection projection = site.projection();
        return projection == null
                ? null
                : RequestTotals.ofCapacity(projection.id(), site.totalling().capacity());
    }

    /** Adds those of a pane, unless it began under another projection: such sums must not be added. */
    static RequestTotals plus(RequestTotals sum, RequestTotals ofPane) {
        return ofPane.projection().equals(sum.projection()) ? sum.merge(ofPane) : sum;
    }

    /** Adds the rows of a record, which are not masked, or the totals that came with a moment. */
    @Override
    public void add(Ingested record, long timestampMs) {
        if (projection != null && record instanceof Ingested.Rows rows && rows.summed() != null) {
            add(projection, rows.request(), rows.summed());
        }
        if (projection != null && record instanceof Ingested.Moment summed) {
            RequestTotals came = RequestTotals.of(projection, capacity, summed.moment());
            if (came != null) {
                merge(came);
            }
        }
    }

    private void add(RequestProjection projection, Ingested.Request request, ActivationBlob rows) {
        RequestTotals all = begun(projection.id());
        if (!all.projection().equals(projection.id())) {
            return;
        }
        RequestTotals fresh = fresh(all);
        if (!all.keeps(request.hash())) {
            all.addNotKept();
            fresh.addNotKept();
            return;
        }
        WaitingRequests requests = waiting;
        if (requests == null) {
            requests = new WaitingRequests(projection);
            waiting = requests;
        }
        requests.add(request.hash(), request.name(), rows.targetRows());
        if (requests.isFull()) {
            requests.drainTo(all, fresh);
        }
    }

    private void drain() {
        if (waiting != null && totals != null && unstored != null) {
            waiting.drainTo(totals, unstored);
        }
    }

    @Override
    public void take(byte[] part) {
        merge(RequestTotals.decode(part));
    }

    private void merge(RequestTotals more) {
        RequestTotals all = begun(more.projection());
        if (all.projection().equals(more.projection())) {
            all.merge(more);
            fresh(all).merge(more);
        }
    }

    /** Returns what is kept, rows that waited too; null where nothing came. */
    @Override
    public @Nullable RequestTotals value() {
        drain();
        return totals;
    }

    @Override
    public long bytes() {
        return totals == null ? 0 : totals.bytes();
    }

    @Override
    public List<byte[]> encode() {
        drain();
        return totals == null ? List.of() : totals.encode(RowSample.RECORD_PART_BYTES);
    }

    @Override
    public void store(PartSlots slots) {
        drain();
        RequestTotals all = totals;
        RequestTotals fresh = unstored;
        if (all == null || fresh == null) {
            return;
        }
        unstored = null;
        if (storedWeight + weight(fresh) > 2 * all.size() + FEW) {
            storedWeight = weight(all);
            slots.replace(encode());
        } else {
            storedWeight += weight(fresh);
            slots.append(fresh.encode(RowSample.RECORD_PART_BYTES));
        }
    }

    @Override
    public void load(byte[] part) {
        RequestTotals read = RequestTotals.decode(part);
        begun(read.projection()).merge(read);
        storedWeight += weight(read);
    }

    private static int weight(RequestTotals totals) {
        return totals.size() + 1;
    }

    private RequestTotals begun(RequestProjection.Id id) {
        RequestTotals all = totals;
        if (all == null) {
            all = RequestTotals.ofCapacity(id, capacity);
            totals = all;
        }
        return all;
    }

    private RequestTotals fresh(RequestTotals all) {
        RequestTotals fresh = unstored;
        if (fresh == null) {
            fresh = RequestTotals.ofCapacity(all.projection(), capacity);
            unstored = fresh;
        }
        return fresh;
    }
}
