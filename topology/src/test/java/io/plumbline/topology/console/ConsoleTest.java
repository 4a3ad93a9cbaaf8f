package io.plumbline.topology.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import at.favre.lib.crypto.bcrypt.BCrypt;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.plumbline.judgement.DriftPolicy;
import io.plumbline.judgement.Verdict;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.http.WebConfig;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.models.ModelSettings;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.ModelReport;
import io.plumbline.topology.report.WindowReport;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what is behind the page, without a browser. */
class ConsoleTest {

    private static final JsonMapper JSON = new JsonMapper();
    private static final Pattern IMPORT = Pattern.compile("from \"\\./([^\"]+)\"");

    /** The checksums of uplot 1.6.32 as npm serves it. */
    private static final Map<String, String> UPLOT = Map.of(
            "uplot/uPlot.esm.js", "5dd9b3281aa64b461b42d9945f6adb2649d346502b12281a9ae0d46599a80eba",
            "uplot/uPlot.min.css", "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
            "uplot/LICENSE", "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd");

    @TempDir
    private Path folder;

    @Test
    void theChartLibraryIsTheOnePublished() throws Exception {
        for (Map.Entry<String, String> file : UPLOT.entrySet()) {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(StaticFiles.read(file.getKey()));
            assertEquals(file.getValue(), HexFormat.of().formatHex(hash), file.getKey());
        }
    }

    /** Nobody who may write to the topic can stop the feed of reports by it. */
    @Test
    void aModelReportThatNamesASiteTwiceIsAWindowLikeOthers() throws Exception {
        JsonNode told = Json.tree(ConsoleReports.ofModel(0, 20, 24));
        ((ArrayNode) told.get("sites")).add(told.get("sites").get(0));
        ModelReport twice = Json.read(told.toString().getBytes(StandardCharsets.UTF_8), ModelReport.class);
        ModelSettings model =
                new ModelSettings("llama", List.of("layer.0"), DriftPolicy.immediate(), Duration.ofMinutes(1));
        assertEquals(1, ModelHistory.of(model).with(twice, 5).windows().size());
    }

    @Test
    void everyModuleImportsOnlyFilesThatAreServedAndNoneMakesMarkupOfText() {
        for (String name : StaticFiles.NAMES) {
            String text = new String(StaticFiles.read(name), StandardCharsets.UTF_8);
            Matcher imports = IMPORT.matcher(text);
            while (imports.find()) {
                assertTrue(StaticFiles.NAMES.contains(imports.group(1)), name + " imports " + imports.group(1));
            }
            if (!name.startsWith("uplot/")) {
                assertFalse(
                        text.matches(
                                "(?s).*(innerHTML|insertAdjacentHTML|document\\.write|https?://(?!www\\.w3\\.org)).*"),
                        name);
            }
        }
    }

    @Test
    void reportsInAnyOrderAndTwiceGiveTheSameHistory() {
        SiteHistory inOrder = SiteHistory.of("blocks.7");
        SiteHistory shuffled = inOrder;
        for (int i : new int[] {0, 1, 2, 3}) {
            inOrder = inOrder.with(ConsoleReports.window("blocks.7", i, 3), 3, 0);
        }
        for (int i : new int[] {3, 1, 3, 2, 1}) {
            shuffled = shuffled.with(ConsoleReports.window("blocks.7", i, 3), 3, 0);
        }
        assertEquals(inOrder.windows(), shuffled.windows());
        assertEquals(3, shuffled.windows().size(), "the oldest goes");
        assertEquals(inOrder.newest(), shuffled.newest());
        assertSame(shuffled, shuffled.with(ConsoleReports.window("blocks.7", 2, 3), 3, 0));
    }

    @Test
    void aWindowWithTooFewRowsToJudgeIsInTheHistory() {
        SiteHistory history = SiteHistory.of("blocks.7").with(ConsoleReports.undecided("blocks.7", 0), 3, 0);
        WindowPoint point = history.windows().get(0);
        assertEquals(Verdict.UNDECIDED, point.judged().verdict());
        assertNull(point.headline());
        assertNull(point.gapThreshold());
        assertNull(point.judged().threshold());
    }

    @Test
    void aReaderTooSlowForTheEventsFindsItsPlaceGone() throws Exception {
        Events events = new Events(3);
        for (int i = 0; i < 5; i++) {
            events.publish("window", i);
        }
        assertEquals(
                List.of(3L, 4L, 5L),
                events.after(2, 0).stream().map(Events.Event::number).toList());
        assertNull(events.after(1, 0), "event 2 is gone");
        assertNull(events.after(6, 0), "of another process");
        assertEquals(List.of(), events.after(5, 1));
    }

