package io.plumbline.topology.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.GermanAmongEnglish;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.baselines.BaselineHistory;
import io.plumbline.topology.baselines.Described;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.report.Groups;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.ModelReport;
import io.plumbline.topology.report.Sections;
import io.plumbline.topology.report.WindowReport;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;

/** Tests the page in a browser, behind the real server, told what a test wants it to show. */
class ConsolePageIT {

    private static final JsonMapper JSON = new JsonMapper();

    private static final String CHART_IS_DRAWN = """
            const canvas = document.querySelector('.plot canvas');
            const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            return pixels.some((value, i) => i % 4 === 3 && value > 0);""";

    private static final String ASKED_FOR_BASELINES =
            "return performance.getEntriesByType('resource').filter((one) => one.name.endsWith('/baselines')).length";

    @TempDir
    private static Path folder;

    private static Browser browser;

    private ServedConsole served;

    @BeforeAll
    static void startBrowser() throws Exception {
        browser = Browser.start(folder);
    }

    @AfterAll
    static void stopBrowser() {
        if (browser != null) {
            browser.close();
        }
    }

    @BeforeEach
    void serve() throws Exception {
        served = ServedConsole.start(ConsoleReports.config(folder));
        browser.size(1400, 1000);
    }

    @AfterEach
    void stop() {
        List<String> complaints = browser.complaints();
        browser.open("about:blank");
        served.close();
        assertEquals(List.of(), complaints, "the browser's own console");
    }

    @Test
    void beforeTheFirstWindowThePageSaysWhenItEnds() throws Exception {
        browser.open(served.address("/#/site/blocks.7"));
        browser.awaitText("main", "No window closed yet");
        String main = browser.text("main");
        assertTrue(
                main.matches("(?s).*A window is 60 s of event time\\. Rows stamped now lie in the one that ends at "
                        + "\\d\\d:\\d\\d:00 UTC.*"),
                main);
        assertTrue(browser.text("#refused").contains("None since this process started"), browser.text("#refused"));
        served.console().onDeadLetter(DeadLetter.Reason.NON_FINITE);
        browser.awaitText("#refused", "non finite\n1");
        assertTrue(browser.text("#refused")
                .contains("plumbline replay --dead-letters --bootstrap-servers broker:9092 --dry-run"));
    }

    @Test
    void thePageWorksUnderThePathOfAProxyThatTakesItAwayAndShowsWhoReads() throws Exception {
        served.close();
        served = ServedConsole.start(ConsoleReports.proxied(folder));
        served.console().onReport(ConsoleReports.window(ConsoleReports.SITE, 0, 3), 0);
        try (StrippingProxy proxy = StrippingProxy.before(served.address(""))) {
            browser.open(proxy.address("/#/site/blocks.7"));
            browser.awaitText("main .verdict", "aligned");
            browser.awaitText("#reader", "reader: Ada Lovelace");
            browser.awaitText("#connection", "live");
            served.console().onReport(ConsoleReports.window(ConsoleReports.SITE, 1, 4.5), 0);
            browser.awaitText("main .verdict", "drifted");
            assertTrue((Boolean) browser.run(CHART_IS_DRAWN), "the chart is empty");
            assertTrue(String.valueOf(browser.run("return document.querySelector('a[href$=\".csv\"]').href"))
                    .startsWith(proxy.address("/api/")));
            browser.open("about:blank");
        }
    }

    @Test
    void windowsAppearAndAVerdictThatChangesIsSaid() throws Exception {
        story(ConsoleReports.SITE, 3);
        browser.open(served.address("/#/site/blocks.7"));
        browser.awaitText("main .verdict", "aligned");
        browser.awaitText("#connection", "live");
        served.console().onReport(ConsoleReports.window(ConsoleReports.SITE, 3, 4.5), 0);
        browser.awaitText("main .verdict", "drifted");
        browser.awaitText("#said", "blocks.7 is drifted");
        browser.awaitText("#tally", "1 drifted, 1 no window yet");
        browser.awaitText(".part.features", "17");
        browser.awaitText(".part.features", "1 less active, 0 more active");
        browser.awaitText(".part.features", "17 <b>dogs");
        assertEquals("https://example.org/23", browser.run("return document.querySelector('.part.features a').href"));
        browser.awaitText(".part.features", "23 less active 0.0 % 2.0 %");
        browser.awaitText(".part.requests", "chat-<b>17");
        browser.awaitText(".part.others", "trained");
        browser.awaitText(".part.others", "0.375");
        assertEquals("drifted · blocks.7 · Plumbline", browser.driver().getTitle());
        assertTrue((Boolean) browser.run(CHART_IS_DRAWN), "the chart is empty");
    }

