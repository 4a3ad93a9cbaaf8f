package io.plumbline.topology.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.topology.Repository;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.WindowReport;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that an entry of {@link Statistic} is enough: nothing outside the mathematics has a list of its own. */
class EveryStatisticTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path folder;

    @Test
    void aReportReadBackIsTheReport() {
        WindowReport report = report();
        assertEquals(report, Json.read(Json.bytes(report), WindowReport.class));
        WindowReport with = read((ObjectNode) Json.tree(report).deepCopy(), Statistic.ETA);
        assertEquals(
                report.geometry().undefined().size() + 1,
                with.geometry().undefined().size());
        assertEquals(with, Json.read(Json.bytes(with), WindowReport.class));
    }

    @ParameterizedTest
    @EnumSource
    void aReportHasItAsAKeyAndWhereItIsUndefinedNullAndTheReason(Statistic statistic) {
        WindowReport report = report();
        assertEquals(
                value(statistic), report.geometry().value(statistic).orElseThrow(), "read from the key of its label");
        JsonNode written = Json.tree(report);
        assertEquals(value(statistic), written.get(statistic.label()).asDouble());
        JsonNode undefined = Json.tree(read((ObjectNode) written, statistic));
        assertTrue(undefined.get(statistic.label()).isNull(), undefined.toString());
        assertEquals(
                "a test said so",
                undefined.get("undefined").get(statistic.label()).asText());
    }

    @ParameterizedTest
    @EnumSource
    void aReportFromBeforeItExistedIsRead(Statistic statistic) {
        ObjectNode before = (ObjectNode) Json.tree(report());
        before.remove(statistic.label());
        GapAssessment read = Json.read(before.toString().getBytes(StandardCharsets.UTF_8), WindowReport.class)
                .geometry();
        assertTrue(read.value(statistic).isEmpty());
        assertNull(read.undefined().get(statistic.label()), "nobody knows a reason");
    }

    @ParameterizedTest
    @EnumSource
    void aSiteMayBeJudgedByIt(Statistic statistic) throws IOException {
        String yaml = """
                application_id: page
                kafka: {bootstrap.servers: "broker:9092"}
                window: {size: 60s}
                sites:
                  blocks.7: {explainer: sae, baseline: b, rank: 32, threshold: {quantile: 0.9}, trigger: %s%s}
                """.formatted(
                        statistic.label(),
                        statistic.source() == Statistic.Source.HEAD ? ", downstream: {head: head.onnx}" : "");
        assertEquals(
                List.of(statistic.label()),
                Objects.requireNonNull(MonitorConfig.parse(yaml, "x.yaml", folder)
                                .sites()
                                .get("blocks.7"))
                        .alarms()
                        .triggers());
    }

    @ParameterizedTest
    @MethodSource("shown")
    void theConsoleHasItInEveryWindowInItsListAndInTheTable(Statistic statistic) throws Exception {
        try (ServedConsole served = ServedConsole.start(ConsoleReports.config(folder))) {
            served.console().onReport(report(), 0);
            served.console()
                    .onReport(read((ObjectNode) Json.tree(ConsoleReports.window("blocks.7", 1, 3)), statistic), 0);
            JsonNode windows = JSON.readTree(
                            served.get("/api/sites/blocks.7/windows").body())
                    .get("windows");
            assertEquals(value(statistic), windows.get(0).get(statistic.label()).asDouble());
            assertTrue(windows.get(1).get(statistic.label()).isNull(), windows::toString);
            String listed = "{\"statistic\":\"%s\",\"help\":%s}"
                    .formatted(statistic.label(), JSON.writeValueAsString(statistic.help()));
            assertTrue(served.get("/api/sites").body().contains(listed), listed);
            List<String> lines =
                    served.get("/api/sites/blocks.7/windows.csv").body().lines().toList();
            int column = List.of(lines.get(0).split(",")).indexOf(statistic.label());
            assertTrue(column >= 0, lines.get(0));
            assertTrue(lines.get(1).contains("," + value(statistic)), lines.get(1));
        }
    }

    @ParameterizedTest
    @MethodSource("shown")
    void theFileForAnIncidentHasItAndTheReasonWhereItIsUndefined(Statistic statistic) throws IOException {
        JsonNode recorded = recorded(report());
        assertEquals(
                value(statistic),
                recorded.at("/answers/blocks.7/windows/windows/0/" + statistic.label())
                        .asDouble());
        assertTrue(recorded.at("/overview/statistics")
                .findValuesAsText("statistic")
                .contains(statistic.label()));
        JsonNode newest =
                recorded(read((ObjectNode) Json.tree(report()), statistic)).at("/answers/blocks.7/reports/newest");
        assertTrue(newest.get(statistic.label()).isNull(), newest::toString);
        assertEquals(
                "a test said so", newest.at("/undefined/" + statistic.label()).asText());
    }

    private JsonNode recorded(WindowReport window) throws IOException {
        return ConsoleReports.recorded(
                IncidentReport.html(ConsoleReports.config(folder), "blocks.7", List.of(window), List.of()));
    }

    @ParameterizedTest
    @EnumSource
    void theOutputOnThePageAboutFilesHasItIfItMeasuresDrift(Statistic statistic) throws IOException {
        String page = Files.readString(Repository.path("docs", "use", "files.md"));
        assertTrue(
                !statistic.measuresDrift() || page.lines().anyMatch(line -> line.startsWith(statistic.label() + " ")),
                () -> "docs/use/files.md: the output of `plumbline assess` there has no line " + statistic.label());
    }

    @Test
    void thePageAboutStatisticsHasThoseThatMeasureDriftAndNoOthers() throws IOException {
        String page = Files.readString(Repository.path("docs", "concepts", "statistics.md"));
        String table = page.split("\\| statistic \\|", 2)[1].split("\n\n", 2)[0];
        Set<String> rows = new TreeSet<>();
        Pattern.compile("(?m)^\\| `(\\w+)` \\|").matcher(table).results().forEach(row -> rows.add(row.group(1)));
        Set<String> drift = new TreeSet<>();
        for (Statistic statistic : Statistic.values()) {
            if (statistic.measuresDrift()) {
                drift.add(statistic.label());
            }
        }
        assertEquals(drift, rows);
    }

    private static List<Statistic> shown() {
        return Statistic.shown();
    }

    @Test
    void theLinearBoundsAreInReportsAlone() throws Exception {
        assertTrue(Json.text(report()).contains("\"davis_kahan_valid\":"));
        try (ServedConsole served = ServedConsole.start(ConsoleReports.config(folder))) {
            served.console().onReport(report(), 0);
            for (String path :
                    List.of("/api/sites", "/api/sites/blocks.7/windows", "/api/sites/blocks.7/windows.csv")) {
                assertFalse(served.get(path).body().contains("davis_kahan"), path);
            }
        }
    }

    /** A window in which every statistic has a value of its own. */
    private static WindowReport report() {
        ObjectNode window = (ObjectNode) Json.tree(ConsoleReports.window("blocks.7", 0, 3));
        for (Statistic statistic : Statistic.values()) {
            window.put(statistic.label(), value(statistic));
        }
        return Json.read(window.toString().getBytes(StandardCharsets.UTF_8), WindowReport.class);
    }

    private static WindowReport read(ObjectNode window, Statistic undefined) {
        window.putNull(undefined.label());
        ((ObjectNode) window.get("undefined")).put(undefined.label(), "a test said so");
        return Json.read(window.toString().getBytes(StandardCharsets.UTF_8), WindowReport.class);
    }

    private static double value(Statistic statistic) {
        return 0.5 + GapAssessment.statisticNames().indexOf(statistic.label()) / 128.0;
    }
}
