package io.plumbline.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.assessment.ActiveDecoders;
import io.plumbline.topology.assessment.AdaptationMessage;
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
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A monitor of one site in the test driver: windows go in, reports and requests come out. */
abstract class MonitoredStream {

    static final ObjectMapper JSON = new ObjectMapper();
    static final long T0 = 1_700_000_000_000L;
    static final long WINDOW_MS = 10_000;
    static final LongFunction<Matrix> QUIET = WatchedFolder::quiet;
    static final LongFunction<Matrix> DRIFTED = WatchedFolder::drifted;

    @TempDir
    Path folder;

    MonitorConfig config;
    Map<String, WatchedSite> sites;
    Streaming stream;
    final Watcher watcher = new Watcher();
    ActiveDecoders active = site -> null;

    @BeforeEach
    void start() throws IOException {
        config = WatchedFolder.create(folder, "unused:9092");
        sites = WatchedFolder.sites(config);
        stream = new Streaming(topology(), StreamsSettings.monitor(config), folder.resolve("state"));
    }

    Topology topology() {
        return MonitorTopology.build(
                config,
                sites,
                Topics.Prepared.of(config.topics().activations(), 1, 1_000_000),
                site -> active.of(site),
                new MonitorTopology.Listeners(watcher, watcher, watcher));
    }

    @AfterEach
    void stop() {
        stream.close();
    }

    /** Sends one window of each kind, in order; the last one stays open. */
    @SafeVarargs
    final void send(LongFunction<Matrix>... windows) {
        send(T0, windows);
    }

    @SafeVarargs
    final void send(long startMs, LongFunction<Matrix>... windows) {
        long start = startMs;
        for (LongFunction<Matrix> window : windows) {
            record(window, start, WatchedFolder.RECORDS);
            start += WINDOW_MS;
        }
    }

    void record(LongFunction<Matrix> window, long startMs, int records) {
        for (int i = 0; i < records; i++) {
            long time = startMs + i * WINDOW_MS / WatchedFolder.RECORDS;
            stream.send(
                    config.topics().activations(),
                    WatchedFolder.SITE,
                    ActivationRecords.blob(window.apply(time)),
                    time);
        }
    }

    List<JsonNode> reports() {
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

    List<AdaptationMessage> requests() {
        return stream.read(config.topics().adaptationRequests()).stream()
                .map(record -> AdaptationMessage.decode(record.value()))
                .toList();
    }

    static List<String> texts(List<JsonNode> reports, String key) {
        return Arrays.asList(
                reports.stream().map(report -> report.get(key).asText()).toArray(String[]::new));
    }

    static final class Watcher implements IngestListener, WindowListener, DriftListener {

        final List<WindowReport> reports = new ArrayList<>();
        final List<String> released = new ArrayList<>();
        int foreign;

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
