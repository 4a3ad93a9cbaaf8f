package io.plumbline.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.MomentAccumulator;
import io.plumbline.moments.RowMask;
import io.plumbline.moments.RowSample;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.MomentRecord;
import io.plumbline.records.MomentRecordWriter;
import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.broker.Topics;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.ingest.IngestListener;
import io.plumbline.topology.panes.LateReason;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.topology.windows.WindowListener;
import io.plumbline.wire.DType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Compares reports of windows whose rows came as moments with those of the same rows. */
class MomentReportsTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long T0 = 1_700_000_000_000L;
    private static final long WINDOW_MS = 10_000;
    private static final int WINDOWS = 5;

    /** The share to which reports of the same rows are the same. */
    private static final double SAME = 1e-6;

    private static final int NO_TOTALS = 0;

    @TempDir
    private Path folder;

    private MonitorConfig config;
    private Map<String, WatchedSite> sites;
    private final List<DeadLetter.Reason> refusals = new ArrayList<>();

    @BeforeEach
    void create() throws IOException {
        config = WatchedFolder.create(folder, "unused:9092");
        sites = WatchedFolder.sites(config);
    }

    @ParameterizedTest
    @EnumSource(
            value = DType.class,
            names = {"F64", "F32"})
    void reportsOfMomentsAreThoseOfTheirRows(DType dtype) throws IOException {
        List<JsonNode> rows = reports(0, dtype);
        assertEquals(List.of(), refusals);
        assertEquals(WINDOWS - 1, rows.size());
        assertTrue(rows.get(3).get("verdict").asText().equals("drifted"), rows.toString());
        for (int producers : new int[] {1, 3}) {
            List<JsonNode> moments = reports(producers, dtype);
            assertEquals(List.of(), refusals);
            assertEquals(rows.size(), moments.size());
            for (int i = 0; i < rows.size(); i++) {
                requireSame(rows.get(i), moments.get(i), "");
                assertTrue(moments.get(i).get("moment_records").asInt() > 0);
                assertEquals(
                        WatchedFolder.RECORDS,
                        moments.get(i).get("requests_scored").asInt());
                assertEquals(0, rows.get(i).get("moment_records").asInt());
            }
        }
    }

    @Test
    void scoresOfRequestsWithoutTotalsAreUndefinedWithTheirReason() throws IOException {
        JsonNode report = reports(3, DType.F64, NO_TOTALS).get(0);
        assertTrue(report.get("request_shift").isNull());
        String reason = report.get("undefined").get("request_shift").asText();
        assertEquals(reason, report.get("undefined").get("worst_request").asText());
        assertTrue(reason.contains("not every record with a moment"), reason);
        assertEquals(0, report.get("requests_scored").asInt());
    }

    /** Every pair of columns is possible and all together are not: an eigenvalue is far below 0. */
    @Test
    void anIndefiniteMomentEndsNothing() throws IOException {
        try (Streaming stream = stream("indefinite")) {
            int d = WatchedFolder.WIDTH;
            double[] state = new double[d + d * (d + 1) / 2];
            int at = d;
            for (int i = 0; i < d; i++) {
                for (int j = 0; j <= i; j++) {
                    state[at++] = i == j ? 100.0 : -100.0;
                }
            }
            byte[] value = MomentRecordWriter.of(
                            new MomentRecord.Counts(100, 1, 0, 0),
                            new MomentRecord.Pane(T0, WINDOW_MS),
                            d,
                            state,
                            DType.F64,
                            5.0)
                    .sample(new long[] {1}, new long[] {1}, new long[] {T0}, List.of(new float[d]), null)
                    .toBytes();
            stream.send(config.topics().activations(), WatchedFolder.SITE, value, T0);
            send(stream, T0 + WINDOW_MS, 0);
            stream.send(
                    config.topics().activations(),
                    WatchedFolder.SITE,
                    ActivationRecords.blob(WatchedFolder.quiet(3)),
                    T0 + 2 * WINDOW_MS);
            List<JsonNode> reports = read(stream);
            assertEquals(
                    "aligned", reports.get(reports.size() - 1).get("verdict").asText());
        }
    }

    private Streaming stream(String name) {
        Watcher watcher = new Watcher();
        return new Streaming(
                MonitorTopology.build(
                        config,
                        sites,
                        Topics.Prepared.of(config.topics().activations(), 1, 1_000_000),
                        site -> null,
                        new MonitorTopology.Listeners(watcher, watcher, watcher)),
                StreamsSettings.monitor(config),
                folder.resolve("state-" + name));
    }

    /**
     * @param producers of moments; every second request comes as rows where there are several, all where there
     * are none
     */
    private List<JsonNode> reports(int producers, DType dtype) throws IOException {
        return reports(producers, dtype, MomentRecord.Totals.MOST);
    }

    private List<JsonNode> reports(int producers, DType dtype, int requestTotals) throws IOException {
        try (Streaming stream = stream(producers + "-" + dtype + "-" + requestTotals)) {
            List<MomentAccumulator> accumulators = new ArrayList<>();
            for (int i = 0; i < producers; i++) {
                accumulators.add(MomentAccumulator.of(
                        new MomentAccumulator.Settings(
                                WatchedFolder.WIDTH,
                                null,
                                RowMask.NONE,
                                2_500,
                                0,
                                512,
                                dtype,
                                Long.MAX_VALUE,
                                requestTotals),
                        (time, value, headers) ->
                                stream.send(config.topics().activations(), WatchedFolder.SITE, value, time)));
            }
            for (int window = 0; window < WINDOWS; window++) {
                for (int record = 0; record < WatchedFolder.RECORDS; record++) {
                    long time = T0 + window * WINDOW_MS + record * WINDOW_MS / WatchedFolder.RECORDS;
                    Matrix rows = window < 3 ? WatchedFolder.quiet(time) : WatchedFolder.drifted(time);
                    byte[] value = ActivationRecords.blob(rows);
                    accumulators.forEach(one -> one.flushBefore(time));
                    if (producers == 0 || (producers > 1 && record % 2 == 0)) {
                        stream.send(config.topics().activations(), WatchedFolder.SITE, value, time);
                    } else {
                        accumulators
                                .get(record % producers)
                                .add(
                                        new ActivationBatch(rows, null, null),
                                        null,
                                        time,
                                        RowSample.recordHash(value, time, null));
                    }
                }
            }
            return read(stream);
        }
    }

    private void send(Streaming stream, long startMs, int window) {
        for (int record = 0; record < WatchedFolder.RECORDS; record++) {
            long time = startMs + window * WINDOW_MS + record * WINDOW_MS / WatchedFolder.RECORDS;
            stream.send(
                    config.topics().activations(),
                    WatchedFolder.SITE,
                    ActivationRecords.blob(WatchedFolder.quiet(time)),
                    time);
        }
    }

    private List<JsonNode> read(Streaming stream) throws IOException {
        List<JsonNode> reports = new ArrayList<>();
        for (TestRecord<byte[], byte[]> record : stream.read(config.topics().windowReports())) {
            reports.add(JSON.readTree(record.value()));
        }
        return reports;
    }

    private static void requireSame(JsonNode expected, JsonNode found, String where) {
        if (expected.isNumber()) {
            double scale = Math.max(1e-3, Math.abs(expected.asDouble()));
            assertEquals(expected.asDouble(), found.asDouble(), SAME * scale, where);
        } else if (expected.isContainerNode()) {
            assertEquals(expected.size(), found.size(), where);
            expected.properties().forEach(entry -> {
                if (!entry.getKey().equals("moment_records")) {
                    requireSame(entry.getValue(), found.get(entry.getKey()), where + "." + entry.getKey());
                }
            });
            for (int i = 0; expected.isArray() && i < expected.size(); i++) {
                requireSame(expected.get(i), found.get(i), where + "[" + i + "]");
            }
        } else {
            assertEquals(expected, found, where);
        }
    }

    private final class Watcher implements IngestListener, WindowListener, DriftListener {
        @Override
        public void onAccepted(String site, int rows) {}

        @Override
        public void onDeadLetter(DeadLetter.Reason reason) {
            refusals.add(reason);
        }

        @Override
        public void onLate(String site, long rows, LateReason reason) {}

        @Override
        public void onAccumulated(String site, int rows, long nanoseconds) {}

        @Override
        public void onWindowClosed(String site, long rows) {}

        @Override
        public void onReport(WindowReport report, long nanoseconds) {}

        @Override
        public void onSiteReleased(String site) {}
    }
}
