package io.plumbline.topology.windows;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.MaskedRows;
import io.plumbline.moments.MomentAccumulator;
import io.plumbline.moments.RowMask;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.TotalsClaim;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.ActivationBlob;
import io.plumbline.records.ActivationRecord;
import io.plumbline.records.MomentClaim;
import io.plumbline.records.MomentRecord;
import io.plumbline.records.MomentRecordWriter;
import io.plumbline.records.MomentTile;
import io.plumbline.records.RequestRecord;
import io.plumbline.requests.RequestProjection;
import io.plumbline.requests.RequestTotal;
import io.plumbline.requests.RequestTotals;
import io.plumbline.requests.WholeRequests;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.ingest.Coverage;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.ingest.Ingested;
import io.plumbline.topology.ingest.Origin;
import io.plumbline.topology.ingest.ProducerNotes;
import io.plumbline.topology.panes.EngineRequests;
import io.plumbline.topology.panes.Pane;
import io.plumbline.topology.panes.PaneCounts;
import io.plumbline.topology.panes.PaneMessage;
import io.plumbline.topology.panes.PaneParts;
import io.plumbline.topology.panes.PaneStore;
import io.plumbline.topology.panes.RequestTotalling;
import io.plumbline.topology.panes.SiteClock;
import io.plumbline.topology.panes.WindowSettings;
import io.plumbline.wire.DType;
import io.plumbline.wire.KnownHeaders;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.Test;

/** Tests what a store of panes keeps of requests: their totals, and whole ones. */
class StoredRequestsTest extends StoredPanes {

    /**
     * Tests 120 commits of some of 30 requests, with room for 8: what is stored merges to what is live, and stays
     * small.
     */
    @Test
    void requestTotalsAreAppendedToAndWrittenAnewBeforeTheyAreMostlyHistory() {
        PaneStore<SiteClock> store = store(WIDTH);
        int most = 0;
        int times = 0;
        int before = 0;
        for (int commit = 0; commit < 120; commit++) {
            for (int record = 0; record < 3; record++) {
                add(store, "request " + (7 * commit + record) % 30, commit);
            }
            store.writeDirty();
            int stored = storedParts(PaneParts.TOTALS).values().stream()
                    .mapToInt(part -> RequestTotals.decode(part).size())
                    .sum();
            most = Math.max(most, stored);
            times += stored < before ? 1 : 0;
            before = stored;
            PaneStore<SiteClock> restored = store(WIDTH);
            restored.reset(Map.of());
            assertEquals(totals(store), totals(restored), "commit " + commit);
            assertTrue(restored.panes(SITE).get(0L).isComplete());
        }
        assertEquals(8, Panes.totals(store.panes(SITE).get(0L)).size());
        assertTrue(most > 40 && most <= 64 + 2 * 8, most + " stored requests at most");
        assertTrue(times >= 2, "written anew " + times + " times");
        store.remove(SITE, 0);
        assertEquals(0, inner.approximateNumEntries(), "nothing is left of a removed pane");
    }

    @Test
    void aCommitWritesOnlyTheRequestsThatGotRows() {
        PaneStore<SiteClock> store = store(WIDTH);
        for (int record = 0; record < 5; record++) {
            add(store, "request " + record, record);
        }
        store.writeDirty();
        add(store, "request 3", 9);
        store.writeDirty();
        Panes.count(store.paneToChange(SITE, 0), 1, MaskedRows.NONE);
        store.writeDirty();
        assertEquals(
                List.of(5, 1),
                storedParts(PaneParts.TOTALS).values().stream()
                        .map(part -> RequestTotals.decode(part).size())
                        .toList());
    }

