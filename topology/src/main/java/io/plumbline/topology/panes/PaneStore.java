package io.plumbline.topology.panes;

import io.plumbline.records.MomentTile;
import io.plumbline.wire.HeapNeeded;
import io.plumbline.wire.Printable;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
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
 * with RocksDB), plus the row sample and the request totals, both held twice in the same way.
 *
 * <p><b>Written</b> at a commit: of each pane that changed, the tiles that changed, the sampled rows that are new and
 * what was added to the totals of requests. Where m rows are offered to a sample of k rows between any two commits, all
 * n commits together write {@code k (1 + ln n)} rows and not {@code k n}: the i-th adds a share of 1/i of the rows
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
public final class PaneStore<S> implements StateStore {

    private record PaneId(String site, long startMs) {}

    private static final Logger LOG = LoggerFactory.getLogger(PaneStore.class);

    /**
     * The time after which a rolling restart is over; a pane nobody claims is deleted after one to two times as long.
     */
    public static final Duration FORGET_AFTER = Duration.ofHours(1);

    private final KeyValueStore<Bytes, byte[]> inner;
    private final SiteStateCodec<S> codec;
    private final Map<String, Integer> dimensions;
    private final int widest;
    private final int sampleRows;
    private final RequestTotalling totalling;
    private final Map<String, S> siteStates = new HashMap<>();
    private final Map<String, TreeMap<Long, Pane>> panes = new HashMap<>();
    private final Map<String, byte[]> storedAgreements = new HashMap<>();
    private final Map<String, Agreement> agreements = new HashMap<>();
    private final Set<String> dirtySites = new HashSet<>();
    private final Map<PaneId, Pane> dirtyPanes = new HashMap<>();

    /** The entries of each pane in the inner store, by the number of the part; none: the pane was never written. */
    private final Map<PaneId, Map<Integer, PartSlots>> slots = new HashMap<>();

    /** Panes of sites that are not configured, seen by the last {@link #forgetUnknown}. */
    private final Set<PaneId> unknownBefore = new HashSet<>();

    public PaneStore(
            KeyValueStore<Bytes, byte[]> inner,
            SiteStateCodec<S> codec,
            Map<String, Integer> dimensions,
            int sampleRows,
            RequestTotalling totalling) {
        this.inner = inner;
        this.codec = codec;
        this.dimensions = dimensions;
        this.widest =
                dimensions.values().stream().mapToInt(Integer::intValue).max().orElse(0);
        this.sampleRows = sampleRows;
        this.totalling = totalling;
    }

    /** The state of a site; the caller may change it and must then {@link #touch}. */
    public S site(String site) {
        return siteStates.computeIfAbsent(site, name -> codec.initial());
    }

    public Set<String> sites() {
        return dimensions.keySet();
    }

    public boolean knows(String site) {
        return dimensions.containsKey(site);
    }

    public void touch(String site) {
        dirtySites.add(site);
    }

    /**
     * The pane that starts at {@code startMs}, made when absent; marked dirty because it is asked for to be changed.
     */
    public Pane paneToChange(String site, long startMs) {
        Integer dimension = dimensions.get(site);
        if (dimension == null) {
            throw new IllegalArgumentException("site %s is not configured".formatted(site));
        }
        return openPane(new PaneId(site, startMs), dimension);
    }

    /**
     * Returns the pane that a message is for, made when absent. The tiles come before the rest of it, and say how wide
     * a site is that is not configured here.
     */
    public Pane paneToChange(String site, PaneMessage.OfPane message) {
        Pane open = panes(site).get(message.paneStartMs());
        if (open != null) {
            dirtyPanes.put(new PaneId(site, message.paneStartMs()), open);
            return open;
        }
        if (knows(site) || message.what() != Pane.MOMENT) {
            return paneToChange(site, message.paneStartMs());
        }
        int width = MomentTile.decode(ByteBuffer.wrap(message.bytes())).dimension();
        if (width > widest) {
            // A hostile width must not decide how much is allocated.
            throw new IllegalArgumentException(
                    "site %s is not configured and has %d dimensions, the widest configured site has %d"
                            .formatted(site, width, widest));
        }
        return openPane(new PaneId(site, message.paneStartMs()), width);
    }

    /** Returns what a window of a configured site collects. */
    public PaneSite knownSite(String site, long startMs) {
        return site(site, startMs, Objects.requireNonNull(dimensions.get(site), site));
    }

    private PaneSite site(String site, long startMs, int dimension) {
        return new PaneSite(site, startMs, dimension, sampleRows, totalling);
    }

    /** Returns the open panes of a site by start; a live view. */
    public SortedMap<Long, Pane> panes(String site) {
        return panes.getOrDefault(site, new TreeMap<>());
    }

    /** Forgets a pane, here and in the change-log. */
    public void remove(String site, long startMs) {
        TreeMap<Long, Pane> ofSite = panes.get(site);
        Pane pane = ofSite == null ? null : ofSite.remove(startMs);
        if (pane == null) {
            return;
        }
        PaneId id = new PaneId(site, startMs);
        dirtyPanes.remove(id);
        Map<Integer, PartSlots> written = slots.remove(id);
        if (written != null) {
            written.values().forEach(PartSlots::deleteAll);
        }
    }

