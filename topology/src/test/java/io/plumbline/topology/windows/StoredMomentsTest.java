package io.plumbline.topology.windows;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.MaskedRows;
import io.plumbline.moments.MomentAccumulator;
import io.plumbline.moments.RowMask;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.ActivationRecord;
import io.plumbline.records.MomentRecord;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.ingest.Coverage;
import io.plumbline.topology.ingest.Ingested;
import io.plumbline.topology.ingest.Origin;
import io.plumbline.topology.ingest.ProducerNotes;
import io.plumbline.topology.panes.Pane;
import io.plumbline.topology.panes.PaneKeys;
import io.plumbline.topology.panes.PaneParts;
import io.plumbline.topology.panes.PaneStore;
import io.plumbline.topology.panes.PartKind;
import io.plumbline.topology.panes.RecordIds;
import io.plumbline.topology.panes.RequestTotalling;
import io.plumbline.topology.panes.SiteClock;
import io.plumbline.topology.panes.WindowNotes;
import io.plumbline.wire.DType;
import io.plumbline.wire.KnownHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests moments and record ids of open panes, stored and read back. */
class StoredMomentsTest {

    private static final String SITE = "blocks.7";
    private static final int WIDTH = 5;
    private static final long PANE_MS = 10_000;

    private final KeyValueStore<Bytes, byte[]> inner =
            Stores.inMemoryKeyValueStore("panes").get();

    @Test
    void aMomentAndTheLimitOfItsSampleAreReadBack() {
        PaneStore<SiteClock> store = store();
        Pane pane = store.paneToChange(SITE, 0);
        pane.add(rows(1, 12), 0);
        store.writeDirty();
        store.paneToChange(SITE, 0).add(moment(2, 30, 4), 0);
        store.writeDirty();
        assertTrue(Panes.sample(pane).isLimited());
        Pane restored = restored();
        assertArrayEquals(pane.moment().state(), restored.moment().state());
        assertArrayEquals(Panes.sample(pane).hashes(), Panes.sample(restored).hashes());
        assertTrue(Panes.sample(restored).isLimited());
        assertEquals(Panes.sample(pane).threshold(), Panes.sample(restored).threshold());
        assertEquals(42, restored.rows());
        assertEquals(2, restored.counted().requests());
        assertEquals(2, restored.counted().records());
        assertEquals(1, restored.counted().momentRecords());
    }

    /** Tests two panes that both end in the same place: the second is stored and read back after each record. */
    @Test
    void aPaneThatIsReadBackAfterEveryRecordIsTheSame() {
        Pane whole = Panes.of(WIDTH, 16);
        for (int record = 0; record < 40; record++) {
            Ingested next = record % 3 == 0 ? moment(record, 20, 6) : rows(record, 5);
            whole.add(next, 0);
            PaneStore<SiteClock> store = store();
            store.reset(Map.of());
            store.paneToChange(SITE, 0).add(next, 0);
            store.writeDirty();
        }
        assertArrayEquals(whole.moment().state(), restored().moment().state());
        assertArrayEquals(Panes.sample(whole).hashes(), Panes.sample(restored()).hashes());
    }

    @Test
    void recordIdsAreReadBackAndDeletedWithTheirPane() {
        int ids = 2 * RecordIds.IDS_PER_PART + 10;
        PaneStore<SiteClock> store = store();
        for (int i = 0; i < ids; i++) {
            store.paneToChange(SITE, 0).add(named(i), 0);
            if (i % 1_000 == 7) {
                store.writeDirty();
            }
        }
        store.writeDirty();
        assertEquals(3, entries(PaneParts.IDS));
        Pane restored = restored();
        for (int i = 0; i < ids; i++) {
            assertTrue(restored.remembers((long) i), "id " + i);
        }
        assertFalse(restored.remembers((long) ids));
        assertFalse(restored.remembers(null));
        PaneStore<SiteClock> again = store();
        again.reset(Map.of());
        again.paneToChange(SITE, 0).add(named(ids), 0);
        again.writeDirty();
        assertTrue(restored().remembers((long) ids));
        again.remove(SITE, 0);
        assertEquals(0, entries(PaneParts.IDS));
    }