    /** A restored pane goes on where the other instance stopped, and no record is totalled twice. */
    @Test
    void aRestoredPaneAddsToTheTotalsThatAreStored() {
        PaneStore<SiteClock> first = store(WIDTH);
        PaneStore<SiteClock> second = store(WIDTH);
        PaneStore<SiteClock> truth = new PaneStore<>(
                Stores.inMemoryKeyValueStore("truth").get(), SiteClock.CODEC, Map.of(SITE, WIDTH), CAPACITY, TOTALLING);
        for (int commit = 0; commit < 12; commit++) {
            PaneStore<SiteClock> owner = commit % 2 == 0 ? first : second;
            owner.reset(Map.of());
            add(owner, "request " + commit % 5, commit);
            add(truth, "request " + commit % 5, commit);
            owner.writeDirty();
            // Read and not committed: whoever reads it again counts it.
            add(owner, "request " + commit % 5, commit);
        }
        first.reset(Map.of());
        assertEquals(totals(truth), totals(first));
    }

    /** Tests moments of two of their three requests, between rows, read back after each record. */
    @Test
    void totalsOfMomentsAndTheirLimitAreReadBack() {
        PaneStore<SiteClock> store = store(WIDTH);
        for (int record = 0; record < 20; record++) {
            if (record % 3 == 1) {
                store.paneToChange(SITE, 0).add(moment(record), 0);
            } else {
                add(store, "request " + record, record);
            }
            store.writeDirty();
            PaneStore<SiteClock> restored = store(WIDTH);
            restored.reset(Map.of());
            RequestTotals live = Panes.totals(store.panes(SITE).get(0L));
            RequestTotals read = Panes.totals(restored.panes(SITE).get(0L));
            assertEquals(live.totals(), read.totals(), "record " + record);
            assertEquals(live.recordsNotKept(), read.recordsNotKept());
            for (long request = 0; request < 100; request++) {
                assertEquals(live.keeps(request), read.keeps(request), "request " + request);
            }
        }
        Pane pane = store.panes(SITE).get(0L);
        assertEquals(pane.counted().requests(), Panes.totals(pane).records());
    }

    private static Ingested moment(int seed) {
        List<byte[]> value = new ArrayList<>();
        try (MomentAccumulator accumulator = MomentAccumulator.of(
                new MomentAccumulator.Settings(WIDTH, null, RowMask.NONE, 10_000, 0, 4, DType.F64, Long.MAX_VALUE, 2),
                (time, blob, headers) -> value.add(blob))) {
            for (int request = 0; request < 3; request++) {
                Matrix rows = ActivationRecords.integerRows(seed + request, 3, WIDTH);
                accumulator.add(new ActivationBatch(rows, null, null), "request " + (seed + request), 0);
            }
        }
        MomentRecord record = (MomentRecord) ActivationRecord.parse(value.get(0), new KnownHeaders());
        return new Ingested.Moment(SITE, null, ProducerNotes.NONE, record);
    }

    /** Tests as many rows of zeros as moments claim, by one partition, and by three of them at level 2. */
    @Test
    void aPaneCountsATrillionRowsOfEachPartitionAndIsReadBack() {
        PaneStore<SiteClock> store = store(WIDTH);
        Duration size = Duration.ofMillis(PANE_MS);
        PaneAdmission admission =
                new PaneAdmission(new WindowSettings(size, size, Duration.ZERO, null, null), store, Integer.MAX_VALUE);
        Ingested most = momentOfMostRows();
        Pane pane = store.paneToChange(SITE, 0);
        for (long rows = 0; rows < PaneCounts.MOST; rows += most.rows()) {
            assertNull(admission.refusal(most, 0));
            pane.add(most, 0);
        }
        DeadLetter refusal = Objects.requireNonNull(admission.refusal(most, 0));
        assertEquals(DeadLetter.Reason.IMPOSSIBLE_MOMENT, refusal.reason());
        assertTrue(refusal.message().contains("more than 1099511627776 of this partition"), refusal.message());
        assertRestored(store, PaneCounts.MOST);
        List<PaneMessage.OfPane> sent = new ArrayList<>();
        pane.send((what, rows, messages, bytes) ->
                sent.add(new PaneMessage.OfPane(0, 0, PANE_MS, what, rows, messages, bytes)));
        store.remove(SITE, 0);
        for (int partition = 0; partition < 3; partition++) {
            sent.forEach(message ->
                    store.paneToChange(SITE, message).take(message.what(), message.messages(), message.bytes()));
        }
        assertRestored(store, 3 * PaneCounts.MOST);
    }

