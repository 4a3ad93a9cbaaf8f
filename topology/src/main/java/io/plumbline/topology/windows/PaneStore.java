package io.plumbline.topology.windows;

import io.plumbline.moments.RowSample;
import io.plumbline.wire.MomentTile;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * The open panes and the small per-site state of one task: live objects in memory, written to a change-logged key-value
 * store when {@link #writeDirty} is called from the {@link CommitHook}.
 *
 * <p>Registration, change-log and restoration are those of the inner store, which is Kafka's own. {@link #reset} reads
 * the live objects back and must be called from {@code Processor.init}: a store object outlives a change of role, and
 * restoration writes past the live objects.
 *
 * <p><b>Memory</b> per pane: {@code 4 d (d + 3)} bytes live and once more as tiles in an in-memory inner store (not with
 * RocksDB), plus the row sample.
 *
 * <p>Not thread-safe; its stream task is the only user.
 *
 * @param <S> the per-site state
 */
final class PaneStore<S> implements StateStore {

    private record PaneId(String site, long startMs) {}

    private final KeyValueStore<Bytes, byte[]> inner;
    private final SiteStateCodec<S> codec;
    private final Map<String, Integer> dimensions;
    private final long paneMs;
    private final int sampleCapacity;
    private final Map<String, S> siteStates = new HashMap<>();
    private final Map<String, TreeMap<Long, Pane>> panes = new HashMap<>();
    private final Set<String> dirtySites = new HashSet<>();
    private final Map<PaneId, Pane> dirtyPanes = new HashMap<>();

    /** How many sample parts of a pane the inner store holds, so that surplus ones can be deleted. */
    private final Map<PaneId, Integer> storedSampleParts = new HashMap<>();

    PaneStore(
            KeyValueStore<Bytes, byte[]> inner,
            SiteStateCodec<S> codec,
            Map<String, Integer> dimensions,
            long paneMs,
            int sampleCapacity) {
        this.inner = inner;
        this.codec = codec;
        this.dimensions = dimensions;
        this.paneMs = paneMs;
        this.sampleCapacity = sampleCapacity;
    }

    /** The state of a site; the caller may change it and must then {@link #touch}. */
    S site(String site) {
        return siteStates.computeIfAbsent(site, name -> codec.initial());
    }

    Set<String> sites() {
        return dimensions.keySet();
    }

    boolean knows(String site) {
        return dimensions.containsKey(site);
    }

    void touch(String site) {
        dirtySites.add(site);
    }

    /** The pane that starts at {@code startMs}, made when absent; marked dirty because it is asked for to be changed. */
    Pane paneToChange(String site, long startMs) {
        Pane pane =
                panes.computeIfAbsent(site, name -> new TreeMap<>()).computeIfAbsent(startMs, start -> newPane(site));
        dirtyPanes.put(new PaneId(site, startMs), pane);
        return pane;
    }

    Pane newPane(String site) {
        Integer dimension = dimensions.get(site);
        if (dimension == null) {
            throw new IllegalArgumentException("site %s is not configured".formatted(site));
        }
        return new Pane(dimension, sampleCapacity);
    }

    /** Open panes of a site by start; a live view. */
    SortedMap<Long, Pane> panes(String site) {
        return panes.getOrDefault(site, new TreeMap<>());
    }

    /** Forgets a pane, here and in the change-log. */
    void remove(String site, long startMs) {
        TreeMap<Long, Pane> ofSite = panes.get(site);
        Pane pane = ofSite == null ? null : ofSite.remove(startMs);
        if (pane == null) {
            return;
        }
        PaneId id = new PaneId(site, startMs);
        dirtyPanes.remove(id);
        Integer parts = storedSampleParts.remove(id);
        if (parts == null) {
            return; // never written
        }
        inner.delete(PaneKeys.pane(site, startMs, PaneKeys.COUNTS, 0));
        for (int tile = 0; tile < MomentTile.tilesOf(pane.moment().dimension()); tile++) {
            inner.delete(PaneKeys.pane(site, startMs, PaneKeys.TILE, tile));
        }
        for (int part = 0; part < parts; part++) {
            inner.delete(PaneKeys.pane(site, startMs, PaneKeys.SAMPLE, part));
        }
    }

    /** Writes what changed since the last call. Called from the commit hook; no input or output but the change-log. */
    void writeDirty() {
        for (Map.Entry<PaneId, Pane> dirty : dirtyPanes.entrySet()) {
            PaneId id = dirty.getKey();
            Pane pane = dirty.getValue();
            inner.put(
                    PaneKeys.pane(id.site(), id.startMs(), PaneKeys.COUNTS, 0),
                    ByteBuffer.allocate(COUNTS_BYTES)
                            .putLong(pane.requests())
                            .putLong(paneMs)
                            .array());
            for (MomentTile tile : pane.tiles()) {
                inner.put(PaneKeys.pane(id.site(), id.startMs(), PaneKeys.TILE, tile.index()), tile.encode());
            }
            List<byte[]> parts = pane.sample().encode(RowSample.RECORD_PART_BYTES);
            for (int part = 0; part < parts.size(); part++) {
                inner.put(PaneKeys.pane(id.site(), id.startMs(), PaneKeys.SAMPLE, part), parts.get(part));
            }
            Integer before = storedSampleParts.put(id, parts.size());
            for (int surplus = parts.size(); before != null && surplus < before; surplus++) {
                inner.delete(PaneKeys.pane(id.site(), id.startMs(), PaneKeys.SAMPLE, surplus));
            }
        }
        for (String site : dirtySites) {
            inner.put(PaneKeys.site(site), codec.encode(site(site)));
        }
        dirtyPanes.clear();
        dirtySites.clear();
    }

    /** Requests and length of a pane. */
    private static final int COUNTS_BYTES = 2 * Long.BYTES;

    /** Replaces the live objects by what the inner store holds. State of sites no longer configured is left alone. */
    void reset() {
        siteStates.clear();
        panes.clear();
        dirtySites.clear();
        dirtyPanes.clear();
        storedSampleParts.clear();
        try (KeyValueIterator<Bytes, byte[]> all = inner.all()) {
            while (all.hasNext()) {
                KeyValue<Bytes, byte[]> entry = all.next();
                PaneKeys key = PaneKeys.decode(entry.key);
                if (!knows(key.site())) {
                    continue;
                }
                if (key.kind() == PaneKeys.SITE) {
                    siteStates.put(key.site(), codec.decode(entry.value));
                } else {
                    load(key, entry.value);
                }
            }
        }
        dirtyPanes.clear();
    }

    private void load(PaneKeys key, byte[] value) {
        Pane pane = paneToChange(key.site(), key.paneStartMs());
        PaneId id = new PaneId(key.site(), key.paneStartMs());
        storedSampleParts.putIfAbsent(id, 0);
        switch (key.part()) {
            case PaneKeys.TILE -> {
                MomentTile tile = MomentTile.decode(ByteBuffer.wrap(value));
                if (tile.dimension() != pane.moment().dimension()) {
                    throw new IllegalStateException(
                            "site %s: its open panes have %d dimensions, its explainer now writes %d; let them close before changing the explainer, or choose another application_id"
                                    .formatted(
                                            key.site(),
                                            tile.dimension(),
                                            pane.moment().dimension()));
                }
                pane.addTile(tile);
            }
            case PaneKeys.COUNTS -> {
                StateVersion.requireLength("request count", COUNTS_BYTES, value);
                ByteBuffer counts = ByteBuffer.wrap(value);
                pane.addRequests(counts.getLong());
                requireSamePaneLength(key.site(), counts.getLong());
            }
            case PaneKeys.SAMPLE -> {
                pane.addSamplePart(value);
                storedSampleParts.merge(id, key.index() + 1, Math::max);
            }
            default -> throw new IllegalStateException("pane part of unknown kind " + key.part());
        }
    }

    private void requireSamePaneLength(String site, long storedMs) {
        if (storedMs != paneMs) {
            throw new IllegalStateException(
                    "site %s: its open panes are %d ms long, window.size and window.advance now make them %d ms; let them close before changing the windows, or choose another application_id"
                            .formatted(site, storedMs, paneMs));
        }
    }

    @Override
    public String name() {
        return inner.name();
    }

    @Override
    public void init(StateStoreContext context, StateStore root) {
        inner.init(context, root);
    }

    @Override
    public void commit(Map<TopicPartition, Long> changelogOffsets) {
        inner.commit(changelogOffsets);
    }

    @Override
    public @Nullable Long committedOffset(TopicPartition partition) {
        return inner.committedOffset(partition);
    }

    @Override
    @SuppressWarnings("deprecation") // Kafka Streams still asks, and the inner store knows
    public boolean managesOffsets() {
        return inner.managesOffsets();
    }

    @Override
    public void close() {
        inner.close();
    }

    @Override
    public boolean persistent() {
        return inner.persistent();
    }

    @Override
    public boolean isOpen() {
        return inner.isOpen();
    }

    @Override
    public Position getPosition() {
        return inner.getPosition();
    }
}