    @Test
    void aSiteAnswersFiveQuestionsInTheirOrder() throws Exception {
        story(ConsoleReports.SITE, 3);
        browser.open(served.address("/#/site/blocks.7"));
        browser.awaitText(".answers", "Nothing.");
        assertEquals(
                List.of("Is it drift?", "What is new?", "What failed?", "Who is hurt?", "What to do now?"),
                browser.run("return [...document.querySelectorAll('.answers dt')].map(one => one.textContent)"));
        String aligned = browser.text(".answers");
        assertTrue(aligned.contains("No: 0.8"), aligned);
        assertTrue(aligned.contains("Nothing that counts: FVU 0.300"), aligned);
        served.console().onReport(ConsoleReports.window(ConsoleReports.SITE, 3, 4.5), 0);
        browser.awaitText(".answers", "Yes: 1.13 of the threshold, by faithfulness gap");
        browser.awaitText(".answers", "The column of feature 17 <b>dogs; FVU 0.300, gap 4.500 of at most 5.00.");
        browser.awaitText(".answers", "Find what was deployed when it began");
        served.console().onSwapState(ConsoleReports.SITE, waiting(7));
        browser.awaitText(".answers", "Look at candidate 7, which passed the gate, and approve it:");
        assertTrue(browser.text(".answers .command").contains("plumbline decoders approve"));
        for (int width : new int[] {390, 1400}) {
            browser.size(width, 1000);
            assertTrue((Long) browser.run("return document.documentElement.scrollWidth") <= width);
        }
        // By keyboard: each question leads to its detail.
        browser.size(1400, 400);
        browser.run("document.querySelectorAll('.question')[4].focus()");
        browser.driver().switchTo().activeElement().sendKeys(Keys.ENTER);
        assertTrue((Boolean) browser.run(
                "return document.getElementById('part-decoders').getBoundingClientRect().top < innerHeight"));
    }

    @Test
    void whatIsWatchedIsShownBesideTheBaselineAndWhoIsHurtIsNamed() throws Exception {
        String report = Json.text(ConsoleReports.window(ConsoleReports.SITE, 0, 4.5));
        String watched = """
                "watched": {"harm": "watched", "requests": 17, "requests_baseline": 33, "probes": [],
                  "hurt": [{"name": "feature 12", "what": "rate", "baseline": 0.1, "window": 0.25, "q_value": 1e-4}],
                  "features": [{"name": "feature 12", "feature": 12, "hurt": true, "rate": 0.25, "rate_baseline": 0.1,
                    "activation": 1.5, "activation_baseline": 0.5, "systematic_residual": 0.0,
                    "systematic_residual_baseline": 0.0, "q_value": 1e-4,
                    "parts": [{"by": "length", "value": "1 to 31 rows", "requests": 9, "rate": 0.25, "mean": 1.5}]}]}""";
        String told = report.contains("\"watched\":null")
                ? report.replace("\"watched\":null", watched)
                : report.replaceFirst("\\{", "{" + watched + ", ");
        served.console().onReport(Json.read(told.getBytes(StandardCharsets.UTF_8), WindowReport.class), 0);
        browser.open(served.address("/#/site/blocks.7"));
        browser.awaitText(".answers", "What is watched: feature 12, rate 0.100 → 0.250.");
        browser.awaitText(".part.watched", "feature 12 yes 10.0 % → 25.0 % 0.500 → 1.500 1.0e-4");
        browser.run("document.querySelector('.part.watched details').open = true");
        browser.awaitText(".part.watched", "feature 12 length 1 to 31 rows 9 25.0 % 1.500");
    }

    @Test
    void aModelOpensThePageWithAMapOfItsLayersOverTime() throws Exception {
        served.close();
        served = ServedConsole.start(ConsoleReports.model(folder));
        browser.open(served.address("/"));
        browser.awaitText(".part.model", "No window yet: its 64 sites are judged as one");
        browser.awaitText("#connection", "live");
        for (int window = 0; window < 12; window++) {
            served.console().onModelReport(ConsoleReports.ofModel(window, 20, window < 8 ? 20 : 23));
        }
        browser.awaitText(".part.model", "since the window that ended 2023-11-14 22:23:00 UTC");
        String text = String.valueOf(browser.run("return document.querySelector('.part.model').textContent"));
        assertTrue(text.contains("drifted"), text);
        assertTrue(text.contains("First layer above: layer.20, worst: layer.22."), text);
        assertTrue(text.contains("Without a window: layer.63."), text);
        assertTrue(browser.text("#said").contains("model llama is drifted"), browser.text("#said"));
        // Three layers in the last four of twelve windows.
        assertEquals(
                List.of("layer.20", "layer.21", "layer.22"),
                browser.run(
                        "return [...document.querySelectorAll('.map g')].filter(g => g.querySelector('.above, .twice'))"
                                + ".map(g => g.querySelector('title').textContent)"));
        assertEquals("20 40", browser.run("""
                const cell = document.querySelectorAll('.map g')[21].querySelector('.above, .twice');
                return cell.getAttribute('width') + ' ' + cell.getAttribute('x');"""));
        assertEquals(1L, browser.run("return document.querySelectorAll('.map g:last-child .none').length"));
        for (int width : new int[] {390, 1400}) {
            browser.size(width, 1000);
            assertTrue((Long) browser.run("return document.documentElement.scrollWidth") <= width);
        }
        browser.run("document.querySelector('.part.model summary').click()");
        assertTrue(String.valueOf(browser.run("return document.querySelector('.part.model tbody tr').textContent"))
                .startsWith("layer.22drifted6.75"));
        served.console().onModelReport(ConsoleReports.ofModel(12, 20, 24));
        browser.awaitText(".part.model", "4 of 64");
        assertEquals(true, browser.run("return document.querySelector('.part.model details').open"));
        browser.driver().findElement(By.cssSelector(".part.model p a")).click();
        browser.awaitText("main h1", "layer.20");
    }

