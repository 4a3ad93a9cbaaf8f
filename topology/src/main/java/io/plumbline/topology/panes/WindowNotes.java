package io.plumbline.topology.panes;

import io.plumbline.topology.ingest.Coverage;
import io.plumbline.topology.ingest.Origin;
import io.plumbline.topology.ingest.ProducerNotes;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Holds what producers said of the rows of a pane or a window: how many tokens were served, how many rows came from
 * where, and from where each request. Notes merge in any order.
 *
 * <p><b>Bounds.</b> At most {@value #MOST_ORIGINS} origins and {@value #MOST_REQUESTS} requests are kept. What comes
 * beyond them counts as if its producer had said nothing of where it comes from.
 *
 * <p><b>Size.</b> About 80 bytes a request whose producer says where it comes from; encoded 9.
 *
 * <p>Not thread-safe while it is filled.
 */
public final class WindowNotes {

    /** The most origins that are kept; all others count as unsaid. */
    static final int MOST_ORIGINS = 64;

    /** The most requests whose origin is kept. */
    static final int MOST_REQUESTS = 65_536;

    private static final int REQUESTS_PER_PART = 32_768;
    private static final int COVERAGE_BYTES = 5 * Long.BYTES;
    private static final int REQUEST_BYTES = Long.BYTES + 1;

    private Coverage coverage = Coverage.UNKNOWN;
    private final Map<Origin, Counts> origins = new LinkedHashMap<>();
    private final Map<Long, Origin> requests = new HashMap<>();

    /** How many rows and records one origin has. */
    public record Counts(long rows, long records) {
        private Counts plus(Counts other) {
            return new Counts(rows + other.rows, records + other.records);
        }
    }

    /**
     * Adds what the producer of a record says of it.
     *
     * @param rows that it brings
     * @param ofRequests hashes of the requests it belongs to, as far as they are known
     */
    public void add(ProducerNotes notes, long rows, long[] ofRequests) {
        coverage = coverage.plus(notes.coverage());
        Origin origin = count(notes.origin(), new Counts(rows, 1));
        if (origin != null) {
            for (long request : ofRequests) {
                note(request, origin);
            }
        }
    }

    WindowNotes merge(WindowNotes other) {
        coverage = coverage.plus(other.coverage);
        other.origins.forEach(this::count);
        other.requests.forEach((request, origin) -> {
            if (origins.containsKey(origin)) {
                note(request, origin);
            }
        });
        return this;
    }

    /** The origin as it is kept, or null where it is not. */
    private @Nullable Origin count(Origin origin, Counts more) {
        if (origin.isUnsaid() || (origins.size() >= MOST_ORIGINS && !origins.containsKey(origin))) {
            return null;
        }
        origins.merge(origin, more, Counts::plus);
        return origin;
    }

    /** Keeps one of two origins of a request, the same one in whatever order they come. */
    private void note(long request, Origin origin) {
        Origin before = requests.get(request);
        if (before == null ? requests.size() < MOST_REQUESTS : isBefore(origin, before)) {
            requests.put(request, origin);
        }
    }

    private static boolean isBefore(Origin one, Origin other) {
        return !one.equals(other)
                && one.values().toString().compareTo(other.values().toString()) < 0;
    }

    /** Returns what became of the tokens that were served. */
    public Coverage coverage() {
        return coverage;
    }

    /** Returns rows and records by where they came from; those without a known origin are not among them. */
    public Map<Origin, Counts> origins() {
        return Collections.unmodifiableMap(origins);
    }

    /** Returns where a request came from, {@link Origin#UNSAID} where that is not known. */
    public Origin originOf(long request) {
        return requests.getOrDefault(request, Origin.UNSAID);
    }

    /** Returns whether no producer said anything. */
    boolean isEmpty() {
        return !coverage.isKnown() && origins.isEmpty();
    }

    long bytes() {
        return 80L * requests.size() + 1_000L * origins.size();
    }

    /** Returns parts that become records; none where nothing was said. Each can be merged on its own. */
    List<byte[]> encode() {
        List<byte[]> parts = new ArrayList<>();
        if (isEmpty()) {
            return parts;
        }
        List<Origin> table = List.copyOf(origins.keySet());
        Map<Origin, Integer> indices = new HashMap<>();
        table.forEach(origin -> indices.put(origin, indices.size()));
        List<Map.Entry<Long, Origin>> sorted =
                new ArrayList<>(new TreeMap<>(requests).entrySet()); // the same bytes after a restart
        int from = 0;
        do {
            int to = Math.min(sorted.size(), from + REQUESTS_PER_PART);
            parts.add(part(table, indices, sorted.subList(from, to), from == 0));
            from = to;
        } while (from < sorted.size());
        return parts;
    }

    private byte[] part(
            List<Origin> table, Map<Origin, Integer> indices, List<Map.Entry<Long, Origin>> some, boolean first) {
        List<byte[]> texts = new ArrayList<>();
        table.forEach(origin -> origin.values().forEach((name, value) -> {
            texts.add(name.getBytes(StandardCharsets.UTF_8));
            texts.add(value.getBytes(StandardCharsets.UTF_8));
        }));
        int bytes = COVERAGE_BYTES + 1 + table.size() * (1 + 2 * Long.BYTES) + 4 + REQUEST_BYTES * some.size();
        for (byte[] text : texts) {
            bytes += 2 + text.length;
        }
        ByteBuffer part = ByteBuffer.allocate(bytes);
        Coverage said = first ? coverage : Coverage.UNKNOWN;
        part.putLong(said.served())
                .putLong(said.delivered())
                .putLong(said.cached())
                .putLong(said.notSampled())
                .putLong(said.dropped());
        part.put((byte) table.size());
        int text = 0;
        for (Origin origin : table) {
            Counts counts = first ? origins.getOrDefault(origin, NOTHING) : NOTHING;
            part.put((byte) origin.values().size());
            for (int end = text + 2 * origin.values().size(); text < end; text++) {
                part.putShort((short) texts.get(text).length).put(texts.get(text));
            }
            part.putLong(counts.rows()).putLong(counts.records());
        }
        part.putInt(some.size());
        some.forEach(one -> part.putLong(one.getKey())
                .put(indices.getOrDefault(one.getValue(), 0).byteValue()));
        return part.array();
    }

    private static final Counts NOTHING = new Counts(0, 0);

    /**
     * Merges a part of {@link #encode}.
     *
     * @throws IllegalArgumentException when the bytes are none
     */
    void mergeEncoded(byte[] bytes) {
        merge(decode(bytes));
    }

    /** Returns a part of {@link #encode} without the origin of one request; the same array where it has none. */
    static byte[] without(byte[] part, long request) {
        WindowNotes notes = decode(part);
        return notes.requests.remove(request) == null ? part : notes.encode().get(0);
    }

    private static WindowNotes decode(byte[] bytes) {
        ByteBuffer part = ByteBuffer.wrap(bytes);
        WindowNotes notes = new WindowNotes();
        try {
            notes.coverage =
                    new Coverage(part.getLong(), part.getLong(), part.getLong(), part.getLong(), part.getLong());
            int origins = part.get();
            if (origins < 0 || origins > MOST_ORIGINS) {
                throw new IllegalArgumentException("notes of %d origins".formatted(origins));
            }
            List<Origin> table = new ArrayList<>();
            for (int i = 0; i < origins; i++) {
                Map<String, String> values = new TreeMap<>();
                for (int left = part.get(); left > 0; left--) {
                    values.put(text(part), text(part));
                }
                table.add(Origin.of(values));
                notes.count(table.get(i), new Counts(part.getLong(), part.getLong()));
            }
            int requests = part.getInt();
            if ((long) requests * REQUEST_BYTES != part.remaining()) {
                throw new IllegalArgumentException(
                        "notes of %d requests with %d bytes of them".formatted(requests, part.remaining()));
            }
            for (int i = 0; i < requests; i++) {
                long request = part.getLong();
                int origin = part.get();
                if (origin < 0 || origin >= table.size()) {
                    throw new IllegalArgumentException("notes of origin %d of %d".formatted(origin, table.size()));
                }
                notes.note(request, table.get(origin));
            }
            return notes;
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException("notes of %d bytes are cut short".formatted(bytes.length), e);
        }
    }

    private static String text(ByteBuffer part) {
        byte[] text = new byte[Math.min(Short.toUnsignedInt(part.getShort()), part.remaining())];
        part.get(text);
        return new String(text, StandardCharsets.UTF_8);
    }
}
