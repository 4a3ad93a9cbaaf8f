package io.plumbline.topology;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.moments.RowSample;
import io.plumbline.topology.adaptation.AdaptationListener;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.AdapterTask;
import io.plumbline.topology.adaptation.Outcome;
import io.plumbline.topology.assessment.ActiveDecoders;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.assessment.AdaptationMessage.Verb;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.emission.AssembledDecoders;
import io.plumbline.topology.emission.PublishedDecoder;
import io.plumbline.topology.report.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that rows of consecutive drifted windows become one refit. */
class RowPoolingTest {

    private static final long START = AdapterRequests.START;
    private static final int WINDOW_ROWS = WatchedFolder.ROWS * WatchedFolder.RECORDS;

    @TempDir
    private Path folder;

    private Streaming stream;
    private MonitorConfig config;
    private Map<String, WatchedSite> sites;
    private final List<TestRecord<byte[], byte[]>> published = new ArrayList<>();

    /** The calls that tell of the pools. */
    private final Pooled pooled = new Pooled();

    private static final class Pooled implements AdaptationListener {
        private final Map<String, Integer> rows = new HashMap<>();

        @Override
        public void onAdaptation(AdaptationReport report) {}

        @Override
        public void onPooled(String site, int distinct) {
            rows.put(site, distinct);
        }

        @Override
        public void onPoolReleased(String site) {
            rows.remove(site);
        }
    }

    @AfterEach
    void stop() {
        stream.close();
    }

    /** @param cooldown of the site */
    private void start(String cooldown, String adaptation) throws IOException {
        if (stream != null) {
            stream.close();
        }
        published.clear();
        WatchedFolder.createAdapting(folder, "unused:9092", adaptation);
        config = WatchedFolder.cooling(folder, cooldown);
        sites = WatchedFolder.sites(config);
        stream = new Streaming(
                AdapterTopology.build(config, sites, this::inService, AdapterRequests.NO_CANDIDATES, pooled),
                StreamsSettings.adapter(config),
                Files.createTempDirectory(folder, "state"));
    }

    @Test
    void windowsOfTooFewRequestsWaitForEachOtherAndNotForTheCooldown() throws IOException {
        start("1h", "mode: auto");
        AdaptationReport first = small(1);
        assertEquals(Outcome.POOLED, first.outcome(), first.reason());
        assertTrue(first.reason().contains("too few"), first.reason());
        assertEquals(WatchedFolder.ROWS, first.pooledRows());
        AdaptationReport last = first;
        int window = 1;
        while (last.outcome() == Outcome.POOLED && window < 100) {
            last = small(++window);
        }
        assertEquals(window, last.pooledWindows(), "every one of them within the cooldown");
        assertEquals(window * WatchedFolder.ROWS, last.pooledRows());
        assertTrue(last.candidates().size() > 1, "a refit was made: " + last.reason());
    }

    @Test
    void theCooldownRunsFromTheWindowThatWasJudgedAndRowsAreStillPooled() throws IOException {
        start("25s", "mode: auto");
        assertEquals(Outcome.PUBLISHED, window(1).outcome());
        for (int within = 2; within <= 3; within++) {
            AdaptationReport report = window(within);
            assertEquals(Outcome.POOLED, report.outcome());
            assertTrue(report.reason().contains("cooldown"), report.reason());
            assertEquals(within, report.pooledWindows());
        }
        AdaptationReport next = window(4);
        assertTrue(next.candidates().size() > 1, next.reason());
        assertEquals(4 * WINDOW_ROWS, next.pooledRows());
    }

    @Test
    void aPublishedDecoderSaysHowManyRowsOfHowManyWindowsWerePooled() throws IOException {
        start("0s", "mode: auto");
        window(1);
        Map<String, String> lineage = decoders().get(0).manifest().lineage();
        assertEquals("1", lineage.get("pooled_windows"));
        assertEquals(Integer.toString(WINDOW_ROWS), lineage.get("pooled_rows"));
    }

