package io.plumbline.topology.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.geometry.Statistic;
import io.plumbline.judgement.Verdict;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.report.CoverageReport;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.Sections;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.topology.report.WorstRequest;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a monitor takes moments that Python adds up. */
class PythonMomentsIT {

    private static final long T0 = 1_700_000_000_000L;

    /** Sends a window by two accumulators and a producer of rows, and the next one, of the same rows, as rows alone. */
    private static final String SEND = """
            import sys
            import numpy as np
            from plumbline_sae import Accumulation, MomentAccumulator, Producer
            site, start = sys.argv[2], int(sys.argv[3])
            scale = np.array([3, 2.5, 2, 1.5, .12, .1, .08, .06])
            def rows(i):
                return (np.random.default_rng(i).standard_normal((8, 8)) * scale).astype(["float16", "float32", "float64"][i % 3])
            with Producer({"bootstrap.servers": sys.argv[1], "message.max.bytes": 4_000_000}) as producer:
                how = {site: Accumulation(pane_ms=5_000, sample_rows=64)}
                with MomentAccumulator(producer, how) as first, MomentAccumulator(producer, how) as second:
                    for i in range(20):
                        assert (first, second, producer)[i % 3].send(
                            site, f"request-{i}", rows(i), timestamp_ms=start + 500 * i), producer.stats
                for i in range(20):
                    producer.send(site, f"request-{i}", rows(i), timestamp_ms=start + 10_000 + 500 * i)
                producer.send(site, "next", rows(1), timestamp_ms=start + 20_000)
                assert producer.flush(60) == 0
                assert producer.stats.refused == producer.stats.dropped_rows == 0, producer.stats
            """;

    /** A rank that has its pane open, has told of its tokens, and is killed. */
    private static final String BE_KILLED = """
            import os, signal, sys, time
            import numpy as np
            from plumbline_sae import Accumulation, MomentAccumulator, Producer
            producer = Producer({"bootstrap.servers": sys.argv[1], "message.max.bytes": 4_000_000})
            moments = MomentAccumulator(producer, {sys.argv[2]: Accumulation(pane_ms=5_000)}, linger_ms=10**9)
            moments.send(sys.argv[2], "lost", np.ones((80, 8), dtype="float32"), timestamp_ms=int(sys.argv[3]))
            while producer.stats.delivered == 0:
                time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGKILL)
            """;

    private static final int KILLED = 128 + 9;

    @TempDir
    private static Path folder;

    /** Each rank sends its own: what one of them had open when it was killed is a share of the window's tokens. */
    @Test
    void aWindowSaysWhatAKilledRankHadOpen() throws Exception {
        Python python = Python.ofMachine(folder);
        Path own = Files.createDirectory(folder.resolve("killed"));
        try (EmbeddedBroker broker = EmbeddedBroker.start(own.resolve("broker"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
            MonitorConfig config = WatchedFolder.create(own.resolve("site"), broker.bootstrapServers());
            Python.Run killed = python.run("-c", BE_KILLED, broker.bootstrapServers(), WatchedFolder.SITE, T0 + 2_000);
            assertEquals(KILLED, killed.exitCode(), killed.err());
            Python.Run sent = python.run("-c", SEND, broker.bootstrapServers(), WatchedFolder.SITE, T0);
            assertEquals(0, sent.exitCode(), sent.out() + sent.err());
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
                WindowReport report = firstReport(client, config);
                assertEquals(160, report.geometry().rows());
                CoverageReport coverage = Objects.requireNonNull(report.section(Sections.COVERAGE));
                assertEquals(160 + 80, coverage.tokensServed());
                assertEquals(160.0 / 240.0, coverage.deliveredShare());
                assertNull(runtime.awaitFailure(0, TimeUnit.SECONDS));
            }
            assertEquals(List.of(), client.readAll(config.topics().deadLetters()));
        }
    }

    @Test
    void momentsAndRowsFromPythonAreOneWindow() throws Exception {
        Python python = Python.ofMachine(folder);
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
            MonitorConfig config = WatchedFolder.create(folder.resolve("site"), broker.bootstrapServers());
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
                Python.Run sent = python.run("-c", SEND, broker.bootstrapServers(), WatchedFolder.SITE, T0);
                assertEquals(0, sent.exitCode(), sent.out() + sent.err());
                List<WindowReport> reports = reports(client, config, 2);
                WindowReport report = reports.get(0);
                assertEquals(T0, report.header().windowStartMs());
                assertEquals(160, report.geometry().rows());
                assertEquals(Verdict.ALIGNED, report.judged().verdict());
                requireSameScores(reports.get(1), report);
                assertNull(runtime.awaitFailure(0, TimeUnit.SECONDS));
            }
            assertEquals(List.of(), client.readAll(config.topics().deadLetters()));
        }
    }

    private static void requireSameScores(WindowReport ofRows, WindowReport found) {
        assertEquals(0, ofRows.counts().momentRecords());
        assertEquals(4, found.counts().momentRecords());
        assertEquals(20, ofRows.counts().requestsScored());
        assertEquals(20, found.counts().requestsScored());
        for (Statistic statistic : List.of(Statistic.REQUEST_SHIFT, Statistic.WORST_REQUEST)) {
            double expected = ofRows.geometry().value(statistic).orElseThrow();
            assertEquals(expected, found.geometry().value(statistic).orElseThrow(), 1e-5 * expected);
        }
        assertEquals(names(ofRows), names(found));
    }

    private static List<String> names(WindowReport report) {
        return report.listed(Sections.WORST_REQUESTS).stream()
                .map(WorstRequest::request)
                .toList();
    }

    private static WindowReport firstReport(BrokerClient client, MonitorConfig config) throws Exception {
        return reports(client, config, 1).get(0);
    }

    private static List<WindowReport> reports(BrokerClient client, MonitorConfig config, int count) throws Exception {
        return client.await(config.topics().windowReports(), reports -> reports.size() >= count).stream()
                .map(record -> Json.read(record.value(), WindowReport.class))
                .toList();
    }
}
