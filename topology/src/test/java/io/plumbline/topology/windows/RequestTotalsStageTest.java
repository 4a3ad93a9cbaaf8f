package io.plumbline.topology.windows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.MaskRules;
import io.plumbline.moments.RowMask;
import io.plumbline.moments.RowSample;
import io.plumbline.records.MomentTile;
import io.plumbline.requests.RequestProjection;
import io.plumbline.requests.RequestTotal;
import io.plumbline.requests.RequestTotals;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.ingest.Ingested;
import io.plumbline.topology.panes.Pane;
import io.plumbline.topology.panes.PaneKeys;
import io.plumbline.topology.panes.PaneMessage;
import io.plumbline.topology.panes.PaneParts;
import io.plumbline.topology.panes.PaneSite;
import io.plumbline.topology.panes.PartSlots;
import io.plumbline.topology.panes.RequestTotalling;
import io.plumbline.topology.panes.TotalsPart;
import io.plumbline.topology.panes.WindowSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares totals of requests on their way through both levels with one computed from the rows that were sent. */
class RequestTotalsStageTest {

    private static final long T0 = 1_700_000_000_000L / 60_000 * 60_000;
    private static final String SITE = WindowPipeline.SITE;
    private static final WindowSettings TUMBLING = settings(10, 10);

    @TempDir
    private Path folder;

    @Nullable
    private WindowPipeline pipeline;

    private record Sent(
            long timestampMs, long request, @Nullable String name, Matrix rows) {}

    private final List<Sent> sent = new ArrayList<>();

    @AfterEach
    void close() {
        if (pipeline != null) {
            pipeline.close();
        }
    }

    /** Tests 12 requests with records in every partition; 6 requests are kept. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5})
    void totalsOfAWindowAreThoseOfItsRowsOverAnyNumberOfPartitions(int partitions) {
        WindowPipeline open = start(TUMBLING, partitions, RowMask.NONE);
        SplittableRandom random = new SplittableRandom(4);
        for (int record = 0; record < 120; record++) {
            String name = record % 10 == 9 ? null : "request " + record % 12;
            send(open, random.nextInt(partitions), name, record, T0 + 250L * record);
            if (record % 17 == 0) {
                open.deliver(random.nextInt(partitions));
            }
        }
        closeAll(open, partitions, T0 + 60_000);
        assertEquals(3, open.windows.size());
        open.windows.forEach(this::assertTotals);
    }

    /** A request lasts longer than a pane and is in several windows. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aRequestThatSpansPanesOfAHoppingWindowIsJoined(int partitions) {
        WindowPipeline open = start(settings(12, 3), partitions, RowMask.NONE);
        for (int record = 0; record < 96; record++) {
            send(open, record % partitions, "request " + record / 20, record, T0 + 500L * record);
        }
        closeAll(open, partitions, T0 + 120_000);
        List<ClosedWindow> full = open.windows.stream()
                .filter(window -> window.startMs() >= T0 && window.endMs() <= T0 + 48_000)
                .toList();
        assertTrue(full.size() >= 12, full.size() + " windows");
        full.forEach(this::assertTotals);
    }

    @Test
    void maskedRowsAreInNoTotal() {
        RowMask mask = RowMask.of(new MaskRules(List.of(1L), null), null);
        WindowPipeline open = start(TUMBLING, 1, mask);
        Matrix rows = ActivationRecords.integerRows(5, 4, WindowPipeline.WIDTH);
        open.read(SITE, "half", 0, ActivationRecords.blob(rows, 1, 7, 1, 8), T0);
        open.read(SITE, "none", 0, ActivationRecords.blob(rows, 1, 1, 1, 1), T0);
        Matrix kept = Matrix.zeros(2, WindowPipeline.WIDTH);
        System.arraycopy(rows.values(), WindowPipeline.WIDTH, kept.values(), 0, WindowPipeline.WIDTH);
        System.arraycopy(
                rows.values(), 3 * WindowPipeline.WIDTH, kept.values(), WindowPipeline.WIDTH, WindowPipeline.WIDTH);
        sent.add(new Sent(T0, RowSample.requestHash("half"), "half", kept));
        open.read(SITE, 0, ActivationRecords.blob(rows, 7, 7, 7, 7), T0 + 10_000);
        open.deliverAll();
        assertTotals(open.windows.get(0));
    }

    /** Kafka loses nothing; a defect or another hand on the topic is noticed, as of tiles. */
    @Test
    void aWindowWhoseTotalsDidNotAllArriveIsNotComplete() {
        WindowPipeline open = start(TUMBLING, 2, RowMask.NONE);
        send(open, 0, "a", 1, T0);
        send(open, 1, "b", 2, T0);
        send(open, 0, "c", 3, T0 + 10_000);
        send(open, 1, "d", 4, T0 + 10_000);
        open.deliver(0);
        List<PaneMessage> messages = open.passSecondsAtLevelOne(1, 0);
        int totals = 0;
        while (!isTotals(messages.get(totals))) {
            totals++;
        }
        open.deliver(1, totals);
        open.lose(1, 1);
        open.deliver(1);
        ClosedWindow window = open.windows.get(0);
        assertFalse(window.complete());
        assertNull(window.requestTotals());
        assertEquals(5, window.moment().rows());
    }