    @Test
    void theFileForAnIncidentOfAModelHasItsMapAndThePagesOfTheSitesThatWereAbove() throws Exception {
        MonitorConfig config = ConsoleReports.model(folder);
        List<ModelReport> reports = IntStream.range(0, 130)
                .mapToObj(window -> ConsoleReports.ofModel(window, 20, window < 8 ? 20 : 23))
                .toList();
        List<WindowReport> windows = Stream.concat(windows("layer.20", 6).stream(), windows("layer.1", 6).stream())
                .toList();
        String html = IncidentReport.html(
                config, Objects.requireNonNull(config.models().get("llama")), reports, windows, List.of());
        browser.open("about:blank");
        browser.open(
                Files.writeString(folder.resolve("model.html"), html).toUri().toString());
        browser.awaitText("#connection", "record, written");
        browser.awaitText(".part.model", "since the window that ended 2023-11-14 22:23:00 UTC");
        String text = String.valueOf(browser.run("return document.querySelector('.part.model').textContent"));
        assertTrue(text.contains("First layer above: layer.20, worst: layer.22."), text);
        String map =
                String.valueOf(browser.run("return document.querySelector('.map svg').getAttribute('aria-label')"));
        assertTrue(map.contains(" by time, 130 windows: "), map);
        browser.driver().findElement(By.cssSelector(".part.model p a")).click();
        browser.awaitText("main h1", "layer.20");
        browser.awaitText(".answers", "Is it drift?");
        browser.open(browser.driver().getCurrentUrl().replace("layer.20", "layer.1"));
        browser.awaitText("main", "this one is not among them");
        assertEquals(List.of(), browser.complaints());
    }

    @Test
    void groupsAreNamedWithWhatTheyShareAndWhetherTheyGrow() throws Exception {
        Path recorded = Files.createDirectories(folder.resolve("recorded"));
        Files.writeString(recorded.resolve("labels.csv"), "feature,label\n1906,<b>German\n");
        List<WindowReport> reports = GermanAmongEnglish.reports(recorded, "{labels: labels.csv}", 0, 1, 4, 8, 12);
        reports.forEach(report -> served.console().onReport(report, 0));
        Groups.Group group = Objects.requireNonNull(reports.get(4).section(Sections.GROUPS))
                .groups()
                .get(0);
        assertTrue(reports.get(0).section(Sections.GROUPS) != null, "the first window has none and says so");
        browser.open(served.address("/#/site/blocks.7"));
        browser.awaitText(".part.groups", "Group " + group.number());
        String text = browser.text(".part.groups li");
        assertTrue(text.contains("%d requests, %.1f %% of all".formatted(group.requests(), 100 * group.share())), text);
        assertTrue(text.contains("grows: 0.0 % in the window that ended 22:15:00"), text);
        assertTrue(text.contains(group.kind().equals("new") ? "new" : "known: "), text);
        assertTrue(text.contains("12 in this window"), text);
        group.nearest().forEach(name -> assertTrue(text.contains(name), text));
        assertTrue(text.contains("language de"), text);
        assertTrue(text.contains("1906 <b>German"), text);
        assertEquals("", browser.text(".part.others h2"), "no table of keys");
        for (int width : new int[] {390, 1400}) {
            browser.size(width, 1000);
            assertTrue((Long) browser.run("return document.documentElement.scrollWidth") <= width);
            // Only the table of features may be wider than its part; it scrolls, and the keyboard reaches it.
            assertEquals(0L, browser.run("""
                    return [...document.querySelectorAll('.part.groups :not(.scroll *, svg *)')].filter((one) =>
                      one.getBoundingClientRect().right > document.querySelector('.part.groups').getBoundingClientRect().right + 1)
                        .length;"""));
        }
        assertEquals(
                0L, browser.run("return document.querySelectorAll('.part.groups .scroll:not([tabindex])').length"));
        served.console().onReport(ConsoleReports.window(ConsoleReports.SITE, 9, 3), 0);
        browser.awaitText(".part.spectrum", "rank 2");
        assertEquals("", browser.text(".part.groups"), "a report without groups");
    }

