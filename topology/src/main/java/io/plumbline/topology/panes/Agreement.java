package io.plumbline.topology.panes;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;

/**
 * Says what all instances of an application must agree on about a site, by configuration key: sums made under two
 * agreements must not be added up, and windows cut by two are not one site's windows.
 *
 * <p>It is stored beside the site's state at both levels, and travels with every pane message. An instance with another
 * one stops before it adds anything, unless everything of the site was closed as silent.
 *
 * <pre>
 * key=value\n ...      UTF-8, keys ascending
 * </pre>
 */
public final class Agreement {

    /** The header of pane messages that holds it. */
    static final String HEADER = "plumbline.agreement";

    private final SortedMap<String, String> settings;
    private final byte[] encoded;

    private Agreement(Map<String, String> settings) {
        this.settings = Collections.unmodifiableSortedMap(new TreeMap<>(settings));
        StringBuilder text = new StringBuilder();
        this.settings.forEach(
                (key, value) -> text.append(key).append('=').append(value).append('\n'));
        encoded = text.toString().getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Returns the agreement about one site.
     *
     * @param more what else must be equal, by what a user would look at to change it; without line breaks
     */
    public static Agreement of(WindowSettings windows, int width, Map<String, String> more) {
        Map<String, String> all = new TreeMap<>(more);
        all.put("window.size", windows.sizeMs() + " ms");
        all.put("window.advance", windows.advanceMs() + " ms");
        all.put("width of the explainer", Integer.toString(width));
        return new Agreement(all);
    }

    byte[] encode() {
        return encoded.clone();
    }

    /** Returns it as the headers of a pane message. */
    public Headers headers() {
        return new RecordHeaders().add(HEADER, encode());
    }

    /**
     * Requires that a pane message was written under this agreement.
     *
     * @throws IllegalStateException when it names another one
     */
    public void require(String site, Headers headers) {
        Header found = headers.lastHeader(HEADER);
        if (found != null && !Arrays.equals(found.value(), encoded)) {
            throw decode(found.value()).refusal(site, "a pane that another instance sent", this);
        }
    }

    static Agreement decode(byte[] bytes) {
        Map<String, String> read = new TreeMap<>();
        new String(bytes, StandardCharsets.UTF_8).lines().forEach(line -> {
            int equals = line.indexOf('=');
            read.put(line.substring(0, Math.max(0, equals)), line.substring(equals + 1));
        });
        return new Agreement(read);
    }

    /** Returns what differs, each as {@code key = theirs, here ours}. */
    String differences(Agreement here) {
        List<String> found = new ArrayList<>();
        TreeSet<String> keys = new TreeSet<>(settings.keySet());
        keys.addAll(here.settings.keySet());
        for (String key : keys) {
            String theirs = settings.getOrDefault(key, "none");
            String ours = here.settings.getOrDefault(key, "none");
            if (!theirs.equals(ours)) {
                found.add("%s = %s, here %s".formatted(key, theirs, ours));
            }
        }
        return String.join("; ", found);
    }

    /** Returns the sentence with which an instance stops. */
    IllegalStateException refusal(String site, String where, Agreement here) {
        return new IllegalStateException(
                ("site %s: %s was made with other settings: %s. Instances of one application must agree on them, "
                                + "and what is open must end as it began. "
                                + "Start every instance with the old configuration and "
                                + "change it when the producers have stopped and the site's windows are closed; "
                                + "or choose another application_id; or reset the application's state. "
                                + "Nothing was added")
                        .formatted(site, where, differences(here)));
    }
}