    @Test
    void notesAreReadBackAndDeletedWithTheirPane() {
        PaneStore<SiteClock> store = store();
        store.paneToChange(SITE, 0).add(rows(1, 2), 0);
        store.writeDirty();
        assertEquals(0, entries(PaneParts.NOTES), "nothing was said");
        for (int record = 0; record < 200; record++) {
            store.paneToChange(SITE, 0).add(said(record), 0);
            if (record % 2 == 1) {
                store.writeDirty();
                assertTrue(entries(PaneParts.NOTES) <= 64, "increments do not pile up");
            }
        }
        WindowNotes restored = notes(restored());
        assertEquals(new Coverage(1_000, 200, 800, 0, 0), restored.coverage());
        assertEquals(2, restored.origins().size());
        assertEquals("0", restored.originOf(198).value("tenant"));
        assertEquals("1", restored.originOf(199).value("tenant"));
        PaneStore<SiteClock> again = store();
        again.reset(Map.of());
        again.paneToChange(SITE, 0).add(said(200), 0);
        again.writeDirty();
        assertEquals(201, notes(restored()).coverage().delivered());
        again.remove(SITE, 0);
        assertEquals(0, entries(PaneParts.NOTES));
    }

    @Test
    void anAnnouncementCountsTokensAndIsOfNoRequest() {
        Pane pane = Panes.of(WIDTH, 16);
        ProducerNotes notes = new ProducerNotes(new Coverage(5, 0, 0, 0, 0), Origin.of(Map.of("tenant", "acme")));
        pane.add(new Ingested.Announcement(SITE, 7L, notes), 0);
        assertEquals(5, notes(pane).coverage().served());
        assertEquals(Origin.UNSAID, notes(pane).originOf(0));
        assertTrue(pane.remembers(7L));
        assertEquals(0, pane.rowsRead());
        assertEquals(1, pane.counted().records());
        assertEquals(0, pane.counted().requests());
    }

    private static WindowNotes notes(Pane pane) {
        return Objects.requireNonNull(pane.value(PaneParts.NOTES));
    }

    private static Ingested said(int record) {
        Matrix values = ActivationRecords.integerRows(record, 1, WIDTH);
        ProducerNotes notes = new ProducerNotes(
                new Coverage(5, 1, 4, 0, 0), Origin.of(Map.of("tenant", Integer.toString(record % 2))));
        return record(record, record, null, notes, values);
    }

    private Pane restored() {
        PaneStore<SiteClock> store = store();
        store.reset(Map.of());
        return store.panes(SITE).get(0L);
    }

    private PaneStore<SiteClock> store() {
        return new PaneStore<>(inner, SiteClock.CODEC, Map.of(SITE, WIDTH), 16, RequestTotalling.NONE);
    }

    private int entries(PartKind<?> kind) {
        int count = 0;
        try (KeyValueIterator<Bytes, byte[]> all = inner.all()) {
            while (all.hasNext()) {
                PaneKeys key = PaneKeys.decode(all.next().key);
                count += key.kind() == PaneKeys.PANE && key.part() == kind.number() ? 1 : 0;
            }
        }
        return count;
    }

    private static Ingested rows(int seed, int count) {
        Matrix values = ActivationRecords.integerRows(seed, count, WIDTH);
        return Panes.rows(SITE, seed, ActivationRecords.undecoded(values), seed);
    }

    private static Ingested named(int id) {
        Matrix values = ActivationRecords.integerRows(1, 1, WIDTH);
        return record(1, id, Long.valueOf(id), ProducerNotes.NONE, values);
    }

    private static Ingested record(long request, long record, @Nullable Long id, ProducerNotes notes, Matrix values) {
        return new Ingested.Rows(
                SITE,
                id,
                notes,
                record,
                new Ingested.Request(request, null),
                new RowMask.Kept<>(ActivationRecords.undecoded(values), MaskedRows.NONE),
                null);
    }

    private static Ingested moment(int seed, int count, int sampleRows) {
        List<byte[]> value = new ArrayList<>();
        try (MomentAccumulator accumulator = MomentAccumulator.of(
                new MomentAccumulator.Settings(
                        WIDTH, null, RowMask.NONE, PANE_MS, 0, sampleRows, DType.F64, Long.MAX_VALUE),
                (time, blob, headers) -> value.add(blob))) {
            Matrix values = ActivationRecords.integerRows(seed, count, WIDTH);
            accumulator.add(new ActivationBatch(values, null, null), null, 0);
        }
        MomentRecord record = (MomentRecord) ActivationRecord.parse(value.get(0), new KnownHeaders());
        return new Ingested.Moment(SITE, null, ProducerNotes.NONE, record);
    }
}