    @Test
    void rowsAreDroppedWhenTheSiteIsAlignedAgain() throws IOException {
        start("1h", "mode: propose");
        window(1);
        assertEquals(2, window(2).pooledWindows());
        send(new AdaptationMessage.Revert(end(3)));
        reports();
        assertEquals(Map.of(), stream.store(AdapterTask.PARTS_STORE));
        AdaptationReport next = window(4);
        assertEquals(1, next.pooledWindows());
        assertEquals(WINDOW_ROWS, next.pooledRows());
    }

    @Test
    void rowsThatLedToADecoderWhichIsRolledBackAreDropped() throws IOException {
        start("0s", "mode: auto, pause_after_rollback: 15s");
        window(1);
        send(new AdaptationMessage.RollBack(end(2), 1, 3, 2, 0.5, 0.25, Double.NaN, Double.NaN));
        assertEquals(Outcome.ROLLED_BACK, report().outcome());
        assertEquals(Outcome.PAUSED, window(3).outcome());
        assertEquals(Map.of(), stream.store(AdapterTask.PARTS_STORE), "nor is pooled what comes in the pause");
        assertEquals(1, window(4).pooledWindows());
        send(new AdaptationMessage.Command(0, "id", Verb.ROLL_BACK, 0, "ada"));
        assertEquals(Outcome.ROLLED_BACK, report().outcome());
        assertEquals(Map.of(), stream.store(AdapterTask.PARTS_STORE));
    }

    /** Tests commands between the parts of a window's requests; the second one drops what is pooled. */
    @Test
    void aCommandLeavesTheRequestsOfAWindowThatStillArrives() throws IOException {
        start("0s", "mode: auto");
        sendRequests(1, 0);
        window(1);
        sendRequests(2, 0);
        send(new AdaptationMessage.Command(0, "first", Verb.APPROVE, 7, "ada"));
        assertEquals(Outcome.REJECTED, report().outcome());
        sendRequests(2, 1);
        window(2);
        assertEquals(List.of("1#w0", "2#w0", "2#w1"), storedRequests());
        sendRequests(3, 0);
        send(new AdaptationMessage.Command(0, "second", Verb.ROLL_BACK, 0, "ada"));
        assertEquals(Outcome.ROLLED_BACK, report().outcome());
        assertEquals(List.of("3#w0"), storedRequests());
        send(new AdaptationMessage.Revert(end(3)));
        assertEquals(List.of(), storedRequests());
    }

    /** One of several targets may have judged a window before another one has judged the window before it. */
    @Test
    void theRowsOfALaterWindowWaitForTheirRequest() throws IOException {
        start("1h", "mode: auto");
        List<AdaptationMessage> second = AdapterRequests.adapt(end(2), WatchedFolder::drifted);
        List<AdaptationMessage> parts = second.subList(0, second.size() - 1);
        parts.forEach(this::send);
        window(1);
        send(second.get(second.size() - 1));
        AdaptationReport report = report();
        assertEquals(Outcome.POOLED, report.outcome(), report.reason());
        assertEquals(2, report.pooledWindows());
        parts.forEach(this::send);
        window(3);
        send(second.get(second.size() - 1));
        assertEquals(3, report().pooledWindows(), "a window read again replaces itself");
    }

    private void sendRequests(int window, int part) {
        send(new AdaptationMessage.RequestPart(end(window), part, new byte[] {1}));
    }

    /** Returns the parts of whole requests that are stored, by window and number. */
    private List<String> storedRequests() {
        List<String> found = new ArrayList<>();
        for (String key : stream.store(AdapterTask.PARTS_STORE).keySet()) {
            for (int window = 1; window <= 3; window++) {
                String prefix = WatchedFolder.SITE + "#" + end(window) + "#w";
                if (key.startsWith(prefix)) {
                    found.add(window + "#w" + key.substring(prefix.length()));
                }
            }
        }
        return found;
    }

    @Test
    void theNewestRowsAreKeptWhenThereAreMoreThanFit() throws IOException {
        start("1h", "mode: auto, pooled_rows: 600");
        AdaptationReport report = window(1);
        for (int window = 2; window <= 9; window++) {
            report = window(window);
        }
        assertEquals(600, report.pooledRows());
        assertEquals(5, report.pooledWindows(), "four whole and a part of the fifth");
        assertEquals(List.of(end(5), end(6), end(7), end(8), end(9)), storedWindows());
        report = window(10);
        assertEquals(600, report.pooledRows());
        assertEquals(List.of(end(6), end(7), end(8), end(9), end(10)), storedWindows());
    }

