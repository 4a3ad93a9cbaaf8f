package io.plumbline.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.judgement.Verdict;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.config.ConfigException;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.ModelReport;
import io.plumbline.topology.report.WindowReport;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.LongFunction;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three sites that the same requests pass, judged as one. */
class ModelsTopologyTest {

    private static final long T0 = 1_700_000_000_000L;
    private static final long SIZE_MS = 10_000;
    private static final String[] SITES = {"layer.0", "layer.1", "layer.2"};
    private static final String PROMISE = "threshold: {false_alarm_rate: 0.025}, debounce: 1 of 1, wait: 5s";

    @TempDir
    private Path folder;

    private final List<String> late = new ArrayList<>();
    private int foreign;
    private MonitorConfig config;

    @BeforeEach
    void makeBaselines() throws IOException {
        config = WatchedFolder.createModel(folder, "localhost:9092", "", PROMISE, SITES);
    }

    @Test
    void aDriftOfOneLayerIsADriftOfTheModelThatNamesFirstAndWorst() throws IOException {
        try (Streaming stream = stream()) {
            for (int window = 0; window < 3; window++) {
                for (String site : SITES) {
                    send(stream, site, window, window == 1 && site.equals("layer.1"));
                }
            }
            List<ModelReport> reports = models(stream);
            assertEquals(2, reports.size());
            assertEquals(
                    Verdict.ALIGNED, reports.get(0).verdict(), reports.get(0).reason());
            assertNull(reports.get(0).firstSite());
            ModelReport drifted = reports.get(1);
            assertEquals(Verdict.DRIFTED, drifted.verdict(), drifted.reason());
            assertEquals("layer.1", drifted.firstSite());
            assertEquals("layer.1", drifted.worstSite());
            assertEquals(List.of("layer.1"), drifted.sitesAbove());
            assertEquals(List.of("layer.1"), drifted.driftedSites());
            assertEquals(List.of(), drifted.missingSites());
            assertTrue(Objects.requireNonNull(drifted.overThreshold()) > 1.0);
            assertTrue(drifted.reason().contains("of layer.1 over its threshold"), drifted.reason());
            assertEquals(T0 + SIZE_MS, drifted.windowStartMs());
        }
    }

    @Test
    void thresholdsAreHigherThanThoseOfASiteByItself() throws IOException {
        List<Double> together = thresholds(config);
        String alone = Files.readString(folder.resolve(WatchedFolder.FILE))
                .replaceAll("(?m)^models:\\n.*\\n", "")
                .replace("debounce: 1 of 1\n", "debounce: 1 of 1\n      threshold: {false_alarm_rate: 0.025}\n");
        List<Double> apart = thresholds(MonitorConfig.parse(alone, "alone", folder));
        for (int site = 0; site < SITES.length; site++) {
            assertTrue(together.get(site) >= apart.get(site), together + " beside " + apart);
        }
        assertTrue(
                together.stream().mapToDouble(one -> one).sum()
                        > apart.stream().mapToDouble(one -> one).sum(),
                together + " beside " + apart);
    }

    @Test
    void aSiteThatHasALaterWindowHasNoneForThisOne() throws IOException {
        try (Streaming stream = stream()) {
            for (int window = 0; window < 4; window++) {
                for (String site : SITES) {
                    if (window != 1 || !site.equals("layer.2")) {
                        send(stream, site, window, false);
                    }
                }
            }
            List<ModelReport> reports = models(stream);
            assertEquals(3, reports.size());
            assertEquals(List.of("layer.2"), reports.get(1).missingSites());
            assertEquals(2, reports.get(1).sites().size());
            assertEquals(Verdict.ALIGNED, reports.get(1).verdict());
            assertEquals(List.of(), late);
        }
    }

    @Test
    void aSiteThatIsSilentIsWaitedForAndItsWindowIsThenTooLate() throws IOException {
        try (Streaming stream = stream()) {
            send(stream, "layer.0", 0, false);
            send(stream, "layer.0", 1, false);
            send(stream, "layer.1", 0, false);
            send(stream, "layer.1", 1, false);
            assertEquals(0, models(stream).size());
            stream.pass(Duration.ofSeconds(1));
            stream.pass(Duration.ofSeconds(4));
            assertEquals(0, models(stream).size());
            stream.pass(Duration.ofSeconds(2));
            List<ModelReport> reports = models(stream);
            assertEquals(1, reports.size());
            assertEquals(List.of("layer.2"), reports.get(0).missingSites());

            send(stream, "layer.2", 0, false);
            send(stream, "layer.2", 1, false);
            assertEquals(0, models(stream).size());
            assertEquals(List.of("small"), late);
        }
    }

    @Test
    void whatIsNoWindowOfASiteIsCountedAndPassedOver() throws IOException {
        try (Streaming stream = stream()) {
            String topic = config.topics().modelWindows();
            stream.send(topic, "small", "{}".getBytes(StandardCharsets.UTF_8), T0);
            stream.send(topic, "small", "{\"version\": 1}".getBytes(StandardCharsets.UTF_8), T0);
            stream.send(topic, "small", new byte[] {1, 2, 3}, T0);
            stream.send(topic, (String) null, null, T0);
            assertEquals(4, foreign);
            for (String site : SITES) {
                send(stream, site, 0, false);
                send(stream, site, 1, false);
            }
            assertEquals(1, models(stream).size());
        }
    }

