package io.plumbline.topology.ingest;

import io.plumbline.moments.RowSample;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.ActivationBlob;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Joins the records that one request came in: those of one name and event time, which is how a producer sends a
 * request that is too large for a record. A record without a name is a request.
 *
 * <p><b>Order.</b> Requests leave in the order of their first records, when another begins and {@value #OPEN} are open
 * or hold {@value #MOST_NUMBERS} numbers, or at the end: the records of several producers may lie between each other.
 * Rows stand in the order of the records.
 *
 * <p><b>Memory.</b> The open requests, not decoded, and the hashes of {@value #NAMES} names; {@link Whole#batch} takes
 * 16 bytes a number of its request on the way, and leaves 8. Not thread-safe.
 */
public final class RequestParts {

    /** Requests that a record may still belong to. */
    static final int OPEN = 64;

    /** Numbers of open requests, 256 MiB of float32. */
    static final long MOST_NUMBERS = 1L << 26;

    private static final int NAMES = 4_096;

    /** Takes whole requests. */
    public interface Taker {
        void take(Whole request) throws IOException;
    }

    /**
     * A request with the rows of all its records.
     *
     * @param name empty where it has none
     */
    public record Whole(String name, long timestampMs, List<ActivationBlob> parts) {

        /** Returns the number of rows of all records. */
        public int rows() {
            return parts.stream().mapToInt(ActivationBlob::rows).sum();
        }

        /** Decodes every row. */
        public ActivationBatch batch() {
            return ActivationBatch.joined(
                    parts.stream().map(ActivationBlob::batch).toList());
        }
    }

    private record Open(Whole request, Set<Long> records) {}

    private final Taker taker;
    private final Deque<Open> open = new ArrayDeque<>();
    private final Set<Long> earlier = new LinkedHashSet<>();
    private long numbers;
    private long apart;

    public RequestParts(Taker taker) {
        this.taker = taker;
    }

    /**
     * Adds the rows of a record.
     *
     * @param name of its request; empty for none
     * @param record identity of the record, {@link Ingested.Rows#record}
     * @return false where the request has this very record, which is not added again
     */
    public boolean add(String name, long timestampMs, long record, ActivationBlob rows) throws IOException {
        if (!name.isEmpty()) {
            for (Open one : open) {
                if (one.request().timestampMs() == timestampMs
                        && one.request().name().equals(name)) {
                    if (!one.records().add(record)) {
                        return false;
                    }
                    numbers += numbers(rows);
                    return one.request().parts().add(rows);
                }
            }
            remember(RowSample.requestHash(name));
        }
        while (open.size() >= OPEN || numbers > MOST_NUMBERS) {
            takeFirst();
        }
        numbers += numbers(rows);
        open.add(
                new Open(new Whole(name, timestampMs, new ArrayList<>(List.of(rows))), new HashSet<>(List.of(record))));
        return true;
    }

    private void remember(long name) {
        if (!earlier.add(name)) {
            apart++;
        } else if (earlier.size() > NAMES) {
            earlier.remove(earlier.iterator().next());
        }
    }

    /** Gives away the requests that are left. */
    public void end() throws IOException {
        while (!open.isEmpty()) {
            takeFirst();
        }
    }

    private void takeFirst() throws IOException {
        Whole first = open.removeFirst().request();
        first.parts().forEach(part -> numbers -= numbers(part));
        taker.take(first);
    }

    private static long numbers(ActivationBlob rows) {
        int columns = rows.activations().columns()
                + (rows.targets() == null ? 0 : rows.targetRows().columns());
        return (long) rows.rows() * columns;
    }

    /**
     * Returns the number of requests that have the name of an earlier one and were not joined with it, because they
     * have another time or came later.
     */
    public long apart() {
        return apart;
    }
}