    private void assertRestored(PaneStore<SiteClock> store, long rows) {
        store.writeDirty();
        PaneStore<SiteClock> restored = store(WIDTH);
        restored.reset(Map.of());
        Pane pane = restored.panes(SITE).get(0L);
        assertEquals(rows, pane.rowsRead());
        assertEquals(rows, pane.counted().requests());
        assertEquals(rows, Panes.totals(pane).totals().get(0).rows());
        assertTrue(pane.isComplete());
    }

    private static Ingested momentOfMostRows() {
        int rows = MomentRecord.MOST_ROWS;
        byte[] value = MomentRecordWriter.of(
                        new MomentRecord.Counts(rows, rows, 0, 0),
                        new MomentRecord.Pane(0, PANE_MS),
                        WIDTH,
                        new double[MomentTile.stateLength(WIDTH)],
                        DType.F64,
                        0.0)
                .sample(new long[] {1}, new long[] {2}, new long[] {0}, List.of(new float[WIDTH]), null)
                .totals(new long[] {2}, new long[] {rows}, new long[] {rows}, List.of("a"), List.of(new double[WIDTH]))
                .toBytes();
        MomentRecord record = (MomentRecord) ActivationRecord.parse(value, new KnownHeaders());
        assertNull(MomentClaim.fault(record));
        assertNull(TotalsClaim.fault(record));
        return new Ingested.Moment(SITE, null, ProducerNotes.NONE, record);
    }

    @Test
    void messagesThatDidNotComeAreMissedAfterARestartToo() {
        PaneStore<SiteClock> store = store(WIDTH);
        add(store, "request", 1);
        MomentTile tile = MomentTile.cut(WIDTH, 0, new double[20]).get(0);
        store.paneToChange(SITE, 0).take(Pane.MOMENT, 2, tile.encode());
        store.writeDirty();
        PaneStore<SiteClock> restored = store(WIDTH);
        restored.reset(Map.of());
        Pane pane = restored.panes(SITE).get(0L);
        assertFalse(pane.isComplete());
        RequestTotals late = RequestTotals.ofCapacity(PROJECTION.id(), 8);
        late.add(5, null, 1, new double[PROJECTION.components()]);
        late.encode(1_000).forEach(part -> pane.take(PaneParts.TOTALS.number(), 0, part));
        assertTrue(pane.isComplete());
    }

    /** An instance with a new baseline takes over: what the old one began is not mixed with other sums. */
    @Test
    void aPaneKeepsTheProjectionItBeganWith() {
        PaneStore<SiteClock> old = store(WIDTH);
        add(old, "request", 1);
        old.writeDirty();
        RequestProjection other = RequestProjection.of(ActivationRecords.integerRows(78, 2, WIDTH));
        PaneStore<SiteClock> next = new PaneStore<>(
                inner, SiteClock.CODEC, Map.of(SITE, WIDTH), CAPACITY, new RequestTotalling(Map.of(SITE, other), 8));
        next.reset(Map.of());
        List<RequestTotal> before = totals(next);
        add(next, "request", 2);
        assertEquals(before, totals(next));
        assertEquals(2, next.panes(SITE).get(0L).counted().requests());
        RequestTotals theirs = RequestTotals.ofCapacity(other.id(), 8);
        theirs.add(5, null, 1, new double[2]);
        Panes.take(next.panes(SITE).get(0L), PaneParts.TOTALS, theirs.encode(1_000));
        assertEquals(before, totals(next));
        assertTrue(next.panes(SITE).get(0L).isComplete(), "it came, though it was not added");
    }