    @Test
    void thePageIsLiveOnlyWhileDataArrivesAndShowsTheAgeOfTheNewestWindow() throws Exception {
        story(ConsoleReports.SITE, 3);
        browser.open(served.address("/"));
        browser.awaitText("#connection", "live");
        browser.awaitText("#newest", "newest window ended");
        served.complain("no broker has answered since noon");
        browser.awaitText("#connection", "not live: no broker has answered since noon");
        served.complain(null);
        BrokerClient.awaitThat(() -> browser.text("#connection").equals("live"), () -> browser.text("#connection"));
    }

    @Test
    void aNameFromTheConfigurationIsTextWhereverItStands() throws Exception {
        story(ConsoleReports.HOSTILE, 6);
        served.console().onSwapState(ConsoleReports.HOSTILE, waiting(3));
        browser.open(served.address("/"));
        browser.awaitText("main", "Candidates that wait for you (1)");
        browser.run("[...document.querySelectorAll('nav a')].find((a) => a.textContent.includes('owned')).click()");
        browser.awaitText("main h1", ConsoleReports.HOSTILE);
        browser.awaitText(".part.decoders", "Candidate 3 waits");
        assertEquals(0L, browser.run("return document.querySelectorAll('nav img, main img').length"));
        assertFalse(browser.driver().getTitle().startsWith("owned"));
        String command = browser.text(".waiting code");
        assertTrue(
                command.contains(
                        " --site '=<img src=x onerror=document.title='\\''owned'\\''>/..%2F'\\''\"$(reboot)`&ü'"),
                command);
        assertTrue(fetched(browser.run("return document.querySelector('.export a').href"))
                .startsWith("site,window_start_ms,"));
    }

    @Test
    void aBaselineStandsBesideTheOneItReplacedAndTheOneThatIsProposed() throws Exception {
        story(ConsoleReports.SITE, 2);
        BaselineHistory first = BaselineHistory.of(ConsoleReports.SITE).with(Described.first(ConsoleReports.SITE, "a"));
        served.console().onBaselines(first);
        browser.open(served.address("/#/site/blocks.7"));
        browser.awaitText(".part.baselines", "the first window known");
        browser.awaitText(".part.baselines", "Nothing known came before it.");
        browser.awaitText("#connection", "live");
        BaselineHistory next = first.with(Described.replacing(ConsoleReports.SITE, "b", 2, "a"));
        served.console().onBaselines(next);
        browser.awaitText(".part.baselines", "the window from 2023-11-03");
        browser.awaitText(".part.baselines", "ada 0123456789abcdef");
        browser.awaitText(".part.baselines", "200,002 rows, 1,234 requests scored");
        browser.awaitText(".part.baselines", "shift ratio of old\n0.125");
        browser.awaitText(".part.baselines", "gap to old, rank 32\n1.500, 18.8 % of the largest");
        browser.awaitText(".part.baselines", "faithfulness gap 32 512 4.250 4.500 240 → 250");
        browser.awaitText(".part.baselines", "1 before");
        served.console().onBaselines(next.with(Described.proposed(ConsoleReports.SITE, "c", "b")));
        browser.awaitText(".part.baselines .waiting", "Revision 3 is proposed");
        browser.awaitText(".part.baselines .waiting", "plumbline approve-baseline --key KEY FILE");
        browser.run("document.querySelector('.part.baselines').scrollIntoView()");
        picture("baseline-wide");
        browser.size(390, 800);
        browser.run("document.querySelector('.part.baselines').scrollIntoView()");
        assertTrue(
                (Boolean) browser.run("return document.documentElement.scrollWidth <= window.innerWidth"),
                "the page scrolls sideways");
        picture("baseline-narrow");
    }

    @Test
    void aWindowSaysByWhichBaselineItWasJudgedAndFoldsNothingUp() throws Exception {
        String site = ConsoleReports.SITE;
        story(site, 2);
        BaselineHistory history =
                BaselineHistory.of(site).with(Described.first(site, "a")).with(Described.replacing(site, "b", 2, "a"));
        served.console().onBaselines(history);
        browser.open(served.address("/#/site/blocks.7"));
        browser.awaitText(".part.baselines", "1 before");
        browser.awaitText("#connection", "live");
        browser.run("document.querySelectorAll('.part.baselines details').forEach((one) => { one.open = true; })");
        Object asked = browser.run(ASKED_FOR_BASELINES);

        report(ConsoleReports.judgedBy(ConsoleReports.window(site, 2, 3), "c".repeat(64), "candidate"));
        browser.awaitText(".part.baselines .warn", "judged by another baseline, cccccccccccc");
        report(ConsoleReports.judgedBy(ConsoleReports.window(site, 3, 3), "c".repeat(64), "trained"));
        browser.awaitText(".part.baselines .warn", "judged by the candidate's baseline, cccccccccccc");
        browser.run("document.querySelector('.part.baselines .warn').marked = true");
        report(ConsoleReports.judgedBy(ConsoleReports.window(site, 4, 4.75), "c".repeat(64), "trained"));
        browser.awaitText(".part.features", "17 <b>dogs");
        assertEquals(true, browser.run("return document.querySelector('.part.baselines .warn').marked"), "renewed");
        assertEquals(asked, browser.run(ASKED_FOR_BASELINES), "a window changes no baseline");

        served.console().onBaselines(history.with(Described.proposed(site, "d", "b")));
        browser.awaitText(".part.baselines .waiting", "Revision 3 is proposed");
        assertEquals(List.of("1 before", "All thresholds"), browser.run("""
                        return [...document.querySelectorAll('.part.baselines details[open] > summary')]
                            .map((one) => one.textContent).sort();"""));
    }

