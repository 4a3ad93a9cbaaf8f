package io.plumbline.topology.assessment;

import io.plumbline.topology.ingest.Origin;
import io.plumbline.topology.windows.ClosedWindow;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Remembers which values of headers and tags the windows of a site had, since when, and how these windows looked.
 *
 * <p>At most {@value #MOST_NAMES} names are remembered, and {@value #MOST_VALUES} values of each. A name with more
 * values, such as one that names users, is no cause of anything: its values are forgotten, and it is passed over from
 * then on.
 *
 * <pre>
 * bytes  field, big endian
 * 8      end of the last window that was not above a threshold, {@link SiteMemory#NEVER} before the first
 * 1      names; for each:
 *   2, n   length in UTF-8, name
 *   1      values, 0 where there are too many; for each:
 *     2, n   length in UTF-8, value
 *     8      start of the first window with it
 *     8      windows nine tenths of whose rows had it
 *     8      of these, drifted
 *     8      of these, with a level
 *     8      sum of their levels
 * </pre>
 *
 * @param quietUntilMs end of the last window that was not above a threshold
 * @param names by name; an empty map of values is a name with too many
 */
record KnownOrigins(long quietUntilMs, SortedMap<String, SortedMap<String, Seen>> names) {

    static final int MOST_NAMES = 16;
    static final int MOST_VALUES = 8;
    static final KnownOrigins NONE = new KnownOrigins(SiteMemory.NEVER, new TreeMap<>());

    /** The share of the rows with which a value speaks for its window. */
    private static final double DOMINANT = 0.9;

    private static final int SEEN_BYTES = 5 * Long.BYTES;

    /**
     * The windows in which one value was seen.
     *
     * @param firstMs start of the first window with it
     * @param windows nine tenths of whose rows had it
     * @param drifted of these
     * @param levels of these, those whose deciding statistic had a value and a threshold
     * @param levelSum sum of value over threshold of those
     */
    record Seen(long firstMs, long windows, long drifted, long levels, double levelSum) {

        private Seen with(boolean isDrifted, double level) {
            boolean known = Double.isFinite(level);
            return new Seen(
                    firstMs,
                    windows + 1,
                    drifted + (isDrifted ? 1 : 0),
                    levels + (known ? 1 : 0),
                    levelSum + (known ? level : 0.0));
        }
    }

    KnownOrigins {
        SortedMap<String, SortedMap<String, Seen>> copy = new TreeMap<>();
        names.forEach((name, values) -> copy.put(name, Collections.unmodifiableSortedMap(new TreeMap<>(values))));
        names = Collections.unmodifiableSortedMap(copy);
    }

    /**
     * Returns what is remembered after a window.
     *
     * @param above whether a trigger was above its threshold
     * @param drifted the verdict
     * @param level the deciding value over its threshold; NaN where one of them is missing
     */
    KnownOrigins after(ClosedWindow window, boolean above, boolean drifted, double level) {
        SortedMap<String, SortedMap<String, Seen>> next = new TreeMap<>(names);
        rowsOf(window).forEach((name, rows) -> {
            SortedMap<String, Seen> known = next.get(name);
            if (known == null ? next.size() < MOST_NAMES : !known.isEmpty()) {
                SortedMap<String, Seen> seen = known == null ? new TreeMap<>() : new TreeMap<>(known);
                rows.keySet().forEach(value -> seen.putIfAbsent(value, new Seen(window.startMs(), 0, 0, 0, 0.0)));
                if (seen.size() > MOST_VALUES) {
                    seen.clear();
                } else {
                    String dominant = dominant(rows);
                    Seen before = dominant == null ? null : seen.get(dominant);
                    if (dominant != null && before != null) {
                        seen.put(dominant, before.with(drifted, level));
                    }
                }
                next.put(name, seen);
            }
        });
        return new KnownOrigins(above ? quietUntilMs : Math.max(quietUntilMs, window.endMs()), next);
    }

    /** The rows of a window by name and value. */
    static SortedMap<String, SortedMap<String, Long>> rowsOf(ClosedWindow window) {
        SortedMap<String, SortedMap<String, Long>> rows = new TreeMap<>();
        window.notes().origins().forEach((origin, counts) -> origin.values()
                .forEach((name, value) ->
                        rows.computeIfAbsent(name, key -> new TreeMap<>()).merge(value, counts.rows(), Long::sum)));
        return rows;
    }

    /** The value that nearly all rows have, or null: a window of two values says nothing of either. */
    private static @Nullable String dominant(SortedMap<String, Long> rows) {
        long all = rows.values().stream().mapToLong(Long::longValue).sum();
        return rows.entrySet().stream()
                .filter(value -> value.getValue() >= DOMINANT * all)
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(null);
    }

    byte[] encode() {
        int bytes = Long.BYTES + 1;
        for (Map.Entry<String, SortedMap<String, Seen>> name : names.entrySet()) {
            bytes += 2 + utf8(name.getKey()).length + 1;
            for (String value : name.getValue().keySet()) {
                bytes += 2 + utf8(value).length + SEEN_BYTES;
            }
        }
        ByteBuffer buffer = ByteBuffer.allocate(bytes).putLong(quietUntilMs).put((byte) names.size());
        names.forEach((name, values) -> {
            put(buffer, name);
            buffer.put((byte) values.size());
            values.forEach((value, seen) -> {
                put(buffer, value);
                buffer.putLong(seen.firstMs())
                        .putLong(seen.windows())
                        .putLong(seen.drifted())
                        .putLong(seen.levels())
                        .putDouble(seen.levelSum());
            });
        });
        return buffer.array();
    }

    /** Reads what {@link #encode} wrote; throws {@link IllegalArgumentException} on sizes that are none. */
    static KnownOrigins decode(ByteBuffer buffer) {
        long quietUntilMs = buffer.getLong();
        SortedMap<String, SortedMap<String, Seen>> names = new TreeMap<>();
        for (int left = count(buffer.get(), MOST_NAMES); left > 0; left--) {
            String name = text(buffer);
            SortedMap<String, Seen> values = new TreeMap<>();
            for (int more = count(buffer.get(), MOST_VALUES); more > 0; more--) {
                values.put(
                        text(buffer),
                        new Seen(
                                buffer.getLong(),
                                buffer.getLong(),
                                buffer.getLong(),
                                buffer.getLong(),
                                buffer.getDouble()));
            }
            names.put(name, values);
        }
        return new KnownOrigins(quietUntilMs, names);
    }

    private static int count(byte read, int most) {
        if (read < 0 || read > most) {
            throw new IllegalArgumentException("%d names or values of origins".formatted(read));
        }
        return read;
    }

    private static void put(ByteBuffer buffer, String text) {
        byte[] utf8 = utf8(text);
        buffer.putShort((short) utf8.length).put(utf8);
    }

    private static String text(ByteBuffer buffer) {
        int length = buffer.getShort();
        if (length < 0 || length > 4 * Origin.LONGEST) {
            throw new IllegalArgumentException("a text of %d bytes".formatted(length));
        }
        byte[] utf8 = new byte[length];
        buffer.get(utf8);
        return new String(utf8, StandardCharsets.UTF_8);
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