    /** Tests 40 commits of new requests, and some come twice: what is stored merges to what is live. */
    @Test
    void wholeRequestsAreAppendedToAndReadBack() {
        RequestTotalling keeping = new RequestTotalling(Map.of(), 8).keeping(Map.of(SITE, 3));
        PaneStore<SiteClock> store = new PaneStore<>(inner, SiteClock.CODEC, Map.of(SITE, WIDTH), CAPACITY, keeping);
        for (int commit = 0; commit < 40; commit++) {
            byte[] rows = ActivationRecords.blob(ActivationRecords.integerRows(commit, 6, WIDTH));
            store.paneToChange(SITE, 0)
                    .add(
                            new Ingested.Rows(
                                    SITE,
                                    null,
                                    ProducerNotes.NONE,
                                    commit,
                                    new Ingested.Request(RowSample.requestHash("request " + commit % 35), null),
                                    new RowMask.Kept<>(ActivationBlob.parse(rows, new KnownHeaders()), MaskedRows.NONE),
                                    RequestRecord.parse(rows, new KnownHeaders(), null)),
                            commit);
            store.writeDirty();
            PaneStore<SiteClock> restored =
                    new PaneStore<>(inner, SiteClock.CODEC, Map.of(SITE, WIDTH), CAPACITY, keeping);
            restored.reset(Map.of());
            WholeRequests live = whole(store);
            WholeRequests read = whole(restored);
            assertEquals(live.split(), read.split());
            assertEquals(live.requests().size(), read.requests().size());
            for (int i = 0; i < live.requests().size(); i++) {
                assertArrayEquals(live.requests().get(i), read.requests().get(i));
            }
        }
        assertEquals(3, whole(store).requests().size() + whole(store).split());
        store.remove(SITE, 0);
        assertEquals(0, inner.approximateNumEntries(), "nothing is left of a removed pane");
    }

    /** Tests 40 commits of requests of two engines: what is stored merges to what is live. */
    @Test
    void requestsOfEnginesAreAppendedToAndReadBack() {
        RequestTotalling comparing = new RequestTotalling(Map.of(), 8).comparing(Map.of(SITE, "engine"));
        PaneStore<SiteClock> store = new PaneStore<>(inner, SiteClock.CODEC, Map.of(SITE, WIDTH), CAPACITY, comparing);
        for (int commit = 0; commit < 40; commit++) {
            byte[] rows = ActivationRecords.blob(ActivationRecords.integerRows(commit, 6, WIDTH));
            store.paneToChange(SITE, 0)
                    .add(
                            new Ingested.Rows(
                                    SITE,
                                    null,
                                    new ProducerNotes(
                                            Coverage.UNKNOWN, Origin.of(Map.of("engine", commit % 2 == 0 ? "a" : "b"))),
                                    commit,
                                    new Ingested.Request(RowSample.requestHash("request " + commit / 2), null),
                                    new RowMask.Kept<>(ActivationBlob.parse(rows, new KnownHeaders()), MaskedRows.NONE),
                                    null),
                            commit);
            store.writeDirty();
            PaneStore<SiteClock> restored =
                    new PaneStore<>(inner, SiteClock.CODEC, Map.of(SITE, WIDTH), CAPACITY, comparing);
            restored.reset(Map.of());
            assertEquals(engines(store).kept(), engines(restored).kept());
        }
        assertEquals(
                List.of(20, 20),
                engines(store).kept().values().stream().map(List::size).toList());
        store.remove(SITE, 0);
        assertEquals(0, inner.approximateNumEntries(), "nothing is left of a removed pane");
    }

    private static EngineRequests engines(PaneStore<SiteClock> store) {
        return Objects.requireNonNull(store.panes(SITE).get(0L).value(PaneParts.ENGINES));
    }

    private static WholeRequests whole(PaneStore<SiteClock> store) {
        return Objects.requireNonNull(store.panes(SITE).get(0L).value(PaneParts.WHOLE));
    }

    private static void add(PaneStore<SiteClock> store, String request, int record) {
        ActivationBlob rows = ActivationRecords.undecoded(ActivationRecords.integerRows(record, 2, WIDTH));
        store.paneToChange(SITE, 0)
                .add(
                        Panes.rows(SITE, new Ingested.Request(RowSample.requestHash(request), request), rows, record),
                        record);
    }

    private static List<RequestTotal> totals(PaneStore<SiteClock> store) {
        return Panes.totals(store.panes(SITE).get(0L)).totals();
    }
}