    @Test
    void aStreamTakesUpWhereTheLastOneEndedAndAStrangersPlaceIsReset() throws Exception {
        try (ServedConsole served = ServedConsole.start(ConsoleReports.config(folder))) {
            String place =
                    JSON.readTree(served.get("/api/sites").body()).get("place").asText();
            served.console().onReport(ConsoleReports.window("blocks.7", 0, 3), 0);
            served.console().onReport(ConsoleReports.window("blocks.7", 1, 3), 0);
            List<String> both = events(served, place, 2);
            assertTrue(
                    both.get(0)
                            .contains("event: window\ndata: "
                                    + "{\"site\":\"blocks.7\","
                                    + "\"window\":{\"site\":\"blocks.7\",\"window_start_ms\":"),
                    both::toString);
            String first = both.get(0).lines().findFirst().orElseThrow().substring("id: ".length());
            assertEquals(both.subList(1, 2), events(served, first, 1));
            assertTrue(events(served, "0-1", 1).get(0).contains("event: reset"));
        }
    }

    @Test
    void oneBrowserTooManyIsToldAndTheStageThatReportsIsNotHeldUp() throws Exception {
        try (ServedConsole served = ServedConsole.start(ConsoleReports.config(folder))) {
            List<InputStream> open = new ArrayList<>();
            for (int i = 0; i < ConsoleLimits.CLIENTS; i++) {
                HttpResponse<InputStream> stream = served.client()
                        .send(served.request("/api/events").build(), HttpResponse.BodyHandlers.ofInputStream());
                assertEquals(200, stream.statusCode(), "stream " + i);
                open.add(stream.body());
            }
            HttpResponse<String> refused = served.get("/api/events");
            assertEquals(503, refused.statusCode());
            assertTrue(refused.body().contains(ConsoleLimits.CLIENTS + " browsers follow already"), refused.body());
            long begin = System.nanoTime();
            for (int i = 0; i < 10 * ConsoleLimits.EVENTS; i++) {
                served.console().onDeadLetter(DeadLetter.Reason.NON_FINITE);
            }
            long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin);
            assertTrue(seconds < 30, () -> "nobody reads, and 10,240 events took " + seconds + " s");
            assertEquals(200, served.get("/api/sites").statusCode(), "streams take no thread of the server's own");
            for (InputStream one : open) {
                one.close();
            }
        }
    }

    @Test
    void thePageAsksForThePasswordThatMetricsAsksForAndChangesNothing() throws Exception {
        String hash = BCrypt.withDefaults().hashToString(4, "secret".toCharArray());
        try (ServedConsole served =
                ServedConsole.start(ConsoleReports.config(folder), new WebConfig(null, Map.of("ada", hash)))) {
            for (String path : List.of("/", "/app.js", "/api/sites", "/api/events")) {
                assertEquals(401, served.get(path).statusCode(), path);
                assertEquals(
                        405,
                        served.client()
                                .send(
                                        served.request(path)
                                                .POST(HttpRequest.BodyPublishers.ofString("x"))
                                                .build(),
                                        HttpResponse.BodyHandlers.ofString())
                                .statusCode(),
                        path);
            }
            HttpResponse<String> page = served.client()
                    .send(
                            served.request("/")
                                    .header("Authorization", "Basic YWRhOnNlY3JldA==")
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
            assertEquals(200, page.statusCode());
            assertTrue(page.headers()
                    .firstValue("Content-Security-Policy")
                    .orElse("")
                    .startsWith("default-src 'none'; script-src 'self';"));
        }
    }

    @Test
    void underItsBasePathEverythingIsServedAndTheProcessItselfIsAskedWithout() throws Exception {
        try (ServedConsole served = ServedConsole.start(ConsoleReports.proxied(folder))) {
            for (String path : List.of("/", "/app.js", "/api/sites/blocks.7", "/metrics", "/healthz")) {
                assertEquals(200, served.get(path).statusCode(), path);
                assertEquals(200, served.get("/watch/plumbline" + path).statusCode(), path);
            }
            assertEquals(404, served.get("/watch/plumblineapp.js").statusCode());
            assertEquals(404, served.get("/watch/plumbline/watch/plumbline/").statusCode());
            HttpResponse<String> bare = served.get("/watch/plumbline");
            assertEquals(308, bare.statusCode());
            assertEquals(
                    "/watch/plumbline/", bare.headers().firstValue("Location").orElse(""));
        }
    }

    @Test
    void aReaderIsBelievedFromTheHeaderThatIsConfiguredAndFromNoOther() throws Exception {
        try (ServedConsole proxied = ServedConsole.start(ConsoleReports.proxied(folder));
                ServedConsole direct = ServedConsole.start(ConsoleReports.config(folder))) {
            assertEquals("ada", reader(proxied, "X-Forwarded-User", "ada").asText());
            assertTrue(reader(proxied, "X-Remote-User", "ada").isNull());
            assertTrue(reader(proxied, "X-Forwarded-User", " ").isNull());
            assertTrue(reader(proxied, "X-Forwarded-User", "ada", "X-Forwarded-User", "eve")
                    .isNull());
            assertEquals(
                    201,
                    reader(proxied, "X-Forwarded-User", "a".repeat(5000))
                            .asText()
                            .length());
            assertTrue(reader(direct, "X-Forwarded-User", "ada").isNull());
        }
    }

    private static JsonNode reader(ServedConsole served, String... headers) throws Exception {
        HttpRequest request = served.request("/api/sites").headers(headers).build();
        return JSON.readTree(served.client()
                        .send(request, HttpResponse.BodyHandlers.ofString())
                        .body())
                .get("reader");
    }

    @Test
    void aSiteOfAnyNameIsFoundByItsEncodedNameAndAMistakeIsASentence() throws Exception {
        try (ServedConsole served = ServedConsole.start(ConsoleReports.config(folder))) {
            served.console().onReport(ConsoleReports.window(ConsoleReports.HOSTILE, 0, 3), 0);
            served.console().onReport(ConsoleReports.window("not configured", 0, 3), 0);
            String site = "/api/sites/"
                    + URLEncoder.encode(ConsoleReports.HOSTILE, StandardCharsets.UTF_8)
                            .replace("+", "%20");
            assertEquals(
                    ConsoleReports.HOSTILE,
                    JSON.readTree(served.get(site).body()).get("site").asText());
            for (String what : List.of("windows", "windows.csv", "reports", "decoders")) {
                assertEquals(200, served.get(site + "/" + what).statusCode(), what);
            }
            String newest = "\"newest\":" + Json.text(ConsoleReports.window(ConsoleReports.HOSTILE, 0, 3));
            assertTrue(served.get(site + "/reports").body().contains(newest), newest);
            assertEquals(
                    "attachment; "
                            + "filename=\"windows-__img_src_x_onerror_document.title__owned___"
                            + ".._2F____reboot____.csv\"",
                    served.get(site + "/windows.csv")
                            .headers()
                            .firstValue("Content-Disposition")
                            .orElse(""));
            JsonNode sites = JSON.readTree(served.get("/api/sites").body()).get("sites");
            assertEquals(2, sites.size(), "only what is configured takes memory");
            assertEquals(404, served.get("/api/sites/nobody").statusCode());
            assertEquals(404, served.get("/api/sites/blocks.7/secrets").statusCode());
            assertEquals(404, served.get("/api/other").statusCode());
            assertEquals(
                    400,
                    served.get("/api/sites/blocks.7/windows?from_ms=yesterday").statusCode());
            String refused = raw(served, "/api/events?after=%zz");
            assertTrue(refused.startsWith("HTTP/1.1 400 ") && refused.contains("\"problem\":"), refused);
        }
    }

    @Test
    void thePageHasTheWholeReportsOfTheNewestAndOfTheNewestDriftedWindow() throws Exception {
        try (ServedConsole served = ServedConsole.start(ConsoleReports.config(folder))) {
            served.console().onReport(ConsoleReports.window("blocks.7", 0, 3), 0);
            JsonNode aligned =
                    JSON.readTree(served.get("/api/sites/blocks.7/reports").body());
            assertEquals(
                    ConsoleReports.T0, aligned.at("/newest/window_start_ms").asLong());
            assertTrue(aligned.get("newest_drifted").isNull());
            served.console().onReport(ConsoleReports.window("blocks.7", 1, 4.5), 0);
            served.console().onReport(ConsoleReports.window("blocks.7", 2, 3), 0);
            JsonNode drifted =
                    JSON.readTree(served.get("/api/sites/blocks.7/reports").body());
            assertEquals(
                    ConsoleReports.T0 + 120_000,
                    drifted.at("/newest/window_start_ms").asLong());
            assertEquals(
                    ConsoleReports.T0 + 60_000,
                    drifted.at("/newest_drifted/window_start_ms").asLong());
            assertEquals(1, drifted.at("/newest_drifted/worst_requests").size());
        }
    }

    @Test
    void theFileForAnIncidentHoldsTheAnswersOfTheApiAndNamesNoBroker() throws Exception {
        List<WindowReport> windows = List.of(
                ConsoleReports.window("blocks.7", 5, 3),
                ConsoleReports.window("blocks.7", 4, 4.75),
                ConsoleReports.window("blocks.7", 6, 3));
        String html = IncidentReport.html(ConsoleReports.config(folder), "blocks.7", windows, List.of());
        JsonNode recorded = ConsoleReports.recorded(html);
        try (ServedConsole served = ServedConsole.start(ConsoleReports.config(folder))) {
            windows.forEach(window -> served.console().onReport(window, 0));
            for (String part : List.of("windows", "reports")) {
                assertEquals(
                        JSON.readTree(served.get("/api/sites/blocks.7/" + part).body()),
                        recorded.at("/answers/blocks.7/" + part),
                        part);
            }
        }
        assertFalse(recorded.at("/answers/blocks.7").has("baselines"), "the file knows of none");
        assertEquals(3, recorded.at("/answers/blocks.7/windows/windows").size());
        assertEquals(1, recorded.at("/answers/blocks.7//version_in_service").asInt(), "no manifest is at hand");
        assertFalse(html.contains("broker:9092"), html);
    }

    @Test
    void theFileOfATargetLayerHasTheReportsOfTheAdapterAboutAllLayers() throws Exception {
        String site = "clt/targets.3";
        JsonNode decoders = ConsoleReports.recorded(IncidentReport.html(
                        ConsoleReports.targets(folder),
                        site,
                        List.of(ConsoleReports.window(site, 0, 4.5)),
                        List.of(ConsoleReports.kept("clt", "nothing better"))))
                .at("/answers/clt~1targets.3/decoders");
        assertEquals("clt", decoders.get("swapped_as").asText());
        assertEquals("nothing better", decoders.at("/adaptations/0/reason").asText());
    }

    @Test
    void theFileOfAModelHasEveryWindowOfTheModelAndThePageOfAMonitorTheLastOnes() throws Exception {
        MonitorConfig config = ConsoleReports.model(folder);
        List<ModelReport> reports = IntStream.range(0, 360)
                .mapToObj(window -> ConsoleReports.ofModel(window, 20, 23))
                .toList();
        JsonNode recorded = ConsoleReports.recorded(IncidentReport.html(
                config, Objects.requireNonNull(config.models().get("llama")), reports, List.of(), List.of()));
        assertEquals(360, recorded.at("/overview/models/0/windows").size());
        try (ServedConsole served = ServedConsole.start(config)) {
            reports.forEach(served.console()::onModelReport);
            JsonNode overview = JSON.readTree(served.get("/api/sites").body());
            assertEquals(180, overview.at("/models/0/windows").size());
        }
    }

    @Test
    void noTextOfTheFileForAnIncidentEndsItsElement() throws Exception {
        String site = ConsoleReports.HOSTILE + "</script><!--<script>";
        String html = IncidentReport.html(
                ConsoleReports.config(folder), site, List.of(ConsoleReports.window(site, 0, 3)), List.of());
        assertEquals(site, ConsoleReports.recorded(html).get("site").asText());
        assertEquals(3, html.split("<script", -1).length - 1, "the data, the import map, the first module");
        assertFalse(html.contains("<img src=x") || html.contains("<!--"), html);
    }

    @Test
    void aPeriodIsCutAtTheEndsOfWindows() throws Exception {
        try (ServedConsole served = ServedConsole.start(ConsoleReports.config(folder))) {
            for (int i = 0; i < 5; i++) {
                served.console().onReport(ConsoleReports.window("blocks.7", i, 3), 0);
            }
            long end = ConsoleReports.T0 + 60_000;
            JsonNode windows = JSON.readTree(served.get("/api/sites/blocks.7/windows?from_ms=%d&to_ms=%d"
                                    .formatted(end + 60_000, end + 180_000))
                            .body())
                    .get("windows");
            assertEquals(2, windows.size());
            assertEquals(end + 60_000, windows.get(0).get("window_end_ms").asLong());
        }
    }

    /** Asks for a path that no {@link java.net.URI} can name, and returns the whole answer. */
    private static String raw(ServedConsole served, String path) throws IOException {
        URI address = URI.create(served.address("/"));
        try (Socket socket = new Socket(address.getHost(), address.getPort())) {
            socket.setSoTimeout(10_000);
            socket.getOutputStream()
                    .write("GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                            .formatted(path)
                            .getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** The first events of a stream, each as its lines. */
    private static List<String> events(ServedConsole served, String place, int count) throws Exception {
        HttpResponse<InputStream> stream = served.client()
                .send(
                        served.request("/api/events")
                                .header("Last-Event-ID", place)
                                .build(),
                        HttpResponse.BodyHandlers.ofInputStream());
        List<String> events = new ArrayList<>();
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(stream.body(), StandardCharsets.UTF_8))) {
            StringBuilder event = new StringBuilder();
            for (String line = lines.readLine(); line != null && events.size() < count; line = lines.readLine()) {
                if (!line.isEmpty()) {
                    event.append(line).append('\n');
                    continue;
                }
                if (event.indexOf("data:") >= 0) {
                    events.add(event.toString());
                }
                event.setLength(0);
            }
        }
        return events;
    }
}