    @Test
    void aSiteThatIsFarBehindIsWaitedForWhileItGoesOn() throws IOException {
        try (Streaming stream = stream()) {
            for (int window = 0; window < 5; window++) {
                send(stream, "layer.0", window, false);
                send(stream, "layer.1", window, false);
            }
            for (int window = 0; window < 5; window++) {
                stream.pass(Duration.ofSeconds(4));
                send(stream, "layer.2", window, false);
            }
            List<ModelReport> reports = models(stream);
            assertEquals(4, reports.size());
            reports.forEach(report -> assertEquals(List.of(), report.missingSites()));
            assertEquals(List.of(), late);
        }
    }

    @Test
    void theOrderInWhichSitesAreReadDoesNotMatter() throws IOException {
        List<ModelReport> inTurn;
        try (Streaming stream = stream()) {
            for (int window = 0; window < 4; window++) {
                for (String site : SITES) {
                    send(stream, site, window, window == 2 && !site.equals("layer.0"));
                }
            }
            inTurn = models(stream);
        }
        try (Streaming stream = Streaming.monitor(config, folder.resolve("other"), new DriftListener() {})) {
            for (String site : List.of("layer.2", "layer.0", "layer.1")) {
                for (int window = 0; window < 4; window++) {
                    send(stream, site, window, window == 2 && !site.equals("layer.0"));
                }
            }
            assertEquals(inTurn, models(stream));
            assertEquals(3, inTurn.size());
            assertEquals("layer.1", inTurn.get(2).firstSite());
        }
    }

    @Test
    void baselinesOfOtherRequestsAreRefused() throws IOException {
        Path other = folder.resolve("other");
        WatchedFolder.createModel(other, "localhost:9092", "", PROMISE, SITES);
        // The same file twice is of the same requests; one with a request less is not.
        Files.copy(folder.resolve("layer.0.safetensors"), other.resolve("copy.safetensors"));
        WatchedFolder.create(folder.resolve("single"), "localhost:9092");
        Files.copy(
                folder.resolve("single").resolve("baseline.safetensors"),
                folder.resolve("layer.2.safetensors"),
                java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        IllegalArgumentException refused = assertThrows(
                IllegalArgumentException.class,
                () -> WatchedSite.readAll(config.sites().values()));
        assertTrue(
                String.valueOf(refused.getMessage())
                        .startsWith("model small, site layer.0: its baseline has no clean window"),
                refused.getMessage());
    }

    @Test
    void whatCannotBeAModelIsRefusedWithWhatToWrite() {
        assertProblem("small: {sites: [layer.9]}", "models.small.sites = layer.9: expected a name under sites");
        assertProblem("small: {}", "models.small.sites is empty: expected the names of the sites");
        assertProblem("small: {sites: [layer.0], threshold: 3}", "expected {false_alarms: 1 per 30d}");
        assertProblem("a: {sites: [layer.0]}, b: {sites: [layer.0]}", "expected each site once, in one model");
        assertProblem("layer.1: {sites: [layer.0]}", "expected names that no site has");
        assertProblem("small: {sites: [layer.0], graces: 3s}", "graces");
    }

    private void assertProblem(String models, String words) {
        ConfigException refused = assertThrows(ConfigException.class, () -> {
            String yaml = Files.readString(folder.resolve(WatchedFolder.FILE))
                    .replaceAll("(?m)^models:\\n.*\\n", "models: {" + models + "}\n");
            MonitorConfig.parse(yaml, "changed", folder);
        });
        assertTrue(String.valueOf(refused.getMessage()).contains(words), refused.getMessage());
    }

    private Streaming stream() throws IOException {
        return Streaming.monitor(config, folder.resolve("state"), new DriftListener() {
            @Override
            public void onLateSite(String model) {
                late.add(model);
            }

            @Override
            public void onForeignWindow() {
                foreign++;
            }
        });
    }

    private static List<ModelReport> models(Streaming stream) {
        return stream.read("window-reports").stream()
                .filter(report -> report.headers().lastHeader(ModelReport.HEADER) != null)
                .map(report -> Json.read(report.value(), ModelReport.class))
                .toList();
    }

    private List<Double> thresholds(MonitorConfig of) throws IOException {
        List<Double> thresholds = new ArrayList<>();
        try (Streaming stream =
                Streaming.monitor(of, Files.createTempDirectory(folder, "state"), new DriftListener() {})) {
            for (String site : SITES) {
                send(stream, site, 0, false);
                send(stream, site, 1, false);
            }
            stream.read("window-reports").stream()
                    .filter(report -> report.headers().lastHeader(ModelReport.HEADER) == null)
                    .map(report -> Json.read(report.value(), WindowReport.class))
                    .forEach(report ->
                            thresholds.add(report.evidence().statistics().get(0).threshold()));
        }
        return thresholds;
    }

    private static void send(Streaming stream, String site, int window, boolean drifted) {
        LongFunction<Matrix> traffic = drifted ? WatchedFolder::drifted : WatchedFolder::quiet;
        for (int record = 0; record < WatchedFolder.RECORDS; record++) {
            long time = T0 + window * SIZE_MS + record * 100L;
            stream.send(
                    "activations",
                    site,
                    ActivationRecords.blob(traffic.apply(7_000_000 + site.hashCode() * 31L + time)),
                    time);
        }
    }
}