    public StateSize size() {
        StateSize size = StateSize.NOTHING;
        for (TreeMap<Long, Pane> ofSite : panes.values()) {
            for (Pane pane : ofSite.values()) {
                size = size.plus(new StateSize(1, pane.bytes()));
            }
        }
        return size;
    }

    /** Writes what changed since the last call. Called from the commit hook; no input or output but the change-log. */
    public void writeDirty() {
        dirtyPanes.forEach((id, pane) -> pane.store(part -> slots(id, part)));
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

    private PartSlots slots(PaneId id, int part) {
        return slots.computeIfAbsent(id, written -> new HashMap<>())
                .computeIfAbsent(part, number -> new PartSlots(inner, id.site(), id.startMs(), (byte) part));
    }

    /**
     * Replaces the live objects by what the inner store holds, of sites not configured here too.
     *
     * @param here what this instance has agreed to, see {@link #agree}
     * @throws IllegalStateException naming the heap to give, when panes that a larger heap let wait do not fit this one
     */
    public void reset(Map<String, Agreement> here) {
        siteStates.clear();
        storedAgreements.clear();
        panes.clear();
        dirtySites.clear();
        dirtyPanes.clear();
        slots.clear();
        unknownBefore.clear();
        long read = 0;
        try (KeyValueIterator<Bytes, byte[]> all = inner.all()) {
            while (all.hasNext()) {
                KeyValue<Bytes, byte[]> entry = all.next();
                PaneKeys key = PaneKeys.decode(entry.key);
                if (key.kind() == PaneKeys.SITE) {
                    siteStates.put(key.site(), codec.decode(entry.value));
                } else if (key.kind() == PaneKeys.AGREEMENT) {
                    storedAgreements.put(key.site(), entry.value);
                } else {
                    if (key.part() == Pane.MOMENT && key.index() == 0) {
                        requireRoom(key.site(), dirtyPanes.size(), read);
                    }
                    read += entry.value.length;
                    load(key, entry.value);
                }
            }
        }
        agree(here);
        dirtyPanes.clear();
    }

    /**
     * Requires room for one more pane.
     *
     * @param panes those that were read
     * @param read their bytes; they take as many when they are open
     */
    private void requireRoom(String site, int panes, long read) {
        long pane = (long) Double.BYTES * MomentTile.stateLength(dimensions.getOrDefault(site, widest));
        if (HeapNeeded.isFree(pane + (panes + 1) * HeapNeeded.idleBeside(pane))) {
            return;
        }
        long stored = 0;
        try (KeyValueIterator<Bytes, byte[]> all = inner.all()) {
            while (all.hasNext()) {
                stored += all.next().value.length;
            }
        }
        throw new IllegalStateException(HeapNeeded.refusal(
                "what this process holds with the open panes of its state, %d MiB in store %s alone,"
                        .formatted(stored >> 20, name()),
                HeapNeeded.used() + stored - read));
    }

    /** Takes in a tile or a part. Both kinds of store hand out entries in the order of their keys: the tiles first. */
    private void load(PaneKeys key, byte[] value) {
        PaneId id = new PaneId(key.site(), key.paneStartMs());
        Pane pane = key.part() == Pane.MOMENT ? paneOfTile(id, value) : dirtyPanes.get(id);
        if (pane == null) {
            throw new IllegalStateException(("the state store holds part %d of a pane of site %s without its moment; "
                            + "reset the application's state")
                    .formatted(key.part(), key.site()));
        }
        slots(id, key.part()).found(key.index());
        pane.load(key.part(), value);
    }

    private Pane paneOfTile(PaneId id, byte[] value) {
        int width = MomentTile.decode(ByteBuffer.wrap(value)).dimension();
        Pane pane = openPane(id, dimensions.getOrDefault(id.site(), width));
        if (width != pane.moment().dimension()) {
            throw new IllegalStateException(("site %s: its open panes have %d dimensions, its explainer now writes %d; "
                            + "let them close before changing the explainer, or choose another application_id")
                    .formatted(id.site(), width, pane.moment().dimension()));
        }
        return pane;
    }

    private Pane openPane(PaneId id, int dimension) {
        Pane pane = panes.computeIfAbsent(id.site(), name -> new TreeMap<>())
                .computeIfAbsent(id.startMs(), start -> new Pane(site(id.site(), start, dimension)));
        dirtyPanes.put(id, pane);
        return pane;
    }

    /**
     * Deletes open panes of sites that are not configured and were not at the last call either. The per-site state
     * stays: a few bytes that keep a site which comes back from reopening a window it has closed.
     *
     * @return rows in the panes that were deleted, by site
     */
    public Map<String, Long> forgetUnknown() {
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
                        "the open pane of a site that is not configured any more was deleted; "
                                + "its rows are in no window: site={} pane={} rows={}",
                        Printable.value(id.site()),
                        Instant.ofEpochMilli(id.startMs()),
                        pane.rowsRead());
                forgotten.merge(id.site(), pane.rowsRead(), Long::sum);
                remove(id.site(), id.startMs());
            }
        });
        unknownBefore.clear();
        unknownBefore.addAll(unknown.keySet());
        return forgotten;
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
