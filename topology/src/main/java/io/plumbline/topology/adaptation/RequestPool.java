package io.plumbline.topology.adaptation;

import io.plumbline.requests.WholeRequests;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.assessment.AdaptationMessage.RequestPart;
import io.plumbline.wire.Printable;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The whole requests of the drifted windows whose rows are pooled, in the store of {@link RowPools}. Their parts lie as
 * they came, under {@code SITE#END#wINDEX}.
 *
 * <p><b>Memory</b> of a site: at most {@link #MOST_BYTES}, newest windows first, and the parts of one window more while
 * its request is awaited. One task's; not thread-safe.
 */
public final class RequestPool {

    /** Bytes kept of a site. */
    public static final long MOST_BYTES = 64L << 20;

    private static final Logger LOG = LoggerFactory.getLogger(RequestPool.class);
    private static final Pattern PART = Pattern.compile("(-?\\d+)#w(\\d+)");

    /** A window's sample is no larger; a part that claims more holds the claim. */
    private static final int MOST_REQUESTS = 1 << 16;

    private final KeyValueStore<String, byte[]> parts;

    private record Part(String key, long endMs, int index, byte[] message) {}

    RequestPool(KeyValueStore<String, byte[]> parts) {
        this.parts = parts;
    }

    /** Keeps a part for the request that its window will make. */
    void keep(String site, RequestPart part, byte[] message) {
        parts.put(site + "#" + part.windowEndMs() + "#w" + part.index(), message);
    }

    /** Returns the whole requests held for a site, each once, in ascending order of hashes. */
    List<WholeRequests.Kept> of(String site) {
        Map<Long, WholeRequests> windows = new TreeMap<>();
        for (Part part : parts(site)) {
            try {
                if (AdaptationMessage.decode(part.message()) instanceof RequestPart message) {
                    windows.computeIfAbsent(part.endMs(), end -> WholeRequests.ofCapacity(MOST_REQUESTS))
                            .mergeEncoded(message.part());
                }
            } catch (IllegalArgumentException e) {
                LOG.warn(
                        "a stored part holds no whole requests and is left out: "
                                + "site={} window_end={} part={} reason={}",
                        Printable.value(site),
                        Instant.ofEpochMilli(part.endMs()),
                        part.index(),
                        Printable.value(e.getMessage()));
            }
        }
        Map<Long, WholeRequests.Kept> distinct = new TreeMap<>();
        windows.values()
                .forEach(window -> window.kept().forEach(request -> distinct.putIfAbsent(request.hash(), request)));
        return List.copyOf(distinct.values());
    }

    /**
     * Deletes what is of windows that are not pooled, and of the oldest where all are too large.
     *
     * @param upToMs end of the newest window that was answered; the parts of later ones wait for their request
     */
    void keepOnly(String site, RowPool pool, long upToMs) {
        long bytes = 0;
        for (Part part : parts(site)) {
            bytes += part.message().length;
            if (bytes > MOST_BYTES || (part.endMs() <= upToMs && !pool.holds(part.endMs()))) {
                parts.delete(part.key());
            }
        }
    }

    /** Newest windows first, each in the order of its parts. */
    private List<Part> parts(String site) {
        List<Part> found = new ArrayList<>();
        String prefix = site + "#";
        try (KeyValueIterator<String, byte[]> all = parts.prefixScan(prefix, new StringSerializer())) {
            while (all.hasNext()) {
                KeyValue<String, byte[]> part = all.next();
                Matcher name = PART.matcher(part.key.substring(prefix.length()));
                if (name.matches()) {
                    found.add(new Part(
                            part.key, Long.parseLong(name.group(1)), Integer.parseInt(name.group(2)), part.value));
                }
            }
        }
        found.sort(Comparator.comparingLong(Part::endMs).reversed().thenComparingInt(Part::index));
        return found;
    }
}
