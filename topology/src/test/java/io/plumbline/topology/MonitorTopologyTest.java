package io.plumbline.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import io.plumbline.topology.assessment.ActiveDecoders;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.assessment.WindowAssessor;
import io.plumbline.topology.assessment.WindowReport;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.broker.Topics;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.ingest.IngestListener;
import io.plumbline.topology.windows.LateReason;
import io.plumbline.topology.windows.WindowListener;
import io.plumbline.wire.MomentTile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongFunction;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class MonitorTopologyTest {

    private static final byte TILE = 1;
    private static final byte SAMPLE_PART = 2;
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long T0 = 1_700_000_000_000L;
    private static final long WINDOW_MS = 10_000;
    private static final LongFunction<Matrix> QUIET = WatchedFolder::quiet;
    private static final LongFunction<Matrix> DRIFTED = WatchedFolder::drifted;

    @TempDir
    private Path folder;

    private MonitorConfig config;
    private Map<String, WatchedSite> sites;
    private Streaming stream;
    private final Watcher watcher = new Watcher();
    private ActiveDecoders active = site -> null;

    @BeforeEach
    void start() throws IOException {
        config = WatchedFolder.create(folder, "unused:9092");
        sites = WatchedFolder.sites(config);
        stream = new Streaming(topology(), StreamsSettings.monitor(config), folder.resolve("state"));
    }

    private Topology topology() {
        return MonitorTopology.build(
                config,
                sites,
                new Topics.Prepared(1, 1_000_000),
                site -> active.of(site),
                new MonitorTopology.Listeners(watcher, watcher, watcher));
    }

    @AfterEach
    void stop() {
        stream.close();
    }

    @Test
    void wiringIsThatOfTheReviewedFile() throws IOException {
        assertEquals(reviewed("monitor-topology.txt"), description(topology()));
    }

    /** Returns the description with store names in order: Kafka Streams keeps them in a set. */
    static String description(Topology topology) {
        return Pattern.compile("stores: \\[(.*)]")
                        .matcher(topology.describe().toString())
                        .replaceAll(stores -> "stores: "
                                + Stream.of(stores.group(1).split(", "))
                                        .sorted()
                                        .toList())
                        .stripTrailing()
                + "\n";
    }

    static String reviewed(String name) throws IOException {
        try (InputStream file = MonitorTopologyTest.class.getResourceAsStream(name)) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void quietWindowsAreAlignedAndADriftIsAskedAboutWithEveryWindow() {
        send(QUIET, QUIET, DRIFTED, DRIFTED, DRIFTED, QUIET, QUIET);
        List<JsonNode> reports = reports();
        assertEquals(
                List.of("aligned", "aligned", "drifted", "drifted", "drifted", "aligned"), texts(reports, "verdict"));
        assertEquals(
                List.of("false", "false", "true", "true", "true", "false"), texts(reports, "adaptation_requested"));
        JsonNode quiet = reports.get(0);
        assertTrue(quiet.get("faithfulness_gap").asDouble() < 0.2, quiet.toString());
        assertTrue(quiet.get("reconstruction_fvu_trained").asDouble() < 0.01, quiet.toString());
        JsonNode drifted = reports.get(2);
        assertTrue(drifted.get("gap_share").asDouble() > 0.95, drifted.toString());
        assertTrue(quiet.get("failing_features").isNull(), quiet.toString());
        assertEquals(
                0,
                drifted.get("failing_features").size(),
                "their columns are as wrong on the baseline's rows: " + drifted);
        assertTrue(drifted.get("reconstruction_fvu_trained").asDouble() > 0.5, drifted.toString());
        assertEquals(
                WatchedFolder.ROWS * WatchedFolder.RECORDS, drifted.get("rows").asInt());
        assertEquals(WatchedFolder.RECORDS, drifted.get("requests").asInt());
        assertEquals("event_time", drifted.get("closed_by").asText());
        assertEquals(T0 + 2 * WINDOW_MS, drifted.get("window_start_ms").asLong());
        assertEquals(6, watcher.reports.size());

        List<AdaptationMessage> asked = requests();
        AdaptationMessage.Adapt request = assertInstanceOf(AdaptationMessage.Adapt.class, asked.get(asked.size() - 2));
        assertEquals(T0 + 5 * WINDOW_MS, request.windowEndMs());
        assertEquals(T0 + 4 * WINDOW_MS, request.windowStartMs());
        assertEquals(WatchedFolder.ROWS * WatchedFolder.RECORDS, request.rows());
        assertEquals(3 * (request.parts() + 1), asked.size() - 1, "parts and request of each window, the revert");
        int parts = asked.size() - 2 - request.parts();
        RowSample sample = RowSample.ofCapacity(request.sampleCapacity());
        for (int index = 0; index < request.parts(); index++) {
            AdaptationMessage.SamplePart part =
                    assertInstanceOf(AdaptationMessage.SamplePart.class, asked.get(parts + index));
            assertEquals(index, part.index());
            assertEquals(request.windowEndMs(), part.windowEndMs());
            sample.mergeEncoded(part.part());
        }
        assertEquals(request.rows(), sample.size(), "the window is smaller than the sample");
        AdaptationMessage.Revert revert = assertInstanceOf(AdaptationMessage.Revert.class, asked.get(asked.size() - 1));
        assertEquals(T0 + 6 * WINDOW_MS, revert.windowEndMs());
    }

    @Test
    void aRowThatLiesInSeveralDriftedWindowsIsSentOnce() throws IOException {
        stream.close();
        config = WatchedFolder.create(
                folder, "unused:9092", "size: 30s, advance: 10s, grace: 0s, idle_close: off", "", WatchedFolder.SITE);
        stream = new Streaming(topology(), StreamsSettings.monitor(config), folder.resolve("hopping"));
        send(DRIFTED, DRIFTED, DRIFTED, DRIFTED, DRIFTED);
        List<JsonNode> reports = reports();
        assertTrue(reports.size() > 3, reports::toString);
        assertEquals(Set.of("true"), Set.copyOf(texts(reports, "adaptation_requested")));
        Set<Long> sent = new HashSet<>();
        for (AdaptationMessage message : requests()) {
            if (message instanceof AdaptationMessage.SamplePart part) {
                RowSample sample = RowSample.ofCapacity(512);
                sample.mergeEncoded(part.part());
                sample.rows().forEach(row -> assertTrue(sent.add(row.hash()), "row " + row.hash() + " was sent twice"));
            }
        }
        assertEquals(4 * WatchedFolder.ROWS * WatchedFolder.RECORDS, sent.size());
    }

    @Test
    void aSiteThatWasNeverAdaptedIsNotReverted() {
        send(QUIET, QUIET, QUIET);
        assertEquals(List.of(), requests());
    }

    @Test
    void aReportCarriesTheAccountOfItsSitesRows() throws IOException {
        send(QUIET, QUIET, QUIET);
        record(QUIET, T0, 2);
        record(QUIET, T0 + 3 * WINDOW_MS, 1);
        List<TestRecord<byte[], byte[]>> reports = stream.read(config.topics().windowReports());
        JsonNode account = JSON.readTree(reports.get(2)
                .headers()
                .lastHeader(WindowAssessor.ACCOUNT_HEADER)
                .value());
        int window = WatchedFolder.ROWS * WatchedFolder.RECORDS;
        assertEquals(3 * window + 3 * WatchedFolder.ROWS, account.get("in").asInt());
        assertEquals(3 * window, account.get("in_windows").asInt());
        assertEquals(WatchedFolder.ROWS, account.get("open").asInt());
        assertEquals(
                2 * WatchedFolder.ROWS, account.get("late").get("after_grace").asInt());
        assertEquals(0, account.get("unaccounted").asInt());
    }

    /**
     * Tests a revert after a reset of the monitor's state: it remembers no adaptation, and an adapted decoder is in
     * service.
     */
    @Test
    void aRevertThatWasLostIsAskedForUntilTheTrainedDecoderIsBack() {
        Decoder trained = sites.get(WatchedFolder.SITE).explainer().decoder();
        Matrix other = Matrix.zeros(WatchedFolder.FEATURES, WatchedFolder.WIDTH);
        active = site -> new ActiveDecoders.Active(new Decoder(other, new double[WatchedFolder.WIDTH]), 7);
        send(QUIET, QUIET, QUIET);
        assertEquals(
                List.of(new AdaptationMessage.Revert(T0 + WINDOW_MS), new AdaptationMessage.Revert(T0 + 2 * WINDOW_MS)),
                requests());
        active = site -> new ActiveDecoders.Active(trained, 8);
        send(T0 + 3 * WINDOW_MS, QUIET, QUIET);
        assertEquals(List.of(), requests());
    }

    @Test
    void aReportIsOneFlatObjectInSnakeCaseAndWhatIsUndefinedIsNull() {
        send(QUIET, seed -> Matrix.zeros(WatchedFolder.ROWS, WatchedFolder.WIDTH), QUIET);
        JsonNode zeros = reports().get(1);
        assertEquals("undecided", zeros.get("verdict").asText());
        assertTrue(zeros.get("faithfulness_gap").isNull(), zeros.toString());
        assertTrue(zeros.get("undefined").has("faithfulness_gap"), zeros.toString());
        assertFalse(zeros.toString().contains("NaN") || zeros.toString().contains("Infinity"), zeros.toString());
        Set<String> nested = new HashSet<>();
        zeros.properties().forEach(entry -> {
            assertTrue(entry.getKey().matches("[a-z][a-z0-9_]*"), entry.getKey());
            if (entry.getValue().isObject()) {
                nested.add(entry.getKey());
            }
        });
        assertEquals(Set.of("feature_activity", "feature_names", "spectrum", "vacuous", "undefined"), nested);
        zeros.get("undefined")
                .fieldNames()
                .forEachRemaining(key -> assertTrue(zeros.get(key).isNull(), key));
    }

    @Test
    void theActiveDecoderIsMeasuredBesideTheTrainedOne() {
        Matrix nothing = Matrix.zeros(WatchedFolder.FEATURES, WatchedFolder.WIDTH);
        active = site -> new ActiveDecoders.Active(new Decoder(nothing, new double[WatchedFolder.WIDTH]), 7);
        send(QUIET, QUIET);
        JsonNode report = reports().get(0);
        assertEquals(7, report.get("decoder_version").asLong());
        assertTrue(report.get("reconstruction_fvu").asDouble() > 0.9, report.toString());
        assertTrue(report.get("reconstruction_fvu_trained").asDouble() < 0.01, report.toString());
    }

    @Test
    void aSiteThatDriftsIsLoggedOnceWithTheReasonAndOnceWhenItIsAlignedAgain() {
        Logger logger = (Logger) LoggerFactory.getLogger(WindowAssessor.class);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.setLevel(Level.INFO);
        logger.addAppender(log);
        try {
            send(QUIET, DRIFTED, DRIFTED, QUIET, QUIET);
        } finally {
            logger.detachAppender(log);
            logger.setLevel(null);
        }
        List<String> reasons = texts(reports(), "reason");
        assertEquals(
                List.of(
                        "WARN site %s has drifted, window from 2023-11-14T22:13:30Z: %s"
                                .formatted(WatchedFolder.SITE, reasons.get(1)),
                        "INFO site %s is aligned again, window from 2023-11-14T22:13:50Z: %s"
                                .formatted(WatchedFolder.SITE, reasons.get(3))),
                log.list.stream()
                        .map(event -> event.getLevel() + " " + event.getFormattedMessage())
                        .toList());
    }

    @Test
    void tooFewRowsAreUndecidedAndChangeNothing() {
        record(QUIET, T0, 1);
        send(T0 + WINDOW_MS, DRIFTED, DRIFTED);
        assertEquals(List.of("undecided", "drifted"), texts(reports(), "verdict"));
    }

    @Test
    void theLargestValuesThatAreTakenDoNotStopTheStream() {
        LongFunction<Matrix> huge = seed -> {
            Matrix rows = WatchedFolder.quiet(seed);
            for (int i = 0; i < rows.values().length; i++) {
                rows.values()[i] = Math.signum(rows.values()[i]) * Float.MAX_VALUE;
            }
            return rows;
        };
        send(QUIET, huge, QUIET, QUIET);
        List<JsonNode> reports = reports();
        assertEquals(3, reports.size());
        assertFalse(
                reports.get(1).toString().contains("\"NaN\""), reports.get(1).toString());
        assertEquals("aligned", reports.get(2).get("verdict").asText());
    }

    @Test
    void foreignRecordsOnTheMomentsTopicAreCountedAndSkipped() {
        String moments = config.topics().moments();
        List<MomentTile> other = MomentTile.cut(9, 5, new double[MomentTile.stateLength(9)]);
        stream.send(moments, (byte[]) null, new byte[] {1}, T0);
        stream.send(moments, WatchedFolder.SITE, null, T0);
        stream.send(moments, WatchedFolder.SITE, new byte[0], T0);
        stream.send(moments, WatchedFolder.SITE, "not a pane message".getBytes(StandardCharsets.UTF_8), T0);
        stream.send(moments, "another", new byte[] {1}, T0);
        stream.send(moments, WatchedFolder.SITE, tile(T0, other.get(0)), T0);
        List<MomentTile> ours =
                MomentTile.cut(WatchedFolder.WIDTH, 5, new double[MomentTile.stateLength(WatchedFolder.WIDTH)]);
        stream.send(moments, WatchedFolder.SITE, tile(T0 + 1, ours.get(0)), T0);
        stream.send(moments, WatchedFolder.SITE, tile(Long.MAX_VALUE, ours.get(0)), T0);
        stream.send(moments, WatchedFolder.SITE, samplePart(T0), T0);
        assertEquals(9, watcher.foreign);
        send(QUIET, QUIET);
        assertEquals(
                WatchedFolder.ROWS * WatchedFolder.RECORDS,
                reports().get(0).get("rows").asInt());
    }

    /** The head of a message that this application could have written, from source partition 0. */
    private static ByteBuffer ours(byte kind, int bodyBytes) {
        UUID application = UUID.nameUUIDFromBytes("small-monitor".getBytes(StandardCharsets.UTF_8));
        return ByteBuffer.allocate(14 + bodyBytes)
                .put((byte) 2)
                .put(kind)
                .putLong(application.getMostSignificantBits())
                .putInt(0);
    }

    private static byte[] tile(long paneStartMs, MomentTile tile) {
        byte[] body = tile.encode();
        return ours(TILE, 24 + body.length)
                .putLong(paneStartMs)
                .putLong(WINDOW_MS)
                .putLong(1)
                .put(body)
                .array();
    }

    /** A part of a sample of other rows: what stands on the topic after a change of the explainer. */
    private static byte[] samplePart(long paneStartMs) {
        RowSample sample = RowSample.ofCapacity(3);
        sample.offer(1, 1, 0, new float[WatchedFolder.WIDTH + 1], null);
        byte[] body = sample.encode(1_000).get(0);
        return ours(SAMPLE_PART, 16 + body.length)
                .putLong(paneStartMs)
                .putLong(WINDOW_MS)
                .put(body)
                .array();
    }

    @Test
    void valuesOfASiteThatMovesAwayAreReleased() {
        send(QUIET, QUIET);
        stream.close();
        assertEquals(List.of(WatchedFolder.SITE), watcher.released);
        stream = new Streaming(topology(), StreamsSettings.monitor(config), folder.resolve("state"));
    }

    @Test
    void timesNobodyCanMeanAreBroughtIntoRange() {
        assertEquals(0, extracted(-1));
        assertEquals(T0, extracted(T0));
        assertEquals(MonitorTopology.LATEST_EVENT_MS, extracted(Long.MAX_VALUE));
    }

    private static long extracted(long timestampMs) {
        ConsumerRecord<Object, Object> record = new ConsumerRecord<>(
                "activations",
                0,
                0,
                timestampMs,
                timestampMs < 0
                        ? org.apache.kafka.common.record.TimestampType.NO_TIMESTAMP_TYPE
                        : org.apache.kafka.common.record.TimestampType.CREATE_TIME,
                0,
                0,
                null,
                null,
                new org.apache.kafka.common.header.internals.RecordHeaders(),
                java.util.Optional.empty());
        return MonitorTopology.eventTime().extract(record, 0);
    }

    /** Sends one window of each kind, in order; the last one stays open. */
    @SafeVarargs
    private void send(LongFunction<Matrix>... windows) {
        send(T0, windows);
    }

    @SafeVarargs
    private void send(long startMs, LongFunction<Matrix>... windows) {
        long start = startMs;
        for (LongFunction<Matrix> window : windows) {
            record(window, start, WatchedFolder.RECORDS);
            start += WINDOW_MS;
        }
    }

    private void record(LongFunction<Matrix> window, long startMs, int records) {
        for (int i = 0; i < records; i++) {
            long time = startMs + i * WINDOW_MS / WatchedFolder.RECORDS;
            stream.send(
                    config.topics().activations(),
                    WatchedFolder.SITE,
                    ActivationRecords.blob(window.apply(time)),
                    time);
        }
    }

    private List<JsonNode> reports() {
        List<JsonNode> reports = new ArrayList<>();
        for (TestRecord<byte[], byte[]> record : stream.read(config.topics().windowReports())) {
            assertEquals(WatchedFolder.SITE, new String(record.key(), StandardCharsets.UTF_8));
            try {
                reports.add(JSON.readTree(record.value()));
            } catch (IOException e) {
                throw new AssertionError(new String(record.value(), StandardCharsets.UTF_8), e);
            }
        }
        return reports;
    }

    private List<AdaptationMessage> requests() {
        return stream.read(config.topics().adaptationRequests()).stream()
                .map(record -> AdaptationMessage.decode(record.value()))
                .toList();
    }

    private static List<String> texts(List<JsonNode> reports, String key) {
        return Arrays.asList(
                reports.stream().map(report -> report.get(key).asText()).toArray(String[]::new));
    }

    private static final class Watcher implements IngestListener, WindowListener, DriftListener {

        private final List<WindowReport> reports = new ArrayList<>();
        private final List<String> released = new ArrayList<>();
        private int foreign;

        @Override
        public void onAccepted(String site, int rows) {}

        @Override
        public void onDeadLetter(DeadLetter.Reason reason) {}

        @Override
        public void onLate(String site, long rows, LateReason reason) {}

        @Override
        public void onAccumulated(String site, int rows, long nanoseconds) {}

        @Override
        public void onWindowClosed(String site, long rows) {}

        @Override
        public void onForeign() {
            foreign++;
        }

        @Override
        public void onReport(WindowReport report, long nanoseconds) {
            reports.add(report);
        }

        @Override
        public void onSiteReleased(String site) {
            released.add(site);
        }
    }
}
