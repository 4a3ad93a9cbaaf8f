package io.plumbline.topology.windows;

import io.plumbline.moments.RequestProjection;
import io.plumbline.moments.RequestTotals;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.WaitingRequests;
import io.plumbline.topology.ingest.Ingested;
import io.plumbline.wire.EncodedRows;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The totals of the requests of one pane, and what of them a {@link PaneStore} has not stored yet.
 *
 * <p>What is stored are increments: parts written at different commits merge to the whole, as those of different
 * partitions do.
 *
 * <p>Sums under two projections must not be added up. A pane keeps the one it began with: what comes under another one,
 * while instances with two baselines run beside each other, is counted and not added, and the window then has no
 * totals.
 */
final class PaneRequests {

    /** The most stored requests beside twice the live ones, before all are written anew. */
    private static final int FEW = 64;

    private final @Nullable RequestProjection projection;
    private final int capacity;
    private @Nullable RequestTotals totals;
    private @Nullable RequestTotals unstored;

    /** The rows that are in no totals yet. */
    private @Nullable WaitingRequests waiting;

    /** How many records senders said are in their totals, and how many came in totals, added or not. */
    private long sent;

    private long arrived;

    /** Requests and parts that are stored. */
    private int storedWeight;

    /**
     * @param projection null where rows are not projected here
     * @param capacity requests kept
     */
    PaneRequests(@Nullable RequestProjection projection, int capacity) {
        this.projection = projection;
        this.capacity = capacity;
    }

    /** Adds the rows of a record, which are not masked. */
    void add(Ingested record, EncodedRows rows) {
        if (projection == null) {
            return;
        }
        RequestTotals all = begun(projection.id());
        if (!all.projection().equals(projection.id())) {
            return;
        }
        sent++;
        arrived++;
        RequestTotals fresh = fresh(all);
        if (!all.keeps(record.request())) {
            all.addNotKept();
            fresh.addNotKept();
            return;
        }
        WaitingRequests requests = waiting;
        if (requests == null) {
            requests = new WaitingRequests(projection);
            waiting = requests;
        }
        requests.add(record.request(), record.requestName(), rows);
        if (requests.isFull()) {
            requests.drainTo(all, fresh);
        }
    }

    private void drain() {
        if (waiting != null && totals != null && unstored != null) {
            waiting.drainTo(totals, unstored);
        }
    }

    /**
     * Merges a part that level 1 sent.
     *
     * @throws IllegalArgumentException when the bytes are no totals
     */
    void addPart(byte[] part) {
        RequestTotals read = RequestTotals.decode(part);
        RequestTotals all = begun(read.projection());
        if (all.projection().equals(read.projection())) {
            all.merge(read);
            fresh(all).merge(read);
        }
        arrived += read.records();
    }

    /** Takes a sender's word on how many records are in its totals. */
    void expect(long records) {
        sent += records;
    }

    /** Returns whether all totals of every sender are in. */
    boolean isComplete() {
        return sent == arrived;
    }

    /** Returns what is kept, rows that waited too; null where nothing came. */
    @Nullable
    RequestTotals totals() {
        drain();
        return totals;
    }

    long sent() {
        return sent;
    }

    long arrived() {
        return arrived;
    }

    /** Returns the bytes of what is kept. */
    long bytes() {
        return totals == null ? 0 : totals.bytes();
    }

    /** Returns all of it, in parts that become records. */
    List<byte[]> parts() {
        drain();
        return totals == null ? List.of() : totals.encode(RowSample.RECORD_PART_BYTES);
    }

    /** The bytes that are to be stored now. */
    record Stored(boolean anew, List<byte[]> parts) {}

    /**
     * Returns increments, or everything anew where most of what is stored would be history; it counts as stored from
     * now on.
     */
    Stored store() {
        drain();
        RequestTotals all = totals;
        RequestTotals fresh = unstored;
        if (all == null || fresh == null) {
            return new Stored(false, List.of());
        }
        unstored = null;
        boolean anew = storedWeight + weight(fresh) > 2 * all.size() + FEW;
        RequestTotals written = anew ? all : fresh;
        storedWeight = weight(written) + (anew ? 0 : storedWeight);
        return new Stored(anew, written.encode(RowSample.RECORD_PART_BYTES));
    }

    /** Takes in a part that was stored. */
    void load(byte[] part) {
        RequestTotals read = RequestTotals.decode(part);
        begun(read.projection()).merge(read);
        storedWeight += weight(read);
    }

    /** Takes in the counts that were stored. */
    void loaded(long itsSent, long itsArrived) {
        sent = itsSent;
        arrived = itsArrived;
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
