package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.geometry.Statistic;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests windows a monitor reported on a broker, as a file for Prometheus; and what Prometheus makes of it and of a
 * scrape.
 */
class ExportIT {

    private static final long T0 = 1_700_000_000_000L;
    private static final int WINDOWS = 3;

    @TempDir
    private static Path folder;

    private static EmbeddedBroker broker;
    private static MonitorConfig config;
    private static List<WindowReport> reports;
    private static String scrape;

    @BeforeAll
    static void reportWindows() throws Exception {
        broker = EmbeddedBroker.start(folder.resolve("broker"));
        BrokerClient client = new BrokerClient(broker.bootstrapServers());
        client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
        config = WatchedFolder.create(folder.resolve("site"), broker.bootstrapServers());
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i <= WINDOWS * WatchedFolder.RECORDS; i++) {
            long time = T0 + i / WatchedFolder.RECORDS * 10_000L + i % WatchedFolder.RECORDS * 100L;
            records.add(new ProducerRecord<>(
                    "activations",
                    0,
                    time,
                    WatchedFolder.SITE.getBytes(StandardCharsets.UTF_8),
                    ActivationRecords.blob(WatchedFolder.quiet(i))));
        }
        client.sendAll(records);
        try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
            reports = client.await(config.topics().windowReports(), found -> found.size() >= WINDOWS).stream()
                    .map(record -> Json.read(record.value(), WindowReport.class))
                    .toList();
            try (var body = URI.create("http://127.0.0.1:%d/metrics"
                            .formatted(runtime.httpAddress().getPort()))
                    .toURL()
                    .openStream()) {
                scrape = new String(body.readAllBytes(), StandardCharsets.UTF_8);
            }
        }
        client.send(List.of(new ProducerRecord<>(
                config.topics().windowReports(), new byte[0], "none".getBytes(StandardCharsets.UTF_8))));
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    @Test
    void everyWindowIsThereAtItsEndAndWhatIsNoReportIsNamed() throws Exception {
        Path file = folder.resolve("all.om");
        Shell shell = export(file);
        assertEquals(ExitCodes.FAILURE, shell.exitCode(), shell.err());
        assertTrue(
                shell.err().contains("1 record of window-reports is no report and left out, the first at "),
                shell.err());
        assertEquals(
                "wrote %s: %d windows".formatted(file, WINDOWS), shell.out().strip());
        String text = Files.readString(file);
        for (WindowReport report : reports) {
            String line = "plumbline_faithfulness_gap{job=\"small\",site=\"%s\"} %s %d.000\n"
                    .formatted(
                            WatchedFolder.SITE,
                            report.geometry().value(Statistic.FAITHFULNESS_GAP).orElseThrow(),
                            report.header().windowEndMs() / 1000);
            assertTrue(text.contains(line), () -> line + "not in\n" + text);
        }
        assertTrue(text.endsWith("\n# EOF\n"));
    }

    @Test
    void aRangeTakesTheWindowsThatEndInItAndAnEmptyOneWritesNothing() throws Exception {
        Path file = folder.resolve("one.om");
        Shell shell =
                export(file, "--from", "2023-11-14T22:13:40Z", "--to", "2023-11-14T22:13:41Z", "--site", "layer.a");
        assertEquals("wrote %s: 1 window".formatted(file), shell.out().strip(), shell.err());
        long values = Files.readString(file)
                .lines()
                .filter(line -> line.startsWith("plumbline_window_rows{"))
                .count();
        assertEquals(1, values);
        Shell old = export(folder.resolve("old.om"), "--to", "30d");
        assertTrue(old.out().strip().endsWith("%d windows".formatted(WINDOWS)), old.err());
        Path nothing = folder.resolve("nothing.om");
        Shell empty = export(nothing, "--site", "layer.b");
        assertEquals(ExitCodes.USAGE, empty.exitCode());
        assertTrue(
                empty.err()
                        .contains("no window of layer.b in the range on topic window-reports, "
                                + "which has windows of layer.a"),
                empty.err());
        assertFalse(Files.exists(nothing));
    }

    @Test
    void anIncidentIsReportedWhereNoAdapterHasRun() throws Exception {
        Path file = folder.resolve("incident.html");
        Shell shell = Shell.run(
                "report",
                "--config",
                folder.resolve("site").resolve(WatchedFolder.FILE),
                "--site",
                WatchedFolder.SITE,
                "--out",
                file);
        assertEquals(
                "wrote %s: %d windows, no adapter has run: topic adaptation-reports does not exist"
                        .formatted(file, WINDOWS),
                shell.out().strip(),
                shell.err());
        assertTrue(Files.readString(file).contains(WatchedFolder.SITE));
    }

    @Test
    void prometheusMakesBlocksOfItWithTheSameValuesAtTheSameTimes() throws Exception {
        Promtool promtool = Promtool.ofMachine();
        Path file = folder.resolve("blocks.om");
        export(file);
        Path data = Files.createDirectory(folder.resolve("data"));
        Promtool.Run made = promtool.run(folder, "", "tsdb", "create-blocks-from", "openmetrics", file, data);
        assertEquals(0, made.exitCode(), made.output());
        // A server has one beside its blocks, and the dump asks for it.
        Files.createDirectory(data.resolve("wal"));
        Promtool.Run dump = promtool.run(folder, "", "tsdb", "dump", data);
        for (WindowReport report : reports) {
            String series = "{__name__=\"plumbline_window_rows\", job=\"small\", site=\"%s\"} %d %d"
                    .formatted(
                            WatchedFolder.SITE,
                            report.geometry().rows(),
                            report.header().windowEndMs());
            assertTrue(dump.output().contains(series), () -> series + " not in\n" + dump.output());
        }
    }

    @Test
    void prometheusFindsNothingWrongWithTheScrapeOfARunningMonitor() throws Exception {
        Promtool.Run check = Promtool.ofMachine().run(folder, scrape, "check", "metrics");
        assertEquals("", check.output());
        assertEquals(0, check.exitCode());
    }

    @Test
    void everyRatioOfARunningMonitorIsAShare() {
        List<String> ratios = scrape.lines()
                .filter(line -> line.matches("[a-z_]+_ratio(\\{.*)? .*"))
                .toList();
        assertTrue(ratios.size() >= 6, ratios::toString);
        for (String ratio : ratios) {
            double value = Double.parseDouble(ratio.substring(ratio.lastIndexOf(' ') + 1));
            assertTrue(value >= 0 && value <= 1, ratio);
        }
    }

    private static Shell export(Path file, Object... more) {
        List<Object> words = new ArrayList<>(List.of(
                "export", "--config", folder.resolve("site").resolve(WatchedFolder.FILE), "--openmetrics", file));
        words.addAll(List.of(more));
        return Shell.run(words.toArray());
    }
}
