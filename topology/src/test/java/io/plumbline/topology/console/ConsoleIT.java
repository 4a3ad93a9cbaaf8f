package io.plumbline.topology.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.cli.Shell;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the page beside a real monitor and adapter: one browser stays open while traffic drifts, a decoder is swapped,
 * and the process is restarted.
 */
class ConsoleIT {

    private static final String SITE = WatchedFolder.SITE;
    private static final long T0 = 1_700_000_000_000L;
    private static final long WINDOW_MS = 10_000;
    private static final String VERDICT = "main .title .verdict";

    @TempDir
    private Path folder;

    private BrokerClient client;
    private int windows;

    @Test
    void driftSwapAndRevertAppearByThemselvesAndARestartLosesNothing() throws Exception {
        try (Browser browser = Browser.start(folder);
                EmbeddedBroker server = EmbeddedBroker.start(folder.resolve("broker"))) {
            client = new BrokerClient(server.bootstrapServers());
            client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
            MonitorConfig config = onPort(server.bootstrapServers(), EmbeddedBroker.freePort());
            String address = "http://127.0.0.1:" + config.http().port() + "/#/site/" + SITE;

            PlumblineRuntime first = PlumblineRuntime.start(config, Role.ALL);
            try {
                browser.open(address);
                browser.awaitText("main", "No window closed yet");
                browser.awaitText("#connection", "live");
                Object page = browser.run("return window.untouched = Math.random()");
                send(WatchedFolder::quiet, WatchedFolder::drifted, WatchedFolder::drifted);
                browser.awaitText(VERDICT, "drifted");
                browser.awaitText(".part.decoders .history", "went into service");
                browser.awaitText("#said", SITE + " is drifted");
                browser.awaitText(".part.features", "The drifted window named none");
                send(WatchedFolder::quiet, WatchedFolder::quiet, WatchedFolder::quiet);
                browser.awaitText(VERDICT, "aligned");
                browser.awaitText(".part.decoders .history", "trained decoder restored");
                browser.awaitText(".sites .notes", "v2");
                assertEquals(page, browser.run("return window.untouched"), "the page was loaded again");
                assertEquals(List.of(), browser.complaints());
            } finally {
                first.close();
            }
            browser.awaitText("#connection", "not connected");
            List<String> gone = browser.complaints();
            assertTrue(gone.stream().allMatch(line -> line.contains("ERR_")), gone::toString);

            try (PlumblineRuntime second = PlumblineRuntime.start(config, Role.ALL)) {
                assertEquals(config.http().port(), second.httpAddress().getPort());
                browser.awaitText("#connection", "live");
                send(WatchedFolder::drifted, WatchedFolder::quiet);
                browser.awaitText(VERDICT, "drifted");
                // Six windows of before the restart, read from the topic, and one of after it.
                BrokerClient.awaitThat(
                        () -> windowsShown(browser) >= 7, () -> windowsShown(browser) + " windows in the table");
                assertTrue(
                        browser.complaints().stream().allMatch(line -> line.contains("ERR_")),
                        () -> browser.complaints().toString());
            }
            reportStandsByItself(browser);
        }
    }

    private void reportStandsByItself(Browser browser) throws Exception {
        Path file = folder.resolve("incident.html");
        Shell report =
                Shell.run("report", "--config", folder.resolve(WatchedFolder.FILE), "--site", SITE, "--out", file);
        assertEquals(0, report.exitCode(), report.err());
        browser.open("about:blank");
        List<String> ofTheLivePage = browser.complaints();
        assertTrue(ofTheLivePage.stream().allMatch(line -> line.contains("ERR_")), ofTheLivePage::toString);
        browser.open(file.toUri().toString());
        browser.awaitText("main h1", SITE);
        browser.awaitText(".part.decoders .history", "went into service · v1");
        browser.awaitText(".part.decoders .history", "trained decoder restored · v2");
        assertTrue(windowsShown(browser) >= 7);
        assertEquals(List.of(), browser.complaints());

        Shell nothing = Shell.run(
                "report",
                "--config",
                folder.resolve(WatchedFolder.FILE),
                "--site",
                SITE,
                "--to",
                "2001-01-01T00:00:00Z",
                "--out",
                folder.resolve("nothing.html"));
        assertEquals(2, nothing.exitCode());
        assertTrue(nothing.err().contains("no window of " + SITE + " in the range"), nothing.err());
        assertFalse(Files.exists(folder.resolve("nothing.html")));
    }

    private static long windowsShown(Browser browser) {
        return (Long) browser.run("const all = document.querySelector('.charts details');"
                + "if (!all) return 0; all.open = true; return all.querySelectorAll('tbody tr').length");
    }

    private MonitorConfig onPort(String bootstrapServers, int port) throws Exception {
        var unused = WatchedFolder.create(folder, bootstrapServers);
        String yaml = Files.readString(folder.resolve(WatchedFolder.FILE))
                .replace("http: {port: 0}", "http: {port: " + port + "}");
        return MonitorConfig.parse(yaml, WatchedFolder.FILE, folder);
    }

    /** Sends one window after the other; the last is not closed before rows of a later one come. */
    @SafeVarargs
    private void send(LongFunction<Matrix>... traffic) throws Exception {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (LongFunction<Matrix> window : traffic) {
            records.addAll(WatchedFolder.window(T0 + windows * WINDOW_MS, window));
            windows++;
        }
        client.sendAll(records);
    }
}