    private void report(WindowReport report) {
        served.console().onReport(report, 0);
    }

    private static void picture(String name) throws IOException {
        String into = System.getProperty("plumbline.pictures");
        if (into != null) {
            Files.write(Path.of(into, name + ".png"), browser.picture());
        }
    }

    @Test
    void aCandidateThatWaitsComesWithTheCommandThatApprovesIt() throws Exception {
        story(ConsoleReports.SITE, 5);
        browser.open(served.address("/#/site/blocks.7"));
        browser.awaitText("#connection", "live");
        served.console().onSwapState(ConsoleReports.SITE, waiting(7));
        browser.awaitText(".waiting", "Candidate 7 waits for approval");
        assertEquals(
                "plumbline decoders approve --bootstrap-servers broker:9092 --site blocks.7 --candidate 7",
                browser.text(".waiting code"));
        browser.awaitText(".sites .notes", "candidate 7 waits");
    }

    @Test
    void everyTargetLayerShowsTheOneDecoderOfAllAndTheCommandsThatSwapIt() throws Exception {
        served.close();
        served = ServedConsole.start(ConsoleReports.targets(folder));
        story("clt/targets.3", 5);
        story("clt/targets.5", 5);
        browser.open(served.address("/#/site/clt%2Ftargets.5"));
        browser.awaitText("#connection", "live");
        browser.awaitText(".part.decoders", "All target layers of clt are fitted and swapped together");
        served.console().onSwapState("clt", waiting(7));
        browser.awaitText(".waiting", "Candidate 7 waits for approval");
        browser.awaitText(
                ".waiting", "plumbline decoders approve --bootstrap-servers broker:9092 --site clt --candidate 7");
        browser.awaitText(
                ".waiting",
                "plumbline decoders fetch --bootstrap-servers broker:9092 --site clt --candidate"
                        + " --explainer FOLDER --targets 3,5 --out looked-at");
        assertEquals(2L, browser.run("""
                return [...document.querySelectorAll('.sites .notes')]
                    .filter((one) => one.textContent.includes('candidate 7 waits')).length"""));
        String api = served.get("/api/sites/clt%2Ftargets.3/decoders").body();
        assertTrue(api.contains("\"swapped_as\":\"clt\""), api);
        assertTrue(api.contains("decoders pin --bootstrap-servers broker:9092 --site clt\""), api);
        assertEquals(404, served.get("/api/sites/clt").statusCode(), "no site of the list");
    }

    @Test
    void thePageOpensOnWhatNeedsSomebodyAndNotOnASite() throws Exception {
        served.close();
        served = ServedConsole.start(ConsoleReports.twenty(folder));
        for (int i = 0; i < 17; i++) {
            story(ConsoleReports.layer(i), 3);
        }
        served.console().onReport(ConsoleReports.window(ConsoleReports.layer(5), 3, 4.28), 0);
        served.console().onReport(ConsoleReports.undecided(ConsoleReports.layer(6), 3), 0);
        served.console().onReport(ConsoleReports.window(ConsoleReports.layer(7), 3, 3.96), 0);
        served.console().onSwapState(ConsoleReports.layer(5), waiting(7));
        browser.open(served.address("/"));
        browser.awaitText("main h1", "All sites");
        browser.awaitText("main", "Drifted (1)");
        browser.awaitText("main", "1.07 of the threshold, by faithfulness gap");
        browser.awaitText("main", "Undecided: not watched (1)");
        browser.awaitText("main", "No window yet (3)");
        browser.awaitText("main", "Candidates that wait for you (1)");
        browser.awaitText("main", "Aligned (15)");
        browser.awaitText("main", "0.990 of the threshold, by faithfulness gap");
        browser.run("document.querySelector('main .needs a').click()");
        browser.awaitText("main h1", ConsoleReports.layer(5));
        browser.run("document.querySelector('.behind summary').click()");
        browser.awaitText("main .figures", "faithfulness gap over its threshold\n1.07 4.280 of 4.000");
        browser.run("document.querySelector('.brand').click()");
        browser.awaitText("main h1", "All sites");
    }

