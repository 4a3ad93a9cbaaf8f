package io.plumbline.topology.windows;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowMask;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.records.MomentTile;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.ingest.IngestListener;
import io.plumbline.topology.ingest.IngestTask;
import io.plumbline.topology.ingest.Limits;
import io.plumbline.topology.ingest.RecordReader;
import io.plumbline.topology.ingest.RefusedRecords;
import io.plumbline.topology.ingest.SiteShape;
import io.plumbline.topology.panes.LateReason;
import io.plumbline.topology.panes.PaneMessage;
import io.plumbline.topology.panes.RequestTotalling;
import io.plumbline.topology.panes.RowsRead;
import io.plumbline.topology.panes.SiteClock;
import io.plumbline.topology.panes.StoreKind;
import io.plumbline.topology.panes.WindowSettings;
import io.plumbline.topology.windows.ClosedWindow.ClosedBy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WindowStageTest {

    private static final String SITE = "blocks.7";
    private static final int WIDTH = 5;
    private static final int REQUESTS_PER_WINDOW = 40;
    private static final long T0 = 1_700_000_000_000L / 60_000 * 60_000;

    private final List<ClosedWindow> windows = new ArrayList<>();
    private final List<String> late = new ArrayList<>();
    private final List<DeadLetter.Reason> refused = new ArrayList<>();

    @TempDir
    private Path stateDirectory;

    private TopologyTestDriver driver;
    private TestInputTopic<byte[], byte[]> activations;

    @AfterEach
    void close() {
        driver.close();
    }

    @Test
    void aTumblingWindowHoldsExactlyItsRows() {
        start(new WindowSettings(seconds(10), seconds(10), seconds(2), null, null), StoreKind.MEMORY);
        Matrix first = send(1, T0);
        Matrix second = send(2, T0 + 9_999);
        send(3, T0 + 10_000);
        assertTrue(windows.isEmpty(), "grace is not over");
        send(4, T0 + 12_000);
        assertEquals(1, windows.size());
        assertWindow(windows.get(0), T0, T0 + 10_000, ClosedBy.EVENT_TIME, first, second);
    }

    @Test
    void aRowIsCountedInEveryHoppingWindowThatHoldsIt() {
        start(new WindowSettings(seconds(12), seconds(4), Duration.ZERO, null, null), StoreKind.MEMORY);
        long start = T0 / 12_000 * 12_000;
        Matrix a = send(1, start + 1_000);
        Matrix b = send(2, start + 5_000);
        Matrix c = send(3, start + 9_000);
        send(4, start + 16_000);
        // Windows end at start + 4, 8, 12 and 16 s.
        assertEquals(4, windows.size());
        assertWindow(windows.get(0), start - 8_000, start + 4_000, ClosedBy.EVENT_TIME, a);
        assertWindow(windows.get(1), start - 4_000, start + 8_000, ClosedBy.EVENT_TIME, a, b);
        assertWindow(windows.get(2), start, start + 12_000, ClosedBy.EVENT_TIME, a, b, c);
        assertWindow(windows.get(3), start + 4_000, start + 16_000, ClosedBy.EVENT_TIME, b, c);
    }

    @Test
    void lateRowsAreCountedAndInNoWindow() {
        start(new WindowSettings(seconds(10), seconds(10), seconds(2), null, null), StoreKind.MEMORY);
        Matrix first = send(1, T0);
        send(2, T0 + 12_000);
        send(3, T0 + 9_000);
        send(4, T0 + 22_000);
        assertEquals(List.of("AFTER_GRACE 4"), late);
        assertWindow(windows.get(0), T0, T0 + 10_000, ClosedBy.EVENT_TIME, first);
    }

    @Test
    void outOfOrderRowsWithinGraceAreInTheirWindow() {
        start(new WindowSettings(seconds(10), seconds(10), seconds(2), null, null), StoreKind.MEMORY);
        Matrix a = send(1, T0 + 9_000);
        send(2, T0 + 11_000);
        Matrix b = send(3, T0 + 1_000);
        send(4, T0 + 12_000);
        assertWindow(windows.get(0), T0, T0 + 10_000, ClosedBy.EVENT_TIME, a, b);
        assertTrue(late.isEmpty());
    }

    @Test
    void aSilentSiteClosesByWallClockAndLaterRowsOfThatPaneAreLate() {
        start(new WindowSettings(seconds(10), seconds(10), seconds(2), seconds(30), null), StoreKind.MEMORY);
        Matrix a = send(1, T0);
        waitSeconds(29);
        assertTrue(windows.isEmpty());
        waitSeconds(2);
        assertWindow(windows.get(0), T0, T0 + 10_000, ClosedBy.IDLE, a);
        send(2, T0 + 5_000);
        assertEquals(List.of("AFTER_IDLE 4"), late);
        Matrix next = send(3, T0 + 10_000);
        send(4, T0 + 22_000);
        assertEquals(2, windows.size());
        assertWindow(windows.get(1), T0 + 10_000, T0 + 20_000, ClosedBy.EVENT_TIME, next);
    }

    @Test
    void aStallOfThisTaskIsNotTheSitesSilence() {
        start(new WindowSettings(seconds(10), seconds(10), seconds(2), seconds(30), null), StoreKind.MEMORY);
        send(1, T0);
        waitSeconds(5);
        driver.advanceWallClockTime(seconds(300));
        assertTrue(windows.isEmpty());
        waitSeconds(30);
        assertEquals(1, windows.size());
    }

    @Test
    void aPartitionThatNeverCarriedASiteDoesNotHoldItBackWithoutIdleClose() {
        start(new WindowSettings(seconds(10), seconds(10), Duration.ZERO, null, null), StoreKind.MEMORY);
        waitSeconds(29);
        assertEquals(
                0,
                driver.createOutputTopic("moments", new ByteArrayDeserializer(), new ByteArrayDeserializer())
                        .getQueueSize());
        waitSeconds(2);
        PaneMessage message = PaneMessage.decode(
                driver.createOutputTopic("moments", new ByteArrayDeserializer(), new ByteArrayDeserializer())
                        .readValue(),
                PaneMessage.application("windows"));
        assertEquals(new PaneMessage.Progress(0, 1, SiteClock.NEVER, true, SiteClock.NEVER, RowsRead.NONE), message);
        // With records it is never silent.
        Matrix rows = send(1, T0);
        waitSeconds(600);
        assertTrue(windows.isEmpty());
        send(2, T0 + 10_000);
        assertWindow(windows.get(0), T0, T0 + 10_000, ClosedBy.EVENT_TIME, rows);
    }

    @Test
    void aPaneOfAnotherLengthIsNotAddedToOneOfOurs() {
        start(new WindowSettings(seconds(10), seconds(10), Duration.ZERO, null, null), StoreKind.MEMORY);
        SecondMomentAccumulator moment = SecondMomentAccumulator.ofDimension(WIDTH);
        moment.add(ActivationRecords.integerRows(9, 4, WIDTH));
        byte[] foreign = Panes.tile(
                        T0, 60_000, MomentTile.cut(WIDTH, 4, moment.state()).get(0))
                .encode(PaneMessage.application("windows"));
        ByteArraySerializer out = new ByteArraySerializer();
        driver.createInputTopic("moments", out, out).pipeInput(SITE.getBytes(StandardCharsets.UTF_8), foreign);
        Matrix rows = send(1, T0);
        send(2, T0 + 10_000);
        assertWindow(windows.get(0), T0, T0 + 10_000, ClosedBy.EVENT_TIME, rows);
    }

    private void waitSeconds(int seconds) {
        for (int second = 0; second < seconds; second++) {
            driver.advanceWallClockTime(seconds(1));
        }
    }

    @Test
    void windowsWithoutRowsAreSkipped() {
        start(new WindowSettings(seconds(10), seconds(10), Duration.ZERO, null, null), StoreKind.MEMORY);
        send(1, T0);
        send(2, T0 + 100_000);
        send(3, T0 + 110_000);
        assertEquals(
                List.of(T0, T0 + 100_000),
                windows.stream().map(ClosedWindow::startMs).toList());
    }

    @Test
    void theSampleOfASmallWindowHoldsEveryRow() {
        start(new WindowSettings(seconds(10), seconds(10), Duration.ZERO, null, null), StoreKind.MEMORY);
        send(1, T0);
        send(2, T0 + 1);
        send(3, T0 + 10_000);
        assertEquals(8, windows.get(0).sample().size());
    }

    @Test
    void badRecordsAreRefusedAndGoodOnesAroundThemCounted() {
        start(new WindowSettings(seconds(10), seconds(10), Duration.ZERO, null, null), StoreKind.MEMORY);
        Matrix a = send(1, T0);
        pipe(SITE, null, T0);
        pipe(SITE, new byte[] {1, 2, 3}, T0);
        pipe("unknown", ActivationRecords.blob(Matrix.zeros(1, WIDTH)), T0);
        pipe(SITE, ActivationRecords.blob(Matrix.zeros(1, WIDTH + 1)), T0);
        Matrix poisoned = Matrix.zeros(2, WIDTH);
        poisoned.set(1, 3, Double.NaN);
        pipe(SITE, ActivationRecords.blob(poisoned), T0);
        pipe(SITE, ActivationRecords.blob(Matrix.zeros(1, WIDTH), Matrix.zeros(1, WIDTH)), T0);
        Matrix b = send(2, T0);
        send(3, T0 + 10_000);
        assertWindow(windows.get(0), T0, T0 + 10_000, ClosedBy.EVENT_TIME, a, b);
        assertEquals(
                List.of(
                        DeadLetter.Reason.NULL_VALUE,
                        DeadLetter.Reason.MALFORMED,
                        DeadLetter.Reason.UNKNOWN_SITE,
                        DeadLetter.Reason.WRONG_WIDTH,
                        DeadLetter.Reason.NON_FINITE,
                        DeadLetter.Reason.UNEXPECTED_TARGETS),
                refused);
        List<TestRecord<byte[], byte[]>> letters = driver.createOutputTopic(
                        "dead-letters", new ByteArrayDeserializer(), new ByteArrayDeserializer())
                .readRecordsToList();
        assertEquals(6, letters.size());
        assertArrayEquals(new byte[] {1, 2, 3}, letters.get(1).value());
        assertEquals("malformed", header(letters.get(1), "plumbline.reason"));
        assertEquals("activations", header(letters.get(1), "plumbline.topic"));
        assertEquals("0", header(letters.get(1), "plumbline.partition"));
        assertEquals("2", header(letters.get(1), "plumbline.offset"));
        assertTrue(header(letters.get(4), "plumbline.message").contains("row 1, column 3 is NaN"));
    }

    @Test
    void aPaneTakesSoManyRecordsAndTheNextPaneAsManyAgain() {
        start(new WindowSettings(seconds(10), seconds(10), seconds(5), null, null), StoreKind.MEMORY);
        Matrix[] taken = new Matrix[REQUESTS_PER_WINDOW];
        for (int i = 0; i < REQUESTS_PER_WINDOW; i++) {
            taken[i] = send(i, T0 + i);
        }
        send(90, T0 + 9_000);
        assertEquals(List.of(DeadLetter.Reason.TOO_MANY_REQUESTS), refused);
        send(91, T0 + 10_000);
        send(92, T0 + 9_500);
        send(93, T0 + 25_000);
        assertEquals(Collections.nCopies(2, DeadLetter.Reason.TOO_MANY_REQUESTS), refused);
        assertWindow(windows.get(0), T0, T0 + 10_000, ClosedBy.EVENT_TIME, taken);
        send(94, T0 + 9_600);
        assertEquals(2, refused.size(), "late, and counted as that");
        TestRecord<byte[], byte[]> letter = driver.createOutputTopic(
                        "dead-letters", new ByteArrayDeserializer(), new ByteArrayDeserializer())
                .readRecord();
        assertArrayEquals(ActivationRecords.blob(ActivationRecords.integerRows(90, 4, WIDTH)), letter.value());
        assertTrue(header(letter, "plumbline.message").contains("limits.requests_per_window"));
        assertEquals(Integer.toString(REQUESTS_PER_WINDOW), header(letter, "plumbline.offset"));
    }

    private static String header(TestRecord<byte[], byte[]> record, String name) {
        return new String(record.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
    }

    private Matrix send(long seed, long timestampMs) {
        Matrix rows = ActivationRecords.integerRows(seed, 4, WIDTH);
        pipe(SITE, ActivationRecords.blob(rows), timestampMs);
        return rows;
    }

    private void pipe(String site, byte[] value, long timestampMs) {
        RecordHeaders headers = new RecordHeaders();
        headers.add("site", site.getBytes(StandardCharsets.UTF_8));
        activations.pipeInput(new TestRecord<>(new byte[] {7}, value, headers, Instant.ofEpochMilli(timestampMs)));
    }

    private static void assertWindow(
            ClosedWindow window, long startMs, long endMs, ClosedBy closedBy, Matrix... parts) {
        assertEquals(startMs, window.startMs());
        assertEquals(endMs, window.endMs());
        assertEquals(closedBy, window.closedBy());
        assertTrue(window.complete());
        assertEquals(parts.length, window.requests());
        SecondMomentAccumulator truth = SecondMomentAccumulator.ofDimension(WIDTH);
        for (Matrix part : parts) {
            truth.add(part);
        }
        assertEquals(truth.rows(), window.moment().rows());
        assertEquals(truth.snapshot().matrix(), window.moment().matrix());
    }

    private static Duration seconds(long seconds) {
        return Duration.ofSeconds(seconds);
    }

    private void start(WindowSettings settings, StoreKind kind) {
        IngestListener ingestListener = new IngestListener() {
            @Override
            public void onAccepted(String site, int rows) {}

            @Override
            public void onDeadLetter(DeadLetter.Reason reason) {
                refused.add(reason);
            }
        };
        WindowListener windowListener = new WindowListener() {
            @Override
            public void onLate(String site, long rows, LateReason reason) {
                late.add(reason + " " + rows);
            }

            @Override
            public void onAccumulated(String site, int rows, long nanoseconds) {}

            @Override
            public void onWindowClosed(String site, long rows) {}
        };
        WindowStage stage = new WindowStage(
                settings, kind, Map.of(SITE, WIDTH), 16, RequestTotalling.NONE, Map.of(), windowListener, Map.of());
        Topology topology = new Topology();
        WindowStage.Source source =
                new WindowStage.Source(WindowStage.PANES_STORE, Set.of(SITE), 1, SourceWatch.ALWAYS_READ);
        ByteArrayDeserializer in = new ByteArrayDeserializer();
        ByteArraySerializer out = new ByteArraySerializer();
        topology.addSource("activations-source", in, in, "activations");
        topology.addProcessor(
                "ingest",
                IngestTask.supplier(
                        new RecordReader(
                                Map.of(SITE, new SiteShape(SITE, WIDTH, WIDTH, false, RowMask.NONE)), Limits.DEFAULT),
                        Limits.DEFAULT,
                        stage.admission(source, REQUESTS_PER_WINDOW),
                        ingestListener,
                        "accumulate",
                        new RefusedRecords("refused", 1_000_000, ingestListener)),
                "activations-source");
        topology.addProcessor("accumulate", stage.accumulator(source, Limits.DEFAULT.ahead()), "ingest");
        topology.connectProcessorAndStateStores("ingest", WindowStage.PANES_STORE);
        topology.addSink("refused", "dead-letters", out, out, "ingest");
        topology.addSink("closed-panes", "moments", out, out, "accumulate");
        topology.addSource("moments-source", in, in, "moments");
        topology.addProcessor("compose", stage.composer(), "moments-source");
        topology.addProcessor("collect", () -> new Collector(windows), "compose");
        Properties properties = new Properties();
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "windows");
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "unused:9092");
        properties.put(StreamsConfig.STATE_DIR_CONFIG, stateDirectory.toString());
        properties.put("processing.exception.handler.global.enabled", true);
        properties.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.ByteArraySerde.class);
        driver = new TopologyTestDriver(
                topology, properties, Instant.ofEpochMilli(T0).plus(seconds(3_600)));
        activations = driver.createInputTopic("activations", out, out);
    }

    private record Collector(List<ClosedWindow> windows) implements Processor<String, ClosedWindow, Void, Void> {
        @Override
        public void process(Record<String, ClosedWindow> record) {
            windows.add(record.value());
        }
    }
}
