package io.plumbline.topology.ingest;

import io.plumbline.topology.ingest.DeadLetter.Place;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Reads what the headers of a dead letter say.
 *
 * @param place where the refused record was read
 * @param timestampMs its event time; {@link #UNKNOWN} in letters of versions that did not say
 * @param omittedBytes what was too large to keep; 0: the letter holds the record whole
 * @param original the record's own headers
 */
public record KeptLetter(
        String reason, String message, Place place, long timestampMs, long omittedBytes, List<Header> original) {

    public static final long UNKNOWN = Long.MIN_VALUE;

    /**
     * Reads the headers {@link DeadLetter} added, which stand last: what a producer sent under the same names stands
     * before them and is part of the record.
     *
     * @throws IllegalArgumentException when they are not there
     */
    public static KeptLetter of(Headers headers) {
        List<Header> all = List.of(headers.toArray());
        int first = all.size() - 1;
        while (first >= 0 && !all.get(first).key().equals(DeadLetter.REASON)) {
            first--;
        }
        if (first < 0) {
            throw new IllegalArgumentException("no header " + DeadLetter.REASON + ": not a dead letter");
        }
        Map<String, String> added = new HashMap<>();
        for (Header header : all.subList(first, all.size())) {
            byte[] value = header.value();
            added.put(header.key(), value == null ? "" : new String(value, StandardCharsets.UTF_8));
        }
        Place place = new Place(
                added.getOrDefault(DeadLetter.TOPIC, ""),
                (int) number(added, DeadLetter.PARTITION, Integer.MAX_VALUE),
                number(added, DeadLetter.OFFSET, Long.MAX_VALUE));
        return new KeptLetter(
                added.getOrDefault(DeadLetter.REASON, ""),
                added.getOrDefault(DeadLetter.MESSAGE, ""),
                place,
                added.containsKey(DeadLetter.TIMESTAMP) ? number(added, DeadLetter.TIMESTAMP, Long.MAX_VALUE) : UNKNOWN,
                added.containsKey(DeadLetter.OMITTED) ? number(added, DeadLetter.OMITTED, Long.MAX_VALUE) : 0,
                all.subList(0, first));
    }

    /** The site the record named, as ingest reads it; empty where it named none. */
    public String site(byte @Nullable [] key) {
        byte[] name = key;
        for (Header header : original) {
            if (header.key().equals("site") && header.value() != null) {
                name = header.value();
            }
        }
        return name == null ? "" : new String(name, StandardCharsets.UTF_8);
    }

    private static long number(Map<String, String> headers, String name, long largest) {
        String text = headers.getOrDefault(name, "");
        try {
            long number = Long.parseLong(text);
            if (number >= 0 && number <= largest) {
                return number;
            }
        } catch (NumberFormatException notANumber) {
            // Falls through to the sentence below, which says what was expected.
        }
        throw new IllegalArgumentException("header %s = \"%s\": expected a whole number; not a dead letter"
                .formatted(name, text.length() <= 40 ? text : text.substring(0, 40) + "…"));
    }
}
