package io.plumbline.topology.windows;

import io.plumbline.moments.RowSample;
import io.plumbline.moments.WholeRequests;
import io.plumbline.topology.ingest.Ingested;
import io.plumbline.wire.RequestRecord;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The requests of one pane that are kept whole, and how much of what is stored of them is history. */
final class PaneWhole {

    /** The most stored bytes beside twice the live ones, before all are written anew. */
    private static final long FEW = 1 << 20;

    private final @Nullable WholeRequests requests;
    private long storedBytes;

    /** @param most requests kept; 0: none are here, and parts that come are passed over */
    PaneWhole(int most) {
        requests = most == 0 ? null : WholeRequests.ofCapacity(most);
    }

    /** Offers every request of a record. */
    void add(Ingested record) {
        RequestRecord whole = record.whole();
        if (requests == null || whole == null) {
            return;
        }
        for (int i = 0; i < whole.count(); i++) {
            int index = i;
            long request = whole.count() == 1 ? record.request() : RowSample.hash(record.request(), i);
            requests.offer(request, record.request(), record.record(), () -> whole.request(index));
        }
    }

    /**
     * Merges a part that level 1 sent.
     *
     * @throws IllegalArgumentException when the bytes are no whole requests
     */
    void addPart(byte[] part) {
        if (requests != null) {
            requests.mergeEncoded(part);
        }
    }

    /** Returns what is kept; null where nothing is to be. */
    @Nullable
    WholeRequests requests() {
        return requests;
    }

    long bytes() {
        return requests == null ? 0 : requests.bytes();
    }

    /** Returns all of it, in parts that become records. */
    List<byte[]> parts() {
        return requests == null ? List.of() : requests.encode(RowSample.RECORD_PART_BYTES);
    }

    /** The bytes that are to be stored now. */
    record Stored(boolean anew, List<byte[]> parts) {}

    /** Returns what is new, or everything where most of what is stored would be history; it counts as stored. */
    Stored store() {
        if (requests == null) {
            return new Stored(false, List.of());
        }
        boolean anew = storedBytes > 2 * requests.bytes() + FEW;
        if (anew) {
            requests.stored(false);
            storedBytes = 0;
        }
        List<byte[]> parts = requests.encodeNew(RowSample.RECORD_PART_BYTES);
        parts.forEach(part -> storedBytes += part.length);
        return new Stored(anew, parts);
    }

    /** Takes in a part that was stored. */
    void load(byte[] part) {
        if (requests != null) {
            requests.mergeEncoded(part);
            requests.stored(true);
        }
        storedBytes += part.length;
    }
}
