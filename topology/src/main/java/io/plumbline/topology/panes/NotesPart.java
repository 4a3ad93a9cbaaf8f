package io.plumbline.topology.panes;

import io.plumbline.records.MomentRecord;
import io.plumbline.topology.ingest.Ingested;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** The notes of one pane, and those of them that are not stored yet. What is stored are increments. */
final class NotesPart implements PanePart<WindowNotes> {

    /** The most stored parts before all are written anew as one. */
    private static final int MANY = 64;

    private static final long[] NO_REQUESTS = new long[0];

    private final WindowNotes all = new WindowNotes();
    private @Nullable WindowNotes unstored;
    private int storedParts;

    /** Adds what the producer of a record says of it. */
    @Override
    public void add(Ingested record, long timestampMs) {
        if (record.notes().isEmpty()) {
            return;
        }
        long[] requests = requestsOf(record);
        all.add(record.notes(), record.rows(), requests);
        fresh().add(record.notes(), record.rows(), requests);
    }

    /** Returns the requests that the notes are of: of a moment those that are sampled or have a total. */
    private static long[] requestsOf(Ingested record) {
        if (record instanceof Ingested.Rows rows) {
            return new long[] {rows.request().hash()};
        }
        if (record instanceof Ingested.Moment summed) {
            MomentRecord.Sample sample = summed.moment().sample();
            MomentRecord.Totals totals = summed.moment().totals();
            return LongStream.concat(
                            LongStream.of(sample == null ? NO_REQUESTS : sample.requests()),
                            LongStream.of(totals == null ? NO_REQUESTS : totals.requests()))
                    .toArray();
        }
        return NO_REQUESTS;
    }

    @Override
    public void take(byte[] part) {
        WindowNotes read = new WindowNotes();
        read.mergeEncoded(part);
        all.merge(read);
        fresh().merge(read);
    }

    @Override
    public void load(byte[] part) {
        all.mergeEncoded(part);
        storedParts++;
    }

    @Override
    public void store(PartSlots slots) {
        WindowNotes increment = unstored;
        unstored = null;
        if (increment == null) {
            return;
        }
        boolean anew = storedParts >= MANY;
        List<byte[]> parts = (anew ? all : increment).encode();
        if (anew) {
            storedParts = parts.size();
            slots.replace(parts);
        } else {
            storedParts += parts.size();
            slots.append(parts);
        }
    }

    @Override
    public WindowNotes value() {
        return all;
    }

    @Override
    public List<byte[]> encode() {
        return all.encode();
    }

    @Override
    public long bytes() {
        return all.bytes();
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
