package io.plumbline.topology.windows;

import io.plumbline.topology.ingest.Ingested;
import io.plumbline.wire.MomentRecord;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The notes of one pane, and what of them a {@link PaneStore} has not stored yet. What is stored are increments: parts
 * written at different commits merge to the whole.
 */
final class PaneNotes {

    /** The most stored parts before all are written anew as one. */
    private static final int MANY = 64;

    private static final long[] NO_REQUESTS = new long[0];

    private final WindowNotes all = new WindowNotes();
    private @Nullable WindowNotes unstored;
    private int storedParts;

    /** Adds what the producer of a record says of it. */
    void add(Ingested record) {
        if (record.notes().isEmpty()) {
            return;
        }
        MomentRecord moment = record.moment();
        long[] requests = moment == null ? new long[] {record.request()} : sampled(moment);
        all.add(record.notes(), record.rows(), requests);
        fresh().add(record.notes(), record.rows(), requests);
    }

    /** Returns the sampled requests of a moment, since only those are known. */
    private static long[] sampled(MomentRecord moment) {
        MomentRecord.Sample sample = moment.sample();
        return sample == null ? NO_REQUESTS : sample.requests();
    }

    /**
     * Merges a part that level 1 sent.
     *
     * @throws IllegalArgumentException when the bytes are no notes
     */
    void addPart(byte[] part) {
        WindowNotes read = new WindowNotes();
        read.mergeEncoded(part);
        all.merge(read);
        fresh().merge(read);
    }

    /** Takes in a part that was stored. */
    void load(byte[] part) {
        all.mergeEncoded(part);
        storedParts++;
    }

    /** The bytes that are to be stored now. */
    record Stored(boolean anew, List<byte[]> parts) {}

    /** Returns increments, or everything anew where there are many of them; it counts as stored from now on. */
    Stored store() {
        WindowNotes increment = unstored;
        unstored = null;
        if (increment == null) {
            return new Stored(false, List.of());
        }
        boolean anew = storedParts >= MANY;
        List<byte[]> parts = (anew ? all : increment).encode();
        storedParts = parts.size() + (anew ? 0 : storedParts);
        return new Stored(anew, parts);
    }

    WindowNotes all() {
        return all;
    }

    private WindowNotes fresh() {
        WindowNotes fresh = unstored;
        if (fresh == null) {
            fresh = new WindowNotes();
            unstored = fresh;
        }
        return fresh;
    }
}
