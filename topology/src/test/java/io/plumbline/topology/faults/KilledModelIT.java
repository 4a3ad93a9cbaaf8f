package io.plumbline.topology.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.judgement.Verdict;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.Streaming;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.cli.Shell;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.operate.Plumbline;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.ModelReport;
import io.plumbline.topology.report.SiteStanding;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a model whose sites lie on several partitions and two instances, one of them killed, against a real broker. */
class KilledModelIT {

    private static final long T0 = 1_700_000_000_000L;
    private static final long WINDOW_MS = 10_000;
    private static final int PARTITIONS = 3;
    private static final int WINDOWS = 6;
    private static final String[] SITES = {"layer.0", "layer.1", "layer.2", "layer.3"};
    private static final String MODEL = "threshold: {false_alarm_rate: 0.025}, debounce: 1 of 1, wait: 2m";

    @TempDir
    private Path folder;

    private int children;

    /** The model's windows are those of one that lived: each once, with the same verdict and sites. */
    @Test
    void whenAnInstanceIsKilledEveryWindowOfAModelIsReportedOnceAndAsByOneThatLived() throws Exception {
        Map<Long, ModelReport> expected = lived();
        assertEquals(WINDOWS - 1, expected.size());
        assertEquals(
                Verdict.ALIGNED,
                report(expected, 0).verdict(),
                report(expected, 0).reason());
        assertEquals(
                Verdict.DRIFTED,
                report(expected, 2).verdict(),
                report(expected, 2).reason());
        assertEquals("layer.1", report(expected, 2).firstSite());
        assertEquals(List.of("layer.1", "layer.3"), report(expected, 2).sitesAbove());
        Map<Long, ModelReport> found = killed();
        assertEquals(expected.keySet(), found.keySet());
        expected.forEach((start, report) -> assertSame(report, found.get(start)));
    }

    private static ModelReport report(Map<Long, ModelReport> reports, int window) {
        return reports.get(T0 + window * WINDOW_MS);
    }

    private static void assertSame(ModelReport one, ModelReport other) {
        assertEquals(one.verdict(), other.verdict(), one + " and " + other);
        assertEquals(one.firstSite(), other.firstSite());
        assertEquals(one.worstSite(), other.worstSite());
        assertEquals(one.sitesAbove(), other.sitesAbove());
        assertEquals(one.missingSites(), other.missingSites());
        for (int site = 0; site < SITES.length; site++) {
            SiteStanding standing = one.sites().get(site);
            SiteStanding found = other.sites().get(site);
            assertEquals(standing.site(), found.site());
            assertEquals(standing.trigger(), found.trigger());
            // Rows are summed in another order, and eigenvectors are iterated: the last digits differ.
            assertEquals(standing.triggerValue(), found.triggerValue(), 1e-7, standing + " and " + found);
        }
    }

    /** Returns what the topology says in the test driver, where everything is one partition and one instance. */
    private Map<Long, ModelReport> lived() throws IOException {
        MonitorConfig config = WatchedFolder.createModel(folder.resolve("one"), "localhost:9092", "", MODEL, SITES);
        try (Streaming stream = Streaming.monitor(config, folder.resolve("one-state"), new DriftListener() {})) {
            windows(0, WINDOWS)
                    .forEach(record -> stream.send(
                            "activations",
                            new String(record.key(), StandardCharsets.UTF_8),
                            record.value(),
                            record.timestamp()));
            Map<Long, ModelReport> reports = new TreeMap<>();
            stream.read("window-reports").stream()
                    .filter(record -> record.headers().lastHeader(ModelReport.HEADER) != null)
                    .map(record -> Json.read(record.value(), ModelReport.class))
                    .forEach(report -> reports.put(report.windowStartMs(), report));
            return reports;
        }
    }