    @Test
    void rowsOfWindowsThatAreTooOldAreDropped() throws IOException {
        start("1h", "mode: auto, pooled_age: 35s");
        AdaptationReport report = window(1);
        for (int window = 2; window <= 6; window++) {
            report = window(window);
        }
        assertEquals(4, report.pooledWindows());
        assertEquals(List.of(end(3), end(4), end(5), end(6)), storedWindows());
        assertEquals(1, window(60).pooledWindows());
    }

    @Test
    void aRowThatComesTwiceCountsOnce() throws IOException {
        start("1h", "mode: auto");
        RowSample sample = AdapterRequests.sample(end(1), WatchedFolder.RECORDS, WatchedFolder::drifted);
        ask(end(1), sample);
        AdaptationReport again = ask(end(2), sample);
        assertEquals(WINDOW_ROWS, again.pooledRows());
        assertEquals(1, again.pooledWindows());
        assertEquals(List.of(end(1)), storedWindows());
    }

    @Test
    void theRowsThatWaitAreToldUntilTheyAreDroppedOrTheSiteIsAdaptedElsewhere() throws IOException {
        start("1h", "mode: propose");
        assertEquals(Map.of(), pooled.rows);
        window(1);
        assertEquals(Map.of(WatchedFolder.SITE, WINDOW_ROWS), pooled.rows);
        window(2);
        assertEquals(Map.of(WatchedFolder.SITE, 2 * WINDOW_ROWS), pooled.rows);
        send(new AdaptationMessage.Revert(end(3)));
        assertEquals(Map.of(WatchedFolder.SITE, 0), pooled.rows);
        start("1h", "mode: propose");
        assertEquals(Map.of(), pooled.rows);
    }

    @Test
    void requestsThatAreReadAgainGiveTheSamePoolAndTheSameDecoder() throws IOException {
        start("1h", "mode: propose");
        for (int window = 1; window <= 3; window++) {
            window(window);
        }
        Map<String, byte[]> parts = stream.store(AdapterTask.PARTS_STORE);
        Map<String, byte[]> pools = stream.store(AdapterTask.POOLS_STORE);
        for (int window = 1; window <= 3; window++) {
            assertEquals(3, window(window).pooledWindows());
        }
        assertSame(parts, stream.store(AdapterTask.PARTS_STORE));
        assertSame(pools, stream.store(AdapterTask.POOLS_STORE));
    }

    @Test
    void aWindowThatCannotBeReadLeavesThePoolAsItWas() throws IOException {
        start("1h", "mode: auto");
        window(1);
        Map<String, byte[]> parts = stream.store(AdapterTask.PARTS_STORE);
        RowSample wide = RowSample.ofCapacity(512);
        for (int i = 0; i < 64; i++) {
            wide.offer(i, i / 8, i / 8, new float[WatchedFolder.WIDTH + 1], null);
        }
        AdaptationReport report = ask(end(2), wide);
        assertEquals(Outcome.FAILED, report.outcome());
        assertEquals("its rows have 9 activations and 9 targets, the explainer reads 8 and writes 8", report.reason());
        send(new AdaptationMessage.SamplePart(end(3), 5, new byte[] {1}));
        send(AdapterRequests.adapt(end(3), 128, 512, 2));
        assertEquals("part 0 of the 2 parts of its sample did not arrive", report().reason());
        assertSame(parts, stream.store(AdapterTask.PARTS_STORE));
        assertEquals(2, window(4).pooledWindows());
    }

