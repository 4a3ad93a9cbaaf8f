package io.plumbline.topology.ingest;

import io.plumbline.wire.Printable;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Says where the rows of a record came from, as its producer says: the headers {@link #HEADERS} and the free tags of
 * the header {@value #TAGS}, {@code name=value} with commas between them.
 *
 * <p>Nothing is refused: a name or value that is too long is cut, control characters become {@code ?}, and of more than
 * {@value #MOST_TAGS} tags the first ones count.
 *
 * @param values by name, in the order of the names
 */
public record Origin(SortedMap<String, String> values) {

    /** Names the headers that say what served a request. */
    public static final List<String> HEADERS =
            List.of("engine", "engine_version", "model_revision", "quantization", "adapter");

    /** Names the header of the tags. */
    public static final String TAGS = "tags";

    /** The most tags of a record. */
    public static final int MOST_TAGS = 8;

    /** The most characters of a name or value. */
    public static final int LONGEST = 64;

    /** The origin of records whose producer said nothing. */
    public static final Origin UNSAID = new Origin(new TreeMap<>());

    /** The most bytes of a header that are read at all. */
    private static final int LONGEST_HEADER = MOST_TAGS * 2 * 4 * (LONGEST + 1);

    public Origin {
        values = Collections.unmodifiableSortedMap(new TreeMap<>(values));
    }

    static Origin of(Headers headers) {
        SortedMap<String, String> values = null;
        String tags = text(headers, TAGS);
        if (tags != null) {
            values = new TreeMap<>();
            for (String tag : tags.split(",", -1)) {
                int equals = tag.indexOf('=');
                String name = clean(equals < 0 ? tag : tag.substring(0, equals));
                if (!name.isEmpty() && values.size() < MOST_TAGS) {
                    values.put(name, equals < 0 ? "true" : clean(tag.substring(equals + 1)));
                }
            }
        }
        for (String name : HEADERS) {
            String value = text(headers, name);
            if (value != null) {
                values = values == null ? new TreeMap<>() : values;
                values.put(name, clean(value));
            }
        }
        return values == null || values.isEmpty() ? UNSAID : new Origin(values);
    }

    private static @Nullable String text(Headers headers, String name) {
        Header header = headers.lastHeader(name);
        byte[] value = header == null ? null : header.value();
        return value == null
                ? null
                : new String(value, 0, Math.min(value.length, LONGEST_HEADER), StandardCharsets.UTF_8);
    }

    private static String clean(String text) {
        String printable = Printable.of(text.strip());
        if (printable.length() <= LONGEST) {
            return printable;
        }
        int end = Character.isHighSurrogate(printable.charAt(LONGEST - 1)) ? LONGEST - 1 : LONGEST;
        return printable.substring(0, end);
    }

    /** Returns the value of a header or tag, or null where the producer does not say it. */
    public @Nullable String value(String name) {
        return values.get(name);
    }

    /** Returns whether the producer said nothing. */
    public boolean isUnsaid() {
        return values.isEmpty();
    }

    /** Returns the origin of these names and values, as a record would have them. */
    public static Origin of(Map<String, String> values) {
        return values.isEmpty() ? UNSAID : new Origin(new TreeMap<>(values));
    }
}