    /** Tests a window that lasts as long as an instance with another baseline reads some of the partitions. */
    @Test
    void aWindowWithRecordsUnderAnotherProjectionIsCompleteAndHasNoTotals() {
        WindowPipeline open = start(TUMBLING, 1, RowMask.NONE);
        RequestTotals others = RequestTotals.ofCapacity(new RequestProjection.Id(99, 2), WindowPipeline.REQUESTS);
        others.add(1, "other", 3, new double[] {1, 2});
        MomentTile tile =
                MomentTile.cut(WindowPipeline.WIDTH, 3, new double[20]).get(0);
        open.compose(SITE, Panes.tile(T0, 10_000, tile));
        Panes.counted(T0, 10_000, 1).forEach(message -> open.compose(SITE, message));
        Panes.parts(T0, 10_000, PaneParts.TOTALS, others.encode(1_000)).forEach(message -> open.compose(SITE, message));
        send(open, 0, "a", 1, T0);
        send(open, 0, "b", 2, T0 + 10_000);
        send(open, 0, "c", 3, T0 + 20_000);
        open.deliverAll();
        ClosedWindow window = open.windows.get(0);
        assertTrue(window.complete());
        assertEquals(2, window.requests());
        assertNull(window.requestTotals());
        assertTotals(open.windows.get(1));
    }

    @Test
    void totalsThatComeForAClosedWindowChangeNothing() {
        WindowPipeline open = start(TUMBLING, 1, RowMask.NONE);
        send(open, 0, "a", 1, T0);
        send(open, 0, "b", 2, T0 + 10_000);
        open.deliverAll();
        RequestTotals late = RequestTotals.ofCapacity(WindowPipeline.PROJECTION.id(), WindowPipeline.REQUESTS);
        late.add(1, "late", 3, new double[] {1, 2});
        Panes.parts(T0, 10_000, PaneParts.TOTALS, late.encode(1_000)).forEach(message -> open.compose(SITE, message));
        send(open, 0, "c", 3, T0 + 20_000);
        open.deliverAll();
        assertEquals(2, open.windows.size());
        open.windows.forEach(this::assertTotals);
        assertEquals(0, open.lastAccount().unaccounted());
    }

    /** A pane may close, or be stored, with a few requests that are not projected yet. */
    @Test
    void whatWaitsToBeProjectedIsInWhatIsSentAndStored() {
        for (boolean stored : new boolean[] {false, true}) {
            TotalsPart totals = new TotalsPart(Panes.site(
                    SITE, WindowPipeline.WIDTH, 8, new RequestTotalling(Map.of(SITE, WindowPipeline.PROJECTION), 8)));
            Matrix rows = ActivationRecords.integerRows(1, 3, WindowPipeline.WIDTH);
            totals.add(Panes.rows(SITE, new Ingested.Request(7, "seven"), ActivationRecords.undecoded(rows), 1), T0);
            List<byte[]> parts = stored ? stored(totals) : totals.encode();
            double[] sum = new double[WindowPipeline.PROJECTION.components()];
            WindowPipeline.PROJECTION.add(rows, sum);
            assertEquals(
                    List.of(new RequestTotal(7, "seven", 3, sum)),
                    RequestTotals.decode(parts.get(0)).totals());
        }
    }

