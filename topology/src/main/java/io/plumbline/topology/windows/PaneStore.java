package io.plumbline.topology.windows;

import io.plumbline.moments.MaskedRows;
import io.plumbline.wire.MomentTile;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds the open panes and the small per-site state of one task: live objects in memory, written to a change-logged
 * key-value store when {@link #writeDirty} is called from the {@link CommitHook}.
 *
 * <p>Registration, change-log and restoration are those of the inner store, which is Kafka's own. {@link #reset} reads
 * the live objects back and must be called from {@code Processor.init}: a store object outlives a change of role, and
 * restoration writes past the live objects.
 *
 * <p><b>Memory</b> per pane: {@code 4 d (d + 3)} bytes live and once more as tiles in an in-memory inner store (not
 * with RocksDB), plus the row sample and the request totals, likewise.
 *
 * <p><b>Written</b> at a commit: of each pane that changed, the tiles that changed, the sampled rows that are new and
 * what was added to the totals of requests. Of a sample of k rows of which m rows each were offered between commits,
 * all n commits together write {@code k (1 + ln n)} rows and not {@code k n}: the i-th adds a share of 1/i of the rows
 * seen. Stored rows that have left the sample do no harm when read back; when they are most of what is stored the
 * sample is written anew.
 *
 * <p><b>Sites that are not configured here</b> are kept all the same: in a rolling restart instances with an older and
 * a newer configuration pass tasks to each other. What nobody claims is forgotten by {@link #forgetUnknown}.
 *
 * <p>Not thread-safe; its stream task is the only user.
 *
 * @param <S> the per-site state
 */
final class PaneStore<S> implements StateStore {

    private record PaneId(String site, long startMs) {}

    private static final Logger LOG = LoggerFactory.getLogger(PaneStore.class);

    /**
     * The time after which a rolling restart is over; a pane nobody claims is deleted after one to two times as long.
     */
    static final Duration FORGET_AFTER = Duration.ofHours(1);

    private final KeyValueStore<Bytes, byte[]> inner;
    private final SiteStateCodec<S> codec;
    private final Map<String, Integer> dimensions;
    private final int widest;
    private final long paneMs;
    private final int sampleCapacity;
    private final RequestTotalling totalling;
    private final Map<String, S> siteStates = new HashMap<>();
    private final Map<String, TreeMap<Long, Pane>> panes = new HashMap<>();
    private final Map<String, byte[]> storedAgreements = new HashMap<>();
    private final Map<String, Agreement> agreements = new HashMap<>();
    private final Set<String> dirtySites = new HashSet<>();
    private final Map<PaneId, Pane> dirtyPanes = new HashMap<>();

    /** The parts of a pane that the inner store holds beside its tiles; no entry: the pane was never written. */
    private final Map<PaneId, PaneParts> storedParts = new HashMap<>();

    /** Panes of sites that are not configured, seen by the last {@link #forgetUnknown}. */
    private final Set<PaneId> unknownBefore = new HashSet<>();

    PaneStore(
            KeyValueStore<Bytes, byte[]> inner,
            SiteStateCodec<S> codec,
            Map<String, Integer> dimensions,
            long paneMs,
            int sampleCapacity,
            RequestTotalling totalling) {
        this.inner = inner;
        this.codec = codec;
        this.dimensions = dimensions;
        this.widest =
                dimensions.values().stream().mapToInt(Integer::intValue).max().orElse(0);
        this.paneMs = paneMs;
        this.sampleCapacity = sampleCapacity;
        this.totalling = totalling;
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

    /**
     * The pane that starts at {@code startMs}, made when absent; marked dirty because it is asked for to be changed.
     */
    Pane paneToChange(String site, long startMs) {
        Integer dimension = dimensions.get(site);
        if (dimension == null) {
            throw new IllegalArgumentException("site %s is not configured".formatted(site));
        }
        return paneToChange(site, startMs, dimension);
    }

    /** Returns a pane to change, of the width that the site's tiles say where the site is not configured here. */
    Pane paneToChange(String site, long startMs, int width) {
        int dimension = dimensions.getOrDefault(site, width);
        if (!knows(site) && dimension > widest) {
            // A hostile width must not decide how much is allocated.
            throw new IllegalArgumentException(
                    "site %s is not configured and has %d dimensions, the widest configured site has %d"
                            .formatted(site, dimension, widest));
        }
        return openPane(new PaneId(site, startMs), dimension);
    }

    /** Returns the target width of a configured site. */
    int dimension(String site) {
        return Objects.requireNonNull(dimensions.get(site), site);
    }

    int sampleCapacity() {
        return sampleCapacity;
    }

    RequestTotalling totalling() {
        return totalling;
    }

    /** Returns the open panes of a site by start; a live view. */
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
        PaneParts parts = storedParts.remove(id);
        if (parts == null) {
            return; // never written
        }
        inner.delete(PaneKeys.pane(site, startMs, PaneKeys.COUNTS, 0));
        for (int tile = 0; tile < MomentTile.tilesOf(pane.moment().dimension()); tile++) {
            inner.delete(PaneKeys.pane(site, startMs, PaneKeys.TILE, tile));
        }
        parts.delete();
    }

    StateSize size() {
        StateSize size = StateSize.NOTHING;
        for (TreeMap<Long, Pane> ofSite : panes.values()) {
            for (Pane pane : ofSite.values()) {
                size = size.plus(new StateSize(1, pane.bytes()));
            }
        }
        return size;
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
                            .putLong(pane.masked().byToken())
                            .putLong(pane.masked().byNorm())
                            .putLong(pane.requestTotals().sent())
                            .putLong(pane.requestTotals().arrived())
                            .putLong(pane.records())
                            .putLong(pane.momentRecords())
                            .array());
            for (int index : pane.changedTiles()) {
                inner.put(PaneKeys.pane(id.site(), id.startMs(), PaneKeys.TILE, index), pane.encodedTile(index));
            }
            partsOf(id).write(pane);
            pane.stored();
        }
        for (String site : dirtySites) {
            inner.put(PaneKeys.site(site), codec.encode(site(site)));
            writeAgreement(site);
        }
        dirtyPanes.clear();
        dirtySites.clear();
    }

    private void writeAgreement(String site) {
        Agreement here = agreements.get(site);
        byte[] bytes = here == null ? null : here.encode();
        if (bytes != null && !Arrays.equals(bytes, storedAgreements.get(site))) {
            inner.put(PaneKeys.agreement(site), bytes);
            storedAgreements.put(site, bytes);
        }
    }

    /**
     * Requires that what is open was made under these agreements, and stores them with what the sites become.
     *
     * @throws IllegalStateException when something was made under another one and may go on
     */
    void agree(Map<String, Agreement> here) {
        here.forEach((site, ours) -> {
            byte[] stored = storedAgreements.get(site);
            if (stored != null
                    && !Arrays.equals(stored, ours.encode())
                    && !(panes(site).isEmpty() && codec.isSilent(site(site)))) {
                throw Agreement.decode(stored).refusal(site, "what the state holds of it", ours);
            }
        });
        agreements.clear();
        agreements.putAll(here);
    }

    private PaneParts partsOf(PaneId id) {
        return storedParts.computeIfAbsent(id, name -> new PaneParts(inner, name.site(), name.startMs()));
    }

    /**
     * The bytes of a pane's counts: requests, length and masked rows, the records that were sent in request totals and
     * that arrived, and how many records and moments were added.
     */
    private static final int COUNTS_BYTES = 8 * Long.BYTES;

    /**
     * Replaces the live objects by what the inner store holds, of sites not configured here too.
     *
     * @param here what this instance has agreed to, see {@link #agree}
     */
    void reset(Map<String, Agreement> here) {
        siteStates.clear();
        storedAgreements.clear();
        panes.clear();
        dirtySites.clear();
        dirtyPanes.clear();
        storedParts.clear();
        unknownBefore.clear();
        Map<PaneId, byte[]> counts = new HashMap<>();
        Map<PaneId, Integer> partRows = new HashMap<>();
        try (KeyValueIterator<Bytes, byte[]> all = inner.all()) {
            while (all.hasNext()) {
                KeyValue<Bytes, byte[]> entry = all.next();
                PaneKeys key = PaneKeys.decode(entry.key);
                PaneId id = new PaneId(key.site(), key.paneStartMs());
                if (key.kind() == PaneKeys.SITE) {
                    siteStates.put(key.site(), codec.decode(entry.value));
                } else if (key.kind() == PaneKeys.AGREEMENT) {
                    storedAgreements.put(key.site(), entry.value);
                } else if (key.part() == PaneKeys.COUNTS) {
                    counts.put(id, entry.value); // says no width, so it cannot make a pane
                } else {
                    partRows.merge(id, load(id, key, entry.value), Integer::sum);
                }
            }
        }
        // Before the lengths of panes are compared: it names the keys that differ.
        agree(here);
        dirtyPanes.forEach((id, pane) -> {
            pane.loaded(partRows.getOrDefault(id, 0));
            ByteBuffer stored = ByteBuffer.wrap(requireCounts(counts.get(id)));
            pane.addRequests(stored.getLong());
            requireSamePaneLength(id.site(), stored.getLong());
            pane.addMasked(new MaskedRows(stored.getLong(), stored.getLong()));
            pane.requestTotals().loaded(stored.getLong(), stored.getLong());
            pane.addRecords(stored.getLong());
            pane.addMomentRecords(stored.getLong());
        });
        dirtyPanes.clear();
    }

    private static byte[] requireCounts(byte @Nullable [] value) {
        byte[] counts = value == null ? new byte[0] : value;
        StateVersion.requireLength("request count", COUNTS_BYTES, counts);
        return counts;
    }

    /**
     * Takes in a tile, or a part of the sample, of request totals, of whole requests, of record ids or of notes.
     * Returns how many sampled rows it holds.
     */
    private int load(PaneId id, PaneKeys key, byte[] value) {
        PaneParts parts = partsOf(id);
        switch (key.part()) {
            case PaneKeys.TILE -> {
                MomentTile tile = MomentTile.decode(ByteBuffer.wrap(value));
                Pane pane = openPane(id, tile.dimension());
                if (tile.dimension() != pane.moment().dimension()) {
                    throw new IllegalStateException(
                            "site %s: its open panes have %d dimensions, its explainer now writes %d; let them close before changing the explainer, or choose another application_id"
                                    .formatted(
                                            key.site(),
                                            tile.dimension(),
                                            pane.moment().dimension()));
                }
                pane.addTile(tile);
                return 0;
            }
            case PaneKeys.SAMPLE, PaneKeys.TOTALS, PaneKeys.IDS, PaneKeys.NOTES, PaneKeys.WHOLE -> {
                // Both kinds of store hand out entries in the order of their keys: the tiles came before.
                Pane pane = dirtyPanes.get(id);
                if (pane == null) {
                    throw new IllegalStateException(
                            "the state store holds a row sample, request totals, whole requests, record ids or notes of site %s without its moment; reset the application's state"
                                    .formatted(key.site()));
                }
                parts.found(key.part(), key.index());
                if (key.part() == PaneKeys.SAMPLE) {
                    return pane.addSamplePart(value);
                }
                if (key.part() == PaneKeys.TOTALS) {
                    pane.requestTotals().load(value);
                } else if (key.part() == PaneKeys.IDS) {
                    pane.ids().load(value);
                } else if (key.part() == PaneKeys.WHOLE) {
                    pane.whole().load(value);
                } else {
                    pane.notes().load(value);
                }
                return 0;
            }
            default -> throw new IllegalStateException("pane part of unknown kind " + key.part());
        }
    }

    /** Returns the open pane, a new one where there is none. Its width was accepted before and is not refused here. */
    private Pane openPane(PaneId id, int width) {
        int dimension = dimensions.getOrDefault(id.site(), width);
        Pane pane = panes.computeIfAbsent(id.site(), name -> new TreeMap<>())
                .computeIfAbsent(
                        id.startMs(),
                        start -> new Pane(
                                dimension,
                                sampleCapacity,
                                new PaneRequests(totalling.projections().get(id.site()), totalling.capacity()),
                                new PaneWhole(totalling.whole().getOrDefault(id.site(), 0))));
        dirtyPanes.put(id, pane);
        return pane;
    }

    /**
     * Deletes open panes of sites that are not configured and were not at the last call either. The per-site state
     * stays: a few bytes that keep a site which comes back from reopening a window it has closed.
     *
     * @return rows in the panes that were deleted, by site
     */
    Map<String, Long> forgetUnknown() {
        Map<String, Long> forgotten = new HashMap<>();
        Map<PaneId, Pane> unknown = new HashMap<>();
        panes.forEach((site, ofSite) -> {
            if (!knows(site)) {
                ofSite.forEach((startMs, pane) -> unknown.put(new PaneId(site, startMs), pane));
            }
        });
        unknown.forEach((id, pane) -> {
            if (unknownBefore.contains(id)) {
                LOG.warn(
                        "site {} is not configured any more: its open pane from {} ms was deleted from the state,"
                                + " with {} rows that are in no window",
                        id.site(),
                        id.startMs(),
                        pane.rowsRead());
                forgotten.merge(id.site(), pane.rowsRead(), Long::sum);
                remove(id.site(), id.startMs());
            }
        });
        unknownBefore.clear();
        unknownBefore.addAll(unknown.keySet());
        return forgotten;
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
