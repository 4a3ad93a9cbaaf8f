package io.plumbline.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.fasterxml.jackson.databind.JsonNode;
import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import io.plumbline.topology.assessment.ActiveDecoders;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.assessment.WindowAssessor;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.ingest.RefusedRecords;
import io.plumbline.topology.report.WindowReport;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class MonitorTopologyTest extends MonitoredStream {

    @Test
    void wiringIsThatOfTheReviewedFile() throws IOException {
        assertEquals(reviewed("monitor-topology.txt"), description(topology()));
    }

    /** Returns the description with store names in order: Kafka Streams keeps them in a set. */
    static String description(Topology topology) {
        return Pattern.compile("stores: \\[(.*)]")
                        .matcher(topology.describe().toString())
                        .replaceAll(stores -> "stores: "
                                + Stream.of(stores.group(1).split(", "))
                                        .sorted()
                                        .toList())
                        .stripTrailing()
                + "\n";
    }

    static String reviewed(String name) throws IOException {
        try (InputStream file = MonitorTopologyTest.class.getResourceAsStream(name)) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void quietWindowsAreAlignedAndADriftIsAskedAboutWithEveryWindow() {
        send(QUIET, QUIET, DRIFTED, DRIFTED, DRIFTED, QUIET, QUIET);
        List<JsonNode> reports = reports();
        assertEquals(
                List.of("aligned", "aligned", "drifted", "drifted", "drifted", "aligned"), texts(reports, "verdict"));
        assertEquals(
                List.of("false", "false", "true", "true", "true", "false"), texts(reports, "adaptation_requested"));
        JsonNode quiet = reports.get(0);
        assertTrue(quiet.get("faithfulness_gap").asDouble() < 0.2, quiet.toString());
        assertTrue(quiet.get("reconstruction_fvu_trained").asDouble() < 0.01, quiet.toString());
        JsonNode drifted = reports.get(2);
        assertTrue(drifted.get("gap_share").asDouble() > 0.95, drifted.toString());
        assertTrue(quiet.get("failing_features").isNull(), quiet.toString());
        assertEquals(
                0,
                drifted.get("failing_features").size(),
                "their columns are as wrong on the baseline's rows: " + drifted);
        assertTrue(drifted.get("reconstruction_fvu_trained").asDouble() > 0.5, drifted.toString());
        assertEquals(
                WatchedFolder.ROWS * WatchedFolder.RECORDS, drifted.get("rows").asInt());
        assertEquals(WatchedFolder.RECORDS, drifted.get("requests").asInt());
        assertEquals("event_time", drifted.get("closed_by").asText());
        assertEquals(T0 + 2 * WINDOW_MS, drifted.get("window_start_ms").asLong());
        assertEquals(6, watcher.reports.size());

        List<AdaptationMessage> asked = requests();
        AdaptationMessage.Adapt request = assertInstanceOf(AdaptationMessage.Adapt.class, asked.get(asked.size() - 2));
        assertEquals(T0 + 5 * WINDOW_MS, request.windowEndMs());
        assertEquals(T0 + 4 * WINDOW_MS, request.windowStartMs());
        AdaptationMessage.BlockRows block = request.blocks().get(0);
        assertNull(block.target());
        assertEquals(WatchedFolder.ROWS * WatchedFolder.RECORDS, block.rows());
        assertEquals(3 * (block.parts() + 1), asked.size() - 1, "parts and request of each window, the revert");
        int parts = asked.size() - 2 - block.parts();
        RowSample sample = RowSample.ofCapacity(block.sampleCapacity());
        for (int index = 0; index < block.parts(); index++) {
            AdaptationMessage.SamplePart part =
                    assertInstanceOf(AdaptationMessage.SamplePart.class, asked.get(parts + index));
            assertEquals(index, part.index());
            assertEquals(request.windowEndMs(), part.windowEndMs());
            sample.mergeEncoded(part.part());
        }
        assertEquals(block.rows(), sample.size(), "the window is smaller than the sample");
        AdaptationMessage.Revert revert = assertInstanceOf(AdaptationMessage.Revert.class, asked.get(asked.size() - 1));
        assertEquals(T0 + 6 * WINDOW_MS, revert.windowEndMs());
    }

    @Test
    void aRowThatLiesInSeveralDriftedWindowsIsSentOnce() throws IOException {
        stream.close();
        config = WatchedFolder.create(
                folder, "unused:9092", "size: 30s, advance: 10s, grace: 0s, idle_close: off", "", WatchedFolder.SITE);
        stream = new Streaming(topology(), StreamsSettings.monitor(config), folder.resolve("hopping"));
        send(DRIFTED, DRIFTED, DRIFTED, DRIFTED, DRIFTED);
        List<JsonNode> reports = reports();
        assertTrue(reports.size() > 3, reports::toString);
        assertEquals(Set.of("true"), Set.copyOf(texts(reports, "adaptation_requested")));
        Set<Long> sent = new HashSet<>();
        for (AdaptationMessage message : requests()) {
            if (message instanceof AdaptationMessage.SamplePart part) {
                RowSample sample = RowSample.ofCapacity(512);
                sample.mergeEncoded(part.part());
                sample.rows().forEach(row -> assertTrue(sent.add(row.hash()), "row " + row.hash() + " was sent twice"));
            }
        }
        assertEquals(4 * WatchedFolder.ROWS * WatchedFolder.RECORDS, sent.size());
    }

    @Test
    void aSiteThatWasNeverAdaptedIsNotReverted() {
        send(QUIET, QUIET, QUIET);
        assertEquals(List.of(), requests());
    }

    @Test
    void aReportCarriesTheAccountOfItsSitesRows() throws IOException {
        send(QUIET, QUIET, QUIET);
        record(QUIET, T0, 2);
        record(QUIET, T0 + 3 * WINDOW_MS, 1);
        List<TestRecord<byte[], byte[]>> reports = stream.read(config.topics().windowReports());
        JsonNode account = JSON.readTree(
                reports.get(2).headers().lastHeader(WindowReport.ACCOUNT_HEADER).value());
        int window = WatchedFolder.ROWS * WatchedFolder.RECORDS;
        assertEquals(3 * window + 3 * WatchedFolder.ROWS, account.get("in").asInt());
        assertEquals(3 * window, account.get("in_windows").asInt());
        assertEquals(WatchedFolder.ROWS, account.get("open").asInt());
        assertEquals(
                2 * WatchedFolder.ROWS, account.get("late").get("after_grace").asInt());
        assertEquals(0, account.get("unaccounted").asInt());
    }

    /**
     * Tests a revert after a reset of the monitor's state: it remembers no adaptation, and an adapted decoder is in
     * service.
     */
    @Test
    void aRevertThatWasLostIsAskedForUntilTheTrainedDecoderIsBack() {
        Decoder trained = sites.get(WatchedFolder.SITE).explainer().decoder();
        Matrix other = Matrix.zeros(WatchedFolder.FEATURES, WatchedFolder.WIDTH);
        active = site -> new ActiveDecoders.Active(new Decoder(other, new double[WatchedFolder.WIDTH]), 7);
        send(QUIET, QUIET, QUIET);
        assertEquals(
                List.of(new AdaptationMessage.Revert(T0 + WINDOW_MS), new AdaptationMessage.Revert(T0 + 2 * WINDOW_MS)),
                requests());
        active = site -> new ActiveDecoders.Active(trained, 8);
        send(T0 + 3 * WINDOW_MS, QUIET, QUIET);
        assertEquals(List.of(), requests());
    }

    @Test
    void aReportIsOneFlatObjectInSnakeCaseAndWhatIsUndefinedIsNull() {
        send(QUIET, seed -> Matrix.zeros(WatchedFolder.ROWS, WatchedFolder.WIDTH), QUIET);
        JsonNode zeros = reports().get(1);
        assertEquals("undecided", zeros.get("verdict").asText());
        assertTrue(zeros.get("over_threshold").isNull(), zeros.toString());
        assertTrue(zeros.get("faithfulness_gap").isNull(), zeros.toString());
        assertTrue(zeros.get("undefined").has("faithfulness_gap"), zeros.toString());
        assertFalse(zeros.toString().contains("NaN") || zeros.toString().contains("Infinity"), zeros.toString());
        Set<String> nested = new HashSet<>();
        zeros.properties().forEach(entry -> {
            assertTrue(entry.getKey().matches("[a-z][a-z0-9_]*"), entry.getKey());
            if (entry.getValue().isObject()) {
                nested.add(entry.getKey());
            }
        });
        assertEquals(
                Set.of("feature_activity", "feature_names", "groups", "spectrum", "watched", "vacuous", "undefined"),
                nested);
        zeros.get("undefined")
                .fieldNames()
                .forEachRemaining(key -> assertTrue(zeros.get(key).isNull(), key));
    }

    @Test
    void theActiveDecoderIsMeasuredBesideTheTrainedOne() {
        Matrix nothing = Matrix.zeros(WatchedFolder.FEATURES, WatchedFolder.WIDTH);
        active = site -> new ActiveDecoders.Active(new Decoder(nothing, new double[WatchedFolder.WIDTH]), 7);
        send(QUIET, QUIET);
        JsonNode report = reports().get(0);
        assertEquals(7, report.get("decoder_version").asLong());
        assertTrue(report.get("reconstruction_fvu").asDouble() > 0.9, report.toString());
        assertTrue(report.get("reconstruction_fvu_trained").asDouble() < 0.01, report.toString());
    }

    @Test
    void recordsThatAreRefusedAreInTheLogOnceForTheirReason() {
        Logger logger = (Logger) LoggerFactory.getLogger(RefusedRecords.class);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.addAppender(log);
        try {
            for (int i = 0; i < 3; i++) {
                stream.send(config.topics().activations(), "nobody", new byte[8], T0);
                stream.send(config.topics().activations(), WatchedFolder.SITE, new byte[8], T0);
            }
        } finally {
            logger.detachAppender(log);
        }
        assertEquals(6, stream.read(config.topics().deadLetters()).size());
        assertEquals(
                List.of("WARN unknown_site", "WARN malformed"),
                log.list.stream()
                        .map(event -> event.getLevel() + " "
                                + event.getFormattedMessage().replaceAll("(?s).* reason=(\\w+) .*", "$1"))
                        .toList());
    }

    @Test
    void aSiteThatDriftsIsLoggedOnceWithTheReasonAndOnceWhenItIsAlignedAgain() {
        Logger logger = (Logger) LoggerFactory.getLogger(WindowAssessor.class);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.setLevel(Level.INFO);
        logger.addAppender(log);
        try {
            send(QUIET, DRIFTED, DRIFTED, QUIET, QUIET);
        } finally {
            logger.detachAppender(log);
            logger.setLevel(null);
        }
        List<JsonNode> reports = reports();
        double times = reports.get(1).get("trigger_value").asDouble()
                / reports.get(1).get("threshold").asDouble();
        assertEquals(times, reports.get(1).get("over_threshold").asDouble(), 1e-15);
        assertEquals(
                List.of(
                        "WARN the site has drifted: site=%s window=2023-11-14T22:13:30Z %s"
                                .formatted(WatchedFolder.SITE, pairs(reports.get(1))),
                        "INFO the site is aligned again: site=%s window=2023-11-14T22:13:50Z %s"
                                .formatted(WatchedFolder.SITE, pairs(reports.get(3)))),
                log.list.stream()
                        .map(event -> event.getLevel() + " " + event.getFormattedMessage())
                        .toList());
    }

    private static String pairs(JsonNode report) {
        return "statistic=faithfulness_gap value=%.4g threshold=%.4g over_threshold=%.4g reason=\"%s\""
                .formatted(
                        report.get("trigger_value").asDouble(),
                        report.get("threshold").asDouble(),
                        report.get("over_threshold").asDouble(),
                        report.get("reason").asText());
    }

    @Test
    void valuesOfASiteThatMovesAwayAreReleased() {
        send(QUIET, QUIET);
        stream.close();
        assertEquals(List.of(WatchedFolder.SITE), watcher.released);
        stream = new Streaming(topology(), StreamsSettings.monitor(config), folder.resolve("state"));
    }
}