    private static List<byte[]> stored(TotalsPart totals) {
        KeyValueStore<Bytes, byte[]> store =
                Stores.inMemoryKeyValueStore("panes").get();
        totals.store(new PartSlots(store, SITE, T0, PaneParts.TOTALS.number()));
        return List.of(Objects.requireNonNull(store.get(PaneKeys.pane(SITE, T0, PaneParts.TOTALS.number(), 0))));
    }

    private static boolean isTotals(PaneMessage message) {
        return message instanceof PaneMessage.OfPane ofPane && ofPane.what() == PaneParts.TOTALS.number();
    }

    @Test
    void aSiteWithoutAProjectionSendsNoTotals() {
        PaneSite another = Panes.site(
                SITE, WindowPipeline.WIDTH, 8, new RequestTotalling(Map.of("another", WindowPipeline.PROJECTION), 8));
        Pane pane = new Pane(another);
        Panes.take(pane, MomentTile.cut(WindowPipeline.WIDTH, 3, new double[20]).get(0));
        assertNull(pane.value(PaneParts.TOTALS));
        assertTrue(pane.isComplete());
        ClosedWindow window = new WindowPanes(
                        another,
                        T0,
                        T0 + 10_000,
                        List.of(pane),
                        ClosedWindow.ClosedBy.EVENT_TIME,
                        new SiteProgress().account(0))
                .compose();
        assertNull(window.requestTotals());
    }

    private WindowPipeline start(WindowSettings settings, int partitions, RowMask mask) {
        WindowPipeline open = new WindowPipeline(settings, partitions, folder, SourceWatch.ALWAYS_READ, mask);
        pipeline = open;
        return open;
    }

    private static WindowSettings settings(int sizeSeconds, int advanceSeconds) {
        return new WindowSettings(
                Duration.ofSeconds(sizeSeconds), Duration.ofSeconds(advanceSeconds), Duration.ZERO, null, null);
    }

    private void send(WindowPipeline open, int partition, @Nullable String name, int seed, long timestampMs) {
        Matrix rows = ActivationRecords.integerRows(seed, 1 + seed % 4, WindowPipeline.WIDTH);
        byte[] value = ActivationRecords.blob(rows);
        long request = name == null ? RowSample.recordHash(value, timestampMs, null) : RowSample.requestHash(name);
        sent.add(new Sent(timestampMs, request, name, rows));
        open.read(SITE, name, partition, value, timestampMs);
    }

    private static void closeAll(WindowPipeline open, int partitions, long timestampMs) {
        for (int partition = 0; partition < partitions; partition++) {
            open.read(partition, -1, 1, timestampMs);
        }
        open.deliverAll();
    }

    private void assertTotals(ClosedWindow window) {
        RequestTotals expected = RequestTotals.ofCapacity(WindowPipeline.PROJECTION.id(), WindowPipeline.REQUESTS);
        for (Sent record : sent) {
            if (record.timestampMs() >= window.startMs() && record.timestampMs() < window.endMs()) {
                double[] sum = new double[WindowPipeline.PROJECTION.components()];
                WindowPipeline.PROJECTION.add(record.rows(), sum);
                expected.add(record.request(), record.name(), record.rows().rows(), sum);
            }
        }
        RequestTotals found = window.requestTotals();
        assertNotNull(found);
        List<RequestTotal> totals = found.totals();
        assertEquals(expected.totals(), totals, "window from " + window.startMs());
        assertEquals(expected.recordsNotKept(), found.recordsNotKept());
        assertEquals(window.requests(), found.records());
        assertTrue(window.complete());
    }
}