    @Test
    void aDecoderInServiceIsTriedAgainWithoutALeastImprovementOnceItsRowsHaveDoubled() throws IOException {
        start("0s", "mode: auto");
        assertEquals(Outcome.PUBLISHED, window(1).outcome());
        int serving = WINDOW_ROWS;
        int tried = 0;
        List<Double> asked = new ArrayList<>();
        for (int window = 2; window <= 8; window++) {
            AdaptationReport report = window(window);
            boolean doubled = report.pooledRows() >= 2 * Math.max(serving, tried);
            tried = doubled ? report.pooledRows() : tried;
            if (report.gate() != null) {
                asked.add(minimumImprovement(report));
                assertEquals(doubled ? 0.0 : 5.0, minimumImprovement(report), report::toString);
            }
            serving = report.outcome() == Outcome.PUBLISHED ? report.pooledRows() : serving;
        }
        assertTrue(asked.containsAll(List.of(0.0, 5.0)), asked::toString);
    }

    @Test
    void aRefitThatImprovesOnTheTrainedDecoderHasToGiveTheLeastImprovement() throws IOException {
        start("0s", "mode: propose");
        assertEquals(5.0, minimumImprovement(window(1)));
    }

    @Test
    void theRequestsOfTheDecoderInServiceAreNotJudgedBy() throws IOException {
        start("0s", "mode: auto");
        AdaptationReport first = window(1);
        AdaptationReport second = window(2);
        assertTrue(second.candidates().size() > 1, second.reason());
        assertTrue(second.validationRows() <= WINDOW_ROWS / 2, "rows of the second window alone: " + second);
        assertTrue(
                second.fitRows() >= WINDOW_ROWS + first.fitRows() / 2,
                "all of the first are fitted on again: " + second);
    }

    @Test
    void sitesThatOnlyObserveStoreNothing() throws IOException {
        start("0s", "mode: observe");
        AdapterRequests.adapt(end(1), WatchedFolder::drifted).forEach(this::send);
        assertEquals(List.of(), reports());
        assertEquals(Map.of(), stream.store(AdapterTask.PARTS_STORE));
    }

    /** Returns what the gate asked for, in percent. */
    private static double minimumImprovement(AdaptationReport report) {
        String finding = report.gate().tests().get(0).finding();
        return Double.parseDouble(finding.replaceAll("(?s).*expected at least ([0-9.]+) %.*", "$1"));
    }

    private static void assertSame(Map<String, byte[]> expected, Map<String, byte[]> found) {
        assertEquals(expected.keySet(), found.keySet());
        expected.forEach((key, value) -> assertArrayEquals(value, found.get(key), key));
    }

    private List<Long> storedWindows() {
        return stream.store(AdapterTask.PARTS_STORE).keySet().stream()
                .map(key -> Long.parseLong(key.replaceAll(".*#(\\d+)#\\d+", "$1")))
                .distinct()
                .sorted()
                .toList();
    }

    private static long end(int window) {
        return START + window * 10_000L;
    }

    /** A window of one request. */
    private AdaptationReport small(int window) {
        return ask(
                end(window), AdapterRequests.sample(end(window), 1, seed -> WatchedFolder.drifted(end(window) + seed)));
    }

    private AdaptationReport window(int window) {
        AdapterRequests.adapt(end(window), WatchedFolder::drifted).forEach(this::send);
        return report();
    }

    private AdaptationReport ask(long endMs, RowSample sample) {
        AdapterRequests.adapt(endMs, sample).forEach(this::send);
        return report();
    }

    private void send(AdaptationMessage message) {
        stream.send(config.topics().adaptationRequests(), WatchedFolder.SITE, message.encode(), START);
    }

    private AdaptationReport report() {
        List<AdaptationReport> reports = reports();
        assertEquals(1, reports.size(), reports::toString);
        return reports.get(0);
    }

    private List<AdaptationReport> reports() {
        return stream.read(config.topics().adaptationReports()).stream()
                .map(record -> Json.read(record.value(), AdaptationReport.class))
                .toList();
    }

    private ActiveDecoders.Active inService(String site) {
        List<PublishedDecoder> all = decoders();
        if (all.isEmpty()) {
            return null;
        }
        PublishedDecoder newest = all.get(all.size() - 1);
        return new ActiveDecoders.Active(newest.decoder(), newest.version());
    }

    private List<PublishedDecoder> decoders() {
        published.addAll(stream.read(config.topics().decoders()));
        return AssembledDecoders.of(published, WatchedFolder.SITE, trained());
    }

    private Decoder trained() {
        return sites.get(WatchedFolder.SITE).explainer().decoder();
    }
}
