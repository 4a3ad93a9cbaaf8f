package io.plumbline.topology.adaptation;

import io.plumbline.explainer.Explainer;
import io.plumbline.judgement.Amounts;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampledRow;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.assessment.AdaptationMessage.BlockRows;
import io.plumbline.topology.assessment.AdaptationMessage.SamplePart;
import io.plumbline.wire.Printable;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
 * Stores the rows of consecutive drifted windows of each site, in two change-logged stores: the parts of their samples
 * as they came, under {@code SITE#END#INDEX}, and a {@link RowPool} that says which of them count.
 *
 * <p>A part is written once, when it comes. A window read again replaces itself, and a row that lies in two windows
 * counts once, so a replay gives the same pool. <b>Memory</b> of a site: the rows of its pool and at most one sample
 * more, as bytes, and once more as rows while a request is answered. One task's; not thread-safe.
 */
final class RowPools {

    private static final Logger LOG = LoggerFactory.getLogger(RowPools.class);
    private static final Pattern PART = Pattern.compile("(-?\\d+)#(\\d+)");
    private static final int LARGEST_SAMPLE = 1_000_000;

    private final KeyValueStore<String, byte[]> parts;
    private final KeyValueStore<String, byte[]> pools;

    /**
     * Limits what is pooled of a site.
     *
     * @param rows the most distinct rows; the newest windows come first
     * @param age rows of windows that end longer before the newest are left out, event time
     */
    record Limits(int rows, Duration age) {}

    /** The rows of one window, without those that an older window has too. */
    private record Share(RowPool.Window window, List<SampledRow> rows) {}

    RowPools(KeyValueStore<String, byte[]> parts, KeyValueStore<String, byte[]> pools) {
        this.parts = parts;
        this.pools = pools;
    }

    /** Keeps a part for the request that will name it. */
    void keep(String site, SamplePart part, byte[] message) {
        parts.put(key(site, part.windowEndMs(), part.index()), message);
    }

    RowPool of(String site) {
        byte[] stored = pools.get(site);
        return stored == null ? RowPool.EMPTY : RowPool.decode(stored);
    }

    /** Returns how many distinct rows are pooled of each site that has a pool here. */
    Map<String, Integer> rows() {
        Map<String, Integer> rows = new TreeMap<>();
        try (KeyValueIterator<String, byte[]> all = pools.all()) {
            all.forEachRemaining(
                    pool -> rows.put(pool.key, RowPool.decode(pool.value).rows()));
        }
        return rows;
    }

    /**
     * Adds the rows of a window to those of its site, and returns all of them.
     *
     * @param added the rows of the window
     * @param explainer what the rows must fit
     * @param fittedUpToMs end of the newest window that the decoder in service was fitted on, {@link RowPool#NEVER} for
     *     none
     * @throws IllegalArgumentException if a part is missing or cannot be read; the pool is then as it was
     */
    PooledRows add(
            String site, long windowEndMs, BlockRows added, Limits limits, Explainer explainer, long fittedUpToMs) {
        RowPool before = of(site);
        RowPool.Window window = new RowPool.Window(windowEndMs, added.rows(), added.parts(), added.sampleCapacity());
        List<SampledRow> itsRows;
        try {
            itsRows = rows(site, window, explainer);
        } catch (IllegalArgumentException e) {
            deleteOthers(site, before, windowEndMs);
            throw e;
        }
        List<Share> shares = shares(site, before.with(window, limits.age()), window, itsRows, explainer);
        List<RowPool.Window> kept = new ArrayList<>();
        List<SampledRow> pooled = new ArrayList<>();
        Set<Long> fitted = new HashSet<>();
        double rates = 0.0;
        for (int i = shares.size() - 1; i >= 0 && pooled.size() < limits.rows(); i--) {
            List<SampledRow> own = shares.get(i).rows();
            // In ascending order of their hashes: a prefix is a uniform sample of the window.
            List<SampledRow> taken = own.subList(0, Math.min(own.size(), limits.rows() - pooled.size()));
            if (!taken.isEmpty()) {
                kept.add(0, shares.get(i).window());
                pooled.addAll(taken);
                rates += shares.get(i).window().rate() * taken.size() * taken.size() / own.size();
            }
            if (shares.get(i).window().endMs() <= fittedUpToMs) {
                taken.forEach(row -> fitted.add(row.request()));
            }
        }
        RowPool after = before.holding(kept, pooled.size());
        pools.put(site, after.encode());
        deleteOthers(site, after, windowEndMs);
        pooled.sort(Comparator.comparingLong(SampledRow::hash));
        return new PooledRows(pooled, fitted, kept.size(), rates / pooled.size(), List.of());
    }

    /** Remembers that the rows of a site were answered with a refit, see {@link RowPool#judged}. */
    void judged(String site, long windowEndMs, int rows) {
        pools.put(site, of(site).judged(windowEndMs, rows).encode());
    }

    /** Deletes the rows of a site: its drift is over, or they led to a decoder that did worse. */
    void empty(String site) {
        RowPool before = of(site);
        if (!before.windows().isEmpty()) {
            pools.put(site, before.emptied().encode());
            before.windows().forEach(window -> delete(site, window.endMs(), window.parts()));
        }
    }

    /** Deletes the rows of one request, which are not to be pooled. */
    void refuse(String site, long windowEndMs, BlockRows refused) {
        if (!of(site).holds(windowEndMs)) {
            delete(site, windowEndMs, refused.parts());
        }
    }

    /** Returns the shares of the windows in the order of their ends. */
    private List<Share> shares(
            String site,
            List<RowPool.Window> windows,
            RowPool.Window added,
            List<SampledRow> itsRows,
            Explainer explainer) {
        List<Share> shares = new ArrayList<>();
        Set<Long> seen = new HashSet<>();
        for (RowPool.Window window : windows) {
            List<SampledRow> rows = new ArrayList<>();
            for (SampledRow row : window.equals(added) ? itsRows : stored(site, window, explainer)) {
                if (seen.add(row.hash())) {
                    rows.add(row);
                }
            }
            shares.add(new Share(window, rows));
        }
        return shares;
    }

    /**
     * Returns rows of a window pooled before; none where another program, or the explainer before this one, left them.
     */
    private List<SampledRow> stored(String site, RowPool.Window window, Explainer explainer) {
        try {
            return rows(site, window, explainer);
        } catch (IllegalArgumentException e) {
            LOG.warn(
                    "the pooled rows of a window are left out: site={} window_end={} reason={}",
                    Printable.value(site),
                    Instant.ofEpochMilli(window.endMs()),
                    Printable.value(e.getMessage()));
            return List.of();
        }
    }

    private List<SampledRow> rows(String site, RowPool.Window window, Explainer explainer) {
        RowSample sample = RowSample.ofCapacity(Math.min(Math.max(1, window.capacity()), LARGEST_SAMPLE));
        for (int index = 0; index < window.parts(); index++) {
            byte[] stored = parts.get(key(site, window.endMs(), index));
            if (stored == null || !(AdaptationMessage.decode(stored) instanceof SamplePart part)) {
                throw new IllegalArgumentException("part %d of the %s of its sample did not arrive"
                        .formatted(index, Amounts.count(window.parts(), "part")));
            }
            try {
                sample.mergeEncoded(part.part());
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(
                        "part %d of its sample cannot be read: %s".formatted(index, e.getMessage()), e);
            }
        }
        List<SampledRow> rows = sample.rows();
        if (rows.isEmpty()) {
            throw new IllegalArgumentException("its sample of %s holds no row: expected at least 1"
                    .formatted(Amounts.count(window.parts(), "part")));
        }
        SampledRow first = rows.get(0);
        if (first.activation().length != explainer.inputWidth()
                || first.targetRow().length != explainer.targetWidth()) {
            throw new IllegalArgumentException(
                    "its rows have %d activations and %d targets, the explainer reads %d and writes %d"
                            .formatted(
                                    first.activation().length,
                                    first.targetRow().length,
                                    explainer.inputWidth(),
                                    explainer.targetWidth()));
        }
        return rows;
    }

    /**
     * Deletes all parts of a site that are not in its pool, also of requests that never came.
     *
     * @param upToMs end of the window that was asked for; the parts of later ones wait for their request, which comes
     *     when every block of the site has that window
     */
    private void deleteOthers(String site, RowPool pool, long upToMs) {
        List<String> others = new ArrayList<>();
        String prefix = site + "#";
        try (KeyValueIterator<String, byte[]> all = parts.prefixScan(prefix, new StringSerializer())) {
            while (all.hasNext()) {
                KeyValue<String, byte[]> part = all.next();
                Matcher name = PART.matcher(part.key.substring(prefix.length()));
                if (name.matches()) {
                    long endMs = Long.parseLong(name.group(1));
                    if (endMs <= upToMs && !pool.holds(endMs, Integer.parseInt(name.group(2)))) {
                        others.add(part.key);
                    }
                }
            }
        }
        others.forEach(parts::delete);
    }

    private void delete(String site, long endMs, int count) {
        for (int index = 0; index < count && parts.delete(key(site, endMs, index)) != null; index++) {}
    }

    private static String key(String site, long windowEndMs, int index) {
        return site + "#" + windowEndMs + "#" + index;
    }
}