    private Map<Long, ModelReport> killed() throws Exception {
        try (EmbeddedBroker broker = FaultBroker.start(folder.resolve("broker-of-killed"))) {
            BrokerClient client = prepared(broker);
            Path config = config(folder.resolve("killed"), broker);
            Path other = Files.writeString(
                    config.resolveSibling("other.yaml"),
                    Files.readString(config).replace("directory: state", "directory: other-state"));
            client.sendAll(windows(0, 4));
            try (ChildJvm first = service(config);
                    ChildJvm second = service(other)) {
                client.await("window-reports", found -> !models(found).isEmpty());
                first.kill();
                client.sendAll(windows(4, WINDOWS));
                client.await("window-reports", found -> models(found).size() == WINDOWS - 1);
                assertTrue(second.isAlive());
                written(config);
            }
            return reports(client);
        }
    }

    /** Holds that what happened to the model can be attached to an incident. */
    private static void written(Path config) throws IOException {
        Path file = config.resolveSibling("incident.html");
        Shell report = Shell.run("report", "--config", config, "--model", "small", "--out", file);
        assertEquals(0, report.exitCode(), report.err());
        String html = Files.readString(file);
        assertTrue(html.contains("\"model\":\"small\"") && html.contains("\"layer.3\":{"), "map and pages");
        assertTrue(!html.contains("\"layer.0\":{"), "a site that was never above has no page");
        Shell unknown = Shell.run("report", "--config", config, "--model", "large", "--out", file);
        assertEquals(2, unknown.exitCode());
        assertTrue(unknown.err().contains("--model = large: expected a model of"), unknown.err());
    }

    private static BrokerClient prepared(EmbeddedBroker broker) throws Exception {
        BrokerClient client = new BrokerClient(broker.bootstrapServers());
        client.createTopic("activations", PARTITIONS, Map.of("retention.ms", "-1"));
        client.createTopic("window-reports", PARTITIONS, Map.of("retention.ms", "-1"));
        return client;
    }

    private static Path config(Path site, EmbeddedBroker broker) throws IOException {
        WatchedFolder.createModel(Files.createDirectories(site), broker.bootstrapServers(), "", MODEL, SITES);
        Path config = site.resolve(WatchedFolder.FILE);
        // A killed instance is missed after seconds.
        return Files.writeString(
                config,
                Files.readString(config)
                        .replace(
                                "monitor.commit.interval.ms: 500",
                                "monitor.commit.interval.ms: 200, "
                                        + "monitor.main.consumer.session.timeout.ms: 3000, "
                                        + "monitor.main.consumer.heartbeat.interval.ms: 500, "
                                        + "monitor.producer.transaction.timeout.ms: 3000"));
    }

    private ChildJvm service(Path config) {
        return ChildJvm.start(
                folder.resolve("service-%d.log".formatted(children++)),
                Plumbline.class,
                List.of(),
                List.of("run", "--config", config.toString()));
    }

    /** Returns the records of windows, each site's over all partitions. In window 2 two layers have drifted. */
    private static List<ProducerRecord<byte[], byte[]>> windows(int from, int to) {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int window = from; window < to; window++) {
            for (int record = 0; record < WatchedFolder.RECORDS; record++) {
                for (String site : SITES) {
                    long time = T0 + window * WINDOW_MS + record * 100L;
                    long seed = 7_000_000 + site.hashCode() * 31L + time;
                    boolean drifted = window == 2 && (site.equals("layer.1") || site.equals("layer.3"));
                    Matrix rows = drifted ? WatchedFolder.drifted(seed) : WatchedFolder.quiet(seed);
                    records.add(new ProducerRecord<>(
                            "activations",
                            record % PARTITIONS,
                            time,
                            site.getBytes(StandardCharsets.UTF_8),
                            ActivationRecords.blob(rows)));
                }
            }
        }
        return records;
    }

    private static Map<Long, ModelReport> reports(BrokerClient client) throws Exception {
        Map<Long, ModelReport> reports = new TreeMap<>();
        models(client.readAll("window-reports"))
                .forEach(report -> assertNull(reports.put(report.windowStartMs(), report), "reported twice"));
        return reports;
    }

    private static List<ModelReport> models(List<ConsumerRecord<byte[], byte[]>> found) {
        return found.stream()
                .filter(record -> record.headers().lastHeader(ModelReport.HEADER) != null)
                .map(record -> Json.read(record.value(), ModelReport.class))
                .toList();
    }
}