    @Test
    void aLongNameIsCutInItsMiddleAndAWaitingCandidateFits() throws Exception {
        served.close();
        served = ServedConsole.start(ConsoleReports.twenty(folder));
        for (int i = 0; i < 20; i++) {
            story(ConsoleReports.layer(i), 5);
            served.console().onSwapState(ConsoleReports.layer(i), waiting(1_234_567));
        }
        for (int width : new int[] {390, 1400}) {
            browser.size(width, 1000);
            browser.open(served.address("/"));
            browser.awaitText(".sites .notes", "candidate 1234567 waits");
            // A scroll bar may take some of it.
            assertTrue((Long) browser.run("return document.documentElement.scrollWidth") <= width);
            // Both ends are seen of every name, the whole of it is its title, and nothing leaves its card.
            assertEquals(List.of(), browser.run("""
                    return [...document.querySelectorAll('.sites li a')].filter((card) => {
                      const name = card.querySelector('.name');
                      const end = name.querySelector('.end');
                      const inside = [...card.querySelectorAll('span')].every((one) =>
                        one.getBoundingClientRect().right <= card.getBoundingClientRect().right + 1);
                      return !inside || name.title !== name.textContent || end.scrollWidth > end.clientWidth + 1
                        || name.querySelector('.start').clientWidth < 30;
                    }).map((card) => card.outerHTML);"""));
        }
    }

    @Test
    void theSparklineOfASiteThatDriftsByAnotherStatisticRises() throws Exception {
        story(ConsoleReports.SITE, 3);
        served.console().onReport(ConsoleReports.driftedByFvu(ConsoleReports.SITE, 3), 0);
        browser.open(served.address("/"));
        browser.awaitText(".sites .level", "1.30 of the threshold, by FVU");
        List<?> heights = (List<?>) browser.run("""
                const path = document.querySelector('.sites .spark .value').getAttribute('d');
                return [...path.matchAll(/[ML][0-9.]+ ([0-9.]+)/g)].map((one) => Number(one[1]));""");
        double before = ((Number) heights.get(2)).doubleValue();
        double drifted = ((Number) heights.get(3)).doubleValue();
        assertTrue(drifted < before, "higher is a smaller y: " + heights);
    }

    @Test
    void anAnswerThatComesLateDoesNotUndoWhatIsNewer() throws Exception {
        story(ConsoleReports.SITE, 5);
        browser.open(served.address("/#/site/blocks.7"));
        browser.awaitText("#connection", "live");
        browser.awaitText(".part.rows", "Rows");
        browser.run("""
                const real = window.fetch;
                let held = false;
                window.fetch = async (...request) => {
                  const answer = await real(...request);
                  if (!held && request[0].endsWith('api/sites/blocks.7')) {
                    held = true;
                    await new Promise((go) => { window.release = go; });
                  }
                  return answer;
                };""");
        served.console().onSwapState(ConsoleReports.SITE, waiting(7));
        BrokerClient.awaitThat(
                () -> (Boolean) browser.run("return window.release !== undefined"), () -> "no answer is held");
        served.console().onSwapState(ConsoleReports.SITE, waiting(8));
        served.console().onDeadLetter(DeadLetter.Reason.NON_FINITE);
        // Events come in their order: that of candidate 8 has been taken, too.
        browser.awaitText("#refused", "non finite\n1");
        browser.driver()
                .executeAsyncScript("const done = arguments[0]; fetch('/api/sites').then(() => { window.release(); "
                        + "setTimeout(done, 200); });");
        browser.awaitText(".sites .notes", "candidate 8 waits");
        browser.awaitText(".waiting", "Candidate 8 waits for approval");
    }

    @Test
    void chartTableAndExportsHoldWhatTheApiHolds() throws Exception {
        story(ConsoleReports.SITE, 9);
        browser.open(served.address("/#/site/blocks.7"));
        browser.awaitText(".charts summary", "The same as a table");
        JsonNode windows =
                JSON.readTree(served.get("/api/sites/blocks.7/windows").body()).get("windows");
        assertEquals(9, windows.size());
        assertEquals(
                windows,
                JSON.readTree(fetched(browser.run("return document.querySelectorAll('.export a')[1].href")))
                        .get("windows"));
        List<String> lines = fetched(browser.run("return document.querySelector('.export a').href"))
                .lines()
                .toList();
        List<String> columns = List.of(lines.get(0).split(",", -1));
        assertEquals(10, lines.size());
        for (int i = 0; i < 9; i++) {
            List<String> cells = cells(lines.get(i + 1));
            for (int k = 0; k < columns.size(); k++) {
                JsonNode value = windows.get(i).get(columns.get(k));
                assertEquals(value.isNull() ? "" : value.asText(), cells.get(k), columns.get(k));
            }
        }
        browser.driver().findElement(By.cssSelector(".charts summary")).click();
        browser.awaitText(".charts tbody tr:last-child td:nth-child(10)", "2,048");
        assertEquals("2,056", browser.text(".charts tbody tr:first-child td:nth-child(10)"));
    }

    @Test
    void everythingIsReachedWithTheKeyboardAlone() throws Exception {
        story(ConsoleReports.SITE, 9);
        served.console().onSwapState(ConsoleReports.SITE, waiting(7));
        browser.open(served.address("/#/site/blocks.7"));
        browser.awaitText(".waiting", "Candidate 7");
        browser.awaitText(".part.spectrum", "rank 2");
        Set<String> reached = new LinkedHashSet<>();
        for (int i = 0; i < 60; i++) {
            browser.driver().switchTo().activeElement().sendKeys(Keys.TAB);
            String focused = (String) browser.run("""
                    const e = document.activeElement;
                    const seen = getComputedStyle(e);
                    if (e !== document.body && seen.outlineStyle === 'none') return 'NO OUTLINE ' + e.outerHTML.slice(0, 80);
                    return e.id || e.className || e.textContent.trim();""");
            assertFalse(focused.startsWith("NO OUTLINE"), focused);
            reached.add(focused);
        }
        for (String control : List.of(
                "skip", "statistic", "range", "CSV", "JSON", "stage", "The same as a table", "copy", "Commands")) {
            assertTrue(reached.contains(control), () -> control + " is not among " + reached);
        }
        browser.run("document.querySelector('.stage').focus()");
        String newest = browser.text(".readout");
        browser.driver().switchTo().activeElement().sendKeys(Keys.ARROW_LEFT);
        browser.driver().switchTo().activeElement().sendKeys(Keys.ARROW_LEFT);
        browser.awaitText(".readout", "2,055 rows");
        assertFalse(newest.contains("2,055 rows"), newest);
    }

    @Test
    void aPhoneScrollsInOneDirectionOnly() throws Exception {
        story(ConsoleReports.SITE, 9);
        story(ConsoleReports.HOSTILE, 9);
        served.console().onSwapState(ConsoleReports.HOSTILE, waiting(3));
        browser.size(360, 740);
        browser.open(served.address("/"));
        browser.awaitText("main h1", "All sites");
        assertEquals(360L, browser.run("return document.documentElement.scrollWidth"), "the overview");
        for (String site : List.of("blocks.7", ConsoleReports.HOSTILE)) {
            browser.run("location.hash = '#/site/' + encodeURIComponent(arguments[0])", site);
            browser.awaitText("main h1", site);
            browser.awaitText(".part.spectrum", "rank 2");
            browser.run("document.querySelectorAll('details').forEach((one) => (one.open = true))");
            assertEquals(360L, browser.run("return document.documentElement.scrollWidth"), site);
            assertFalse(
                    browser.driver().findElement(By.cssSelector("nav.sites")).isDisplayed());
        }
    }

    @Test
    void neitherScriptsOfOthersRunNorRequestsLeave() throws Exception {
        story(ConsoleReports.SITE, 2);
        browser.open(served.address("/#/site/blocks.7"));
        browser.awaitText("main .verdict", "aligned");
        assertEquals(List.of(), browser.complaints());
        assertEquals("kept", browser.run("""
                window.owned = 'kept';
                const script = document.createElement('script');
                try { script.textContent = "window.owned = 'owned'"; document.body.append(script); } catch { }
                return window.owned;"""));
        assertEquals("refused", browser.driver().executeAsyncScript("""
                const done = arguments[arguments.length - 1];
                fetch('http://127.0.0.1:1/').then(() => done('left'), () => done('refused'));"""));
        assertEquals("refused", browser.run("""
                try { document.body.innerHTML = '<b>markup</b>'; return 'taken'; } catch { return 'refused'; }"""));
        List<String> complaints = browser.complaints();
        assertTrue(
                complaints.size() >= 2
                        && complaints.stream()
                                .allMatch(line -> line.contains("Content Security Policy")
                                        || line.contains("TrustedHTML")
                                        || line.contains("TrustedScript")),
                complaints::toString);
    }

    @Test
    void theFileForAnIncidentIsTheSamePageAndNeedsNoServer() throws Exception {
        story(ConsoleReports.SITE, 9);
        browser.open(served.address("/#/site/blocks.7"));
        List<String> parts = List.of(
                ".answers",
                ".figures",
                ".readout",
                ".part.spectrum",
                ".part.requests",
                ".part.features",
                ".part.others");
        browser.awaitText(".part.spectrum", "rank 2");
        browser.awaitText(".answers", "Nothing: v2 serves.");
        browser.run("document.querySelector('.behind summary').click()");
        browser.awaitText(".figures", "gap");
        List<String> live = parts.stream().map(browser::text).toList();
        List<AdaptationReport> adaptations = new ArrayList<>();
        for (int i = 0; i < 23; i++) {
            adaptations.add(ConsoleReports.kept(ConsoleReports.SITE, "window " + i + " gave nothing better"));
        }

        open(ConsoleReports.SITE, windows(ConsoleReports.SITE, 9), adaptations);
        browser.awaitText(".part.spectrum", "rank 2");
        browser.awaitText(".answers", "Nothing: v2 serves.");
        assertEquals(live, parts.stream().map(browser::text).toList());
        assertEquals("aligned · blocks.7 · Plumbline", browser.driver().getTitle());
        browser.awaitText("#connection", "record, written 20");
        browser.awaitText(".part.charts", "9 windows: 8 aligned, 1 drifted. Decoder trained at first, v2 at last.");
        browser.awaitText(".part.statistics", "faithfulness gap 3.8000 Faithfulness gap: Frobenius norm");
        browser.awaitText(".part.decoders", "in service\nv2");
        browser.awaitText(".part.decoders", "3 more");
        assertEquals(9L, browser.run("return document.querySelectorAll('.charts tbody tr').length"));
        assertTrue((Boolean) browser.run(CHART_IS_DRAWN), "the chart is empty");
        assertEquals("", browser.text("nav.sites"));
        assertEquals("", browser.text(".part.rows"), "nobody accounts for rows here");
        assertEquals(List.of(), browser.run("""
                return performance.getEntriesByType('resource').map((one) => one.name)
                    .filter((name) => !name.startsWith('data:'));"""));
        browser.run("dispatchEvent(new Event('beforeprint'))");
        assertEquals(0L, browser.run("return document.querySelectorAll('details:not([open])').length"), "on paper");
        browser.size(360, 740);
        assertEquals(360L, browser.run("return document.documentElement.scrollWidth"));
    }

    @Test
    void aNameInTheFileForAnIncidentIsText() throws Exception {
        String site = ConsoleReports.HOSTILE + "</script><script>document.title='owned'</script><!--<script>";
        open(
                site,
                windows(site, 2),
                List.of(ConsoleReports.kept(site, "</p><img src=x onerror=\"document.title='owned'\">")));
        browser.awaitText("main h1", site);
        browser.awaitText(".part.decoders", "nothing better found");
        assertFalse(browser.driver().getTitle().startsWith("owned"));
        assertEquals(0L, browser.run("return document.querySelectorAll('main img, main script').length"));
        assertEquals("refused", browser.run("""
                try { document.body.innerHTML = '<b>markup</b>'; return 'taken'; } catch { return 'refused'; }"""));
        assertEquals("refused", browser.driver().executeAsyncScript("""
                const done = arguments[arguments.length - 1];
                fetch('http://127.0.0.1:1/').then(() => done('left'), () => done('refused'));"""));
        List<String> complaints = browser.complaints();
        assertTrue(
                complaints.size() >= 2
                        && complaints.stream()
                                .allMatch(line ->
                                        line.contains("Content Security Policy") || line.contains("TrustedHTML")),
                complaints::toString);
    }

    private static void open(String site, List<WindowReport> windows, List<AdaptationReport> adaptations)
            throws Exception {
        Path file = Files.writeString(
                folder.resolve("incident.html"),
                IncidentReport.html(ConsoleReports.config(folder), site, windows, adaptations));
        browser.open(file.toUri().toString());
    }

    private void story(String site, int windows) {
        windows(site, windows).forEach(window -> served.console().onReport(window, 0));
    }

    private static List<WindowReport> windows(String site, int windows) {
        return IntStream.range(0, windows)
                .mapToObj(i -> ConsoleReports.window(site, i, i == 4 ? 4.75 : 3 + i / 10.0))
                .toList();
    }

    private static SwapState waiting(long candidate) {
        return new SwapState(
                0,
                false,
                false,
                false,
                candidate,
                new SwapState.Waiting(candidate, ConsoleReports.T0, 0, 4_000_000_000_000L, null),
                List.of(),
                null,
                0,
                null,
                null);
    }

    /** Returns what the browser itself gets there. */
    private static String fetched(Object address) {
        return (String) browser.driver()
                .executeAsyncScript(
                        "const done = arguments[1]; fetch(arguments[0]).then((answer) => answer.text()).then(done);",
                        address);
    }

    /** A line of CSV; no cell of these has a line end. */
    private static List<String> cells(String line) {
        List<String> cells = new ArrayList<>();
        StringBuilder cell = new StringBuilder();
        boolean quoted = false;
        for (char c : (line + ",").toCharArray()) {
            if (c == '"') {
                quoted = !quoted;
                if (quoted && cell.length() > 0) {
                    cell.append('"');
                }
            } else if (c == ',' && !quoted) {
                cells.add(cell.toString());
                cell.setLength(0);
            } else {
                cell.append(c);
            }
        }
        return cells;
    }
}
