package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.baseline.NullSample;
import io.plumbline.baseline.Provenance;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.baselines.BaselineVersion;
import io.plumbline.topology.baselines.Described;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.WindowReports;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.Sha256;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BaselineFromTopicIT {

    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    private static final int REQUESTS = 60;
    private static final int PARTITIONS = 3;

    @TempDir
    private static Path folder;

    private static EmbeddedBroker broker;
    private static Path config;

    @BeforeAll
    static void recordRequestsAmongOthers() throws Exception {
        broker = EmbeddedBroker.start(folder.resolve("broker"));
        WatchedFolder.create(folder, broker.bootstrapServers());
        config = folder.resolve(WatchedFolder.FILE);
        try (Admin admin = Admin.create(Map.<String, Object>of("bootstrap.servers", broker.bootstrapServers()))) {
            admin.createTopics(List.of(
                            new NewTopic("activations", PARTITIONS, (short) 1).configs(Map.of("retention.ms", "-1"))))
                    .all()
                    .get();
        }
        Map<String, Object> properties =
                Map.of("bootstrap.servers", broker.bootstrapServers(), "transactional.id", "recorder", "acks", "all");
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.initTransactions();
            producer.beginTransaction();
            for (int i = 0; i < REQUESTS; i++) {
                send(producer, record(i % PARTITIONS, i, WatchedFolder.SITE, blob(WatchedFolder.quiet(i))));
                send(producer, record(i % PARTITIONS, i, "another", blob(WatchedFolder.drifted(i))));
                if (i != 7) {
                    send(producer, record(i % PARTITIONS, i, "third", blob(WatchedFolder.quiet(1_000 + i))));
                }
            }
            Matrix poisoned = WatchedFolder.quiet(1_000);
            poisoned.set(3, 3, Double.NaN);
            send(producer, record(1, 20, WatchedFolder.SITE, blob(poisoned)));
            send(producer, record(2, 20, WatchedFolder.SITE, new byte[] {1, 2, 3}));
            producer.commitTransaction();
            producer.beginTransaction();
            send(producer, record(0, 30, WatchedFolder.SITE, blob(WatchedFolder.drifted(7))));
            producer.abortTransaction();
        }
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    /** Sends in a transaction; a failure comes out of its end. */
    private static void send(KafkaProducer<byte[], byte[]> producer, ProducerRecord<byte[], byte[]> record) {
        var unused = producer.send(record);
    }

    private static byte[] blob(Matrix rows) {
        return ActivationRecords.blob(rows);
    }

    private static ProducerRecord<byte[], byte[]> record(int partition, int second, String site, byte[] value) {
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>("activations", partition, START.toEpochMilli() + 1_000L * second, null, value);
        record.headers().add("site", site.getBytes(StandardCharsets.UTF_8));
        return record;
    }

    @Test
    void theTopicGivesTheSameBaselineAsAFileOfTheSameRequests() throws IOException {
        Path fromTopic = folder.resolve("from-topic.safetensors");
        Shell topic = baseline(fromTopic, "--from-topic", "--config", config, "--site", WatchedFolder.SITE);
        assertEquals(0, topic.exitCode(), topic.err());
        assertTrue(topic.out().contains("left out as malformed: 1 record\n"), topic.out());
        assertTrue(topic.out().contains("left out as non_finite: 1 record\n"), topic.out());
        assertTrue(topic.out().contains("left out as unknown_site: 119 records\n"), topic.out());
        Baseline read = assertSame(fromTopic, 0, REQUESTS);
        Provenance provenance = read.provenance();
        assertNotNull(provenance);
        assertEquals("topic activations, site layer.a, its beginning to its end, 60 requests", provenance.source());
        assertEquals(60 * WatchedFolder.ROWS, read.rows().size());
    }

    /**
     * Writes a configuration whose model m has two sites.
     *
     * @param baselines how the names of their baselines begin
     * @param more keys of the second site
     */
    private Path model(String baselines, String more) throws IOException {
        String site = "{explainer: explainer, baseline: %s-%s.safetensors, rank: 4, adaptation: {mode: observe}%s}";
        return Files.writeString(
                folder.resolve(baselines + ".yaml"),
                Files.readString(config)
                        .replaceFirst(
                                "(?s)sites:.*",
                                "models: {m: {sites: [%s, third]}}%nsites:%n".formatted(WatchedFolder.SITE)
                                        + "  %s: %s%n  third: %s%n"
                                                .formatted(
                                                        WatchedFolder.SITE,
                                                        site.formatted(baselines, "a", ""),
                                                        site.formatted(baselines, "c", more))));
    }

    @Test
    void baselinesOfAModelAreOfTheRequestsThatAllItsSitesHave() throws IOException {
        Path file = model("of-model", "");
        Object[] arguments = {"baseline", "--from-topic", "--config", file, "--model", "m", "--window-rows", 32};
        Shell made = Shell.run(arguments);
        assertEquals(0, made.exitCode(), made.err());
        Baseline own = Baseline.read(folder.resolve("of-model-a.safetensors"));
        Baseline third = Baseline.read(folder.resolve("of-model-c.safetensors"));
        assertEquals(59L * WatchedFolder.ROWS, own.rowCount());
        assertEquals(own.rowCount(), third.rowCount());
        assertTrue(made.out().contains("left out as not_at_every_site: 1 record\n"), made.out());
        int windows = own.samples().get(0).values(DriftJudge.DEFAULT_TRIGGER).length;
        assertTrue(windows > 10);
        Baseline joint = own.judgedWith(
                4, List.of(new NullSample.OtherSite(third.samplesOf(4), List.of(DriftJudge.DEFAULT_TRIGGER))));
        assertEquals(windows, joint.samples().get(0).values(DriftJudge.DEFAULT_TRIGGER).length);

        Shell again = Shell.run(arguments);
        assertEquals(2, again.exitCode());
        assertTrue(again.err().contains("of-model-a.safetensors: exists already"), again.err());
        Shell unknown = Shell.run("baseline", "--from-topic", "--config", file, "--model", "n");
        assertTrue(unknown.err().contains("--model = n: "), unknown.err());
        Shell check = Shell.run("check", "--config", file, "--offline");
        assertTrue(
                check.out()
                        .contains("asked for by 2 promises, the sites of a model being one and new groups another: "
                                + "1 false alarm in 15 d all together"),
                check.out() + check.err());
    }

    @Test
    void baselinesOfAModelAreOneObjectBySite() throws IOException {
        Path file = model("as-json", "");
        Shell made =
                Shell.run("baseline", "--from-topic", "--config", file, "--model", "m", "--window-rows", 32, "--json");
        assertEquals(0, made.exitCode(), made.err());
        JsonNode told = JsonMapper.builder()
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .build()
                .readTree(made.out());
        assertEquals("m", told.get("model").asText());
        JsonNode sites = told.get("sites");
        assertEquals(2, sites.size());
        for (String site : List.of(WatchedFolder.SITE, "third")) {
            assertTrue(Files.exists(Path.of(sites.get(site).get("out").asText())), made.out());
        }
    }

    /** The second site masks tokens, which no record names: it is seen when the first is measured. */
    @Test
    void aModelWhoseSecondSiteCannotBeMeasuredHasNoBaselineOfTheFirst() throws IOException {
        Path file = model("half", ", mask: {token_ids: [7]}");
        Shell made = Shell.run("baseline", "--from-topic", "--config", file, "--model", "m", "--window-rows", 32);
        assertTrue(made.exitCode() > 1, made.out() + made.err());
        assertEquals("", made.out());
        assertTrue(made.err().contains("token"), made.err());
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(
                    List.of(),
                    left.filter(one -> one.getFileName().toString().startsWith("half-"))
                            .toList());
        }
    }

    @Test
    void aBaselineThatReplacesAnotherSaysWhatWouldChangeAndIsListedOnceProposed() throws Exception {
        new BrokerClient(broker.bootstrapServers())
                .createTopic("plumbline-baselines", 1, Map.of("cleanup.policy", "compact"));
        Path first = folder.resolve("first.safetensors");
        Object[] all = {"--from-topic", "--config", config, "--site", WatchedFolder.SITE};
        assertEquals(0, baseline(first, all).exitCode());
        List<Object> again = new ArrayList<>(Arrays.asList(all));
        again.addAll(List.of("--from", START.plusSeconds(10), "--replaces", first));
        Shell same = baseline(first, again.toArray());
        assertEquals(2, same.exitCode());
        assertTrue(same.err().contains("first.safetensors: exists already"), same.err());

        Path second = folder.resolve("second.safetensors");
        Shell shell = baseline(second, again.toArray());
        assertEquals(0, shell.exitCode(), shell.err());
        assertTrue(shell.out().matches("(?s).*\\brevision +2\\R.*"), shell.out());
        assertTrue(shell.out().matches("(?s).*rows_old_new +480 400\\R.*"), shell.out());
        assertTrue(shell.out().matches("(?s).*clean_windows_rank_4_rows_64_old_new +7 6\\R.*"), shell.out());
        NullSample old = Baseline.read(first).samples().get(0);
        double largest = Arrays.stream(old.values("faithfulness_gap")).max().orElseThrow();
        assertTrue(
                shell.out()
                        .matches("(?s).*threshold_faithfulness_gap_rank_4_rows_64_old_new +%.4f .*".formatted(largest)),
                shell.out());
        Provenance provenance = Baseline.read(second).provenance();
        assertNotNull(provenance);
        assertEquals(2, provenance.revision());
        String parent = provenance.parent();
        assertNotNull(parent);
        assertTrue(shell.out().contains(parent), shell.out());
        again.add("--propose");
        Path third = folder.resolve("third.safetensors");
        Shell proposed = baseline(third, again.toArray());
        assertEquals(0, proposed.exitCode(), proposed.err());
        Shell listed = Shell.run("baselines", "--config", config, "--verbose");
        assertEquals(0, listed.exitCode(), listed.err());
        assertTrue(
                listed.out().contains(Sha256.of(third).substring(0, 12))
                        && listed.out().contains("proposed"),
                listed.out());
        String threshold = proposed.out()
                .lines()
                .filter(line -> line.contains("threshold_faithfulness_gap_rank_4_rows_64_old_new"))
                .findFirst()
                .orElseThrow();
        assertTrue(listed.out().contains(threshold), listed.out());
        Shell json = Shell.run("baselines", "--config", config, "--site", WatchedFolder.SITE, "--json");
        assertTrue(json.out().contains("\"replaces_sha256\":\"%s\"".formatted(parent)), json.out());
        Path fourth = folder.resolve("fourth.safetensors");
        assertEquals(2, baseline(fourth, "--activations", third, "--propose").exitCode());
    }

    /** Writes the configuration with another topic of baselines. */
    private static Path notedOn(String topic) throws IOException {
        return Files.writeString(
                folder.resolve(topic + ".yaml"),
                Files.readString(config) + "topics: {baselines: %s}%n".formatted(topic));
    }

    @Test
    void aProposalThatIsNotTakenEndsInFailureAndOneWithoutATopicMeasuresNothing() throws Exception {
        Path first = folder.resolve("to-replace.safetensors");
        assertEquals(
                0,
                baseline(first, "--from-topic", "--config", config, "--site", WatchedFolder.SITE)
                        .exitCode());
        Path none = folder.resolve("not-measured.safetensors");
        Shell nowhere = propose(none, notedOn("nowhere"), first);
        assertEquals(2, nowhere.exitCode(), nowhere.out());
        assertTrue(nowhere.err().contains("topic nowhere does not exist"), nowhere.err());
        assertTrue(nowhere.err().contains("`plumbline topics --create`"), nowhere.err());
        assertTrue(!Files.exists(none), "it was measured");

        BrokerClient client = new BrokerClient(broker.bootstrapServers());
        client.createTopic("narrow", 1, Map.of("max.message.bytes", "100", "cleanup.policy", "compact"));
        Path written = folder.resolve("not-proposed.safetensors");
        Shell refused = propose(written, notedOn("narrow"), first);
        assertEquals(ExitCodes.FAILURE, refused.exitCode(), refused.err());
        assertTrue(
                refused.err().contains("not-proposed.safetensors is written but not proposed: topic \"narrow\""),
                refused.err());
        assertEquals(
                2, Objects.requireNonNull(Baseline.read(written).provenance()).revision());
        assertEquals(List.of(), client.readAll("narrow"));
    }

    private static Shell propose(Path out, Path noted, Path replaced) {
        return baseline(
                out,
                "--from-topic",
                "--config",
                noted,
                "--site",
                WatchedFolder.SITE,
                "--from",
                START.plusSeconds(10),
                "--replaces",
                replaced,
                "--propose");
    }

    @Test
    void theListHasConfiguredSitesAloneItsTextsMoveNoCursorAndWhatWasRemovedIsGone() throws Exception {
        Path noted = notedOn("listed");
        BrokerClient client = new BrokerClient(broker.bootstrapServers());
        client.createTopic("listed", 1, Map.of("cleanup.policy", "compact"));
        BaselineVersion kept = Described.replacing(WatchedFolder.SITE, "b", 2, "a");
        BaselineVersion removed = Described.proposed(WatchedFolder.SITE, "c", "b");
        BaselineVersion strange = Described.first("stranger", "d");
        String hostile = Json.text(kept).replace("\"ada\"", "\"ada\\u001b[2J\"").replace("\"kl\"", "\"kl\\u001b\"");
        client.sendAll(List.of(
                noted(removed, Json.text(removed)),
                noted(kept, hostile),
                noted(strange, Json.text(strange)),
                noted(removed, null)));
        Shell listed = Shell.run("baselines", "--config", noted, "--verbose");
        assertEquals(0, listed.exitCode(), listed.err());
        assertTrue(listed.out().contains("ada?[2J") && listed.out().contains("threshold_kl?_"), listed.out());
        assertTrue(!listed.out().contains("\u001b"), listed.out());
        assertTrue(!listed.out().contains("stranger"), listed.out());
        assertTrue(!listed.out().contains("proposed"), listed.out());
        Shell mistyped = Shell.run("baselines", "--config", noted, "--site", "layer.b");
        assertEquals(2, mistyped.exitCode(), mistyped.out());
        assertTrue(mistyped.err().contains("did you mean layer.a?"), mistyped.err());
    }

    private static ProducerRecord<byte[], byte[]> noted(BaselineVersion version, @Nullable String value) {
        return new ProducerRecord<>(
                "listed",
                version.key().getBytes(StandardCharsets.UTF_8),
                value == null ? null : value.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void ratesAreThoseOfTheConfiguredWindowsUnlessOthersAreNamed() throws IOException {
        Object[] site = {"--from-topic", "--config", config, "--site", WatchedFolder.SITE, "--json"};
        double configured = daysPerFalseAlarm(baseline(folder.resolve("configured.safetensors"), site));
        List<Object> named = new ArrayList<>(Arrays.asList(site));
        named.addAll(List.of("--window-size", "60s"));
        double minutes = daysPerFalseAlarm(baseline(folder.resolve("minutes.safetensors"), named.toArray()));
        assertEquals(6.0 * configured, minutes, 1e-9 * minutes, "windows of 10 s");
    }

    private static double daysPerFalseAlarm(Shell shell) throws IOException {
        assertEquals(0, shell.exitCode(), shell.err());
        JsonNode answer = new ObjectMapper().readTree(shell.out());
        double days = answer.path("days_per_false_alarm_1_of_1_rank_4_rows_64").asDouble();
        assertTrue(days > 0.0, answer.toString());
        return days;
    }

    @Test
    void aRangeOfEventTimeIsReadAndNothingElse() throws IOException {
        Path part = folder.resolve("part.safetensors");
        Shell topic = baseline(
                part,
                "--from-topic",
                "--config",
                config,
                "--site",
                WatchedFolder.SITE,
                "--from",
                START.plusSeconds(10),
                "--to",
                START.plusSeconds(50));
        assertEquals(0, topic.exitCode(), topic.err());
        Provenance provenance = assertSame(part, 10, 50).provenance();
        assertNotNull(provenance);
        assertEquals(
                "topic activations, site layer.a, 2026-01-01T00:00:10Z to 2026-01-01T00:00:50Z, 40 requests",
                provenance.source());
    }

    @Test
    void windowsAreNamedByTheirStartAndWhatLiesBetweenThemIsPassedOver() throws IOException {
        Path windows = folder.resolve("windows.safetensors");
        Object[] site = {"--from-topic", "--config", config, "--site", WatchedFolder.SITE, "--from-window", START};
        List<Object> arguments = new ArrayList<>(Arrays.asList(site));
        // The second as a report names it, and once more inside a stretch of event time.
        arguments.addAll(List.of("--from-window", START.plusSeconds(20).toEpochMilli()));
        arguments.addAll(List.of("--from-window", START.plusSeconds(20) + "/" + START.plusSeconds(40)));
        Shell topic = baseline(windows, arguments.toArray());
        assertEquals(0, topic.exitCode(), topic.err());
        assertTrue(topic.out().contains("left out as outside_range: 30 records\n"), topic.out());
        Baseline read = Baseline.read(windows);
        assertEquals(30L * WatchedFolder.ROWS, read.rowCount());
        Provenance provenance = read.provenance();
        assertNotNull(provenance);
        assertEquals(
                "topic activations, site layer.a, 2026-01-01T00:00:00Z to 2026-01-01T00:00:10Z,"
                        + " 2026-01-01T00:00:20Z to 2026-01-01T00:00:30Z,"
                        + " 2026-01-01T00:00:20Z to 2026-01-01T00:00:40Z, 30 requests",
                provenance.source());
        assertRefused(
                "no request of site layer.a from 2026-01-01T01:00:00Z to 2026-01-01T01:00:10Z; left out: ",
                "--from-window",
                START,
                "--from-window",
                START.plusSeconds(3_600));
        assertRefused(
                "no window begins there, but one at 2026-01-01T00:00:00Z and one at 2026-01-01T00:00:10Z",
                "--from-window",
                START.plusSeconds(3));
        assertRefused("expected an instant such as", "--from-window", "yesterday");
        assertRefused("expected --from-window, --aligned, or --from and --to", "--from-window", START, "--from", "7d");
    }

    @Test
    void theLastWindowsThatWereAlignedAreFoundByTheirReports() throws Exception {
        BrokerClient client = new BrokerClient(broker.bootstrapServers());
        client.createTopic("window-reports", 1, Map.of());
        List<ProducerRecord<byte[], byte[]>> reports = new ArrayList<>();
        // The last is above its threshold, and debounce waits for another.
        for (String verdict : List.of("aligned", "aligned", "drifted", "aligned", "aligned above")) {
            ObjectNode report = (ObjectNode)
                    new ObjectMapper().readTree(Json.bytes(WindowReports.of(WindowReports.distinctNumbers())));
            report.put("site", WatchedFolder.SITE)
                    .put(
                            "window_start_ms",
                            START.plusSeconds(10L * reports.size()).toEpochMilli())
                    .put("verdict", verdict.replace(" above", ""))
                    .put("threshold", 1.0)
                    .put("trigger_value", verdict.equals("aligned") ? 0.5 : 1.5);
            reports.add(new ProducerRecord<>("window-reports", report.toString().getBytes(StandardCharsets.UTF_8)));
        }
        client.sendAll(reports);
        Path windows = folder.resolve("aligned.safetensors");
        Shell topic =
                baseline(windows, "--from-topic", "--config", config, "--site", WatchedFolder.SITE, "--aligned", 2);
        assertEquals(0, topic.exitCode(), topic.err());
        assertEquals(
                "topic activations, site layer.a, 2026-01-01T00:00:10Z to 2026-01-01T00:00:20Z,"
                        + " 2026-01-01T00:00:30Z to 2026-01-01T00:00:40Z, 20 requests",
                Objects.requireNonNull(Baseline.read(windows).provenance()).source());
        assertRefused("reports of 5 windows of layer.a, and 3 of them were aligned", "--aligned", 4);
    }

    /** The second records of two requests lie behind the first of both, as two threads of a producer send them. */
    @Test
    void requestsInSeveralRecordsGiveTheSameBaselineAsWholeOnes() throws Exception {
        BrokerClient client = new BrokerClient(broker.bootstrapServers());
        client.createTopic("in-parts", 1, Map.of("retention.ms", "-1"));
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < 58; i += 2) {
            records.add(part(i, 0, 3, i));
            records.add(part(i + 1, 0, 5, i + 1));
            records.add(part(i, 3, WatchedFolder.ROWS, i));
            records.add(part(i + 1, 5, WatchedFolder.ROWS, i + 1));
        }
        records.add(records.get(records.size() - 1));
        client.sendAll(records);
        Path other = folder.resolve("in-parts");
        WatchedFolder.create(
                Files.createDirectories(other),
                broker.bootstrapServers(),
                WatchedFolder.WINDOW,
                "topics: {activations: in-parts}",
                WatchedFolder.SITE);
        Object[] site = {"--from-topic", "--config", other.resolve(WatchedFolder.FILE), "--site", WatchedFolder.SITE};
        Path parts = folder.resolve("parts.safetensors");
        Shell made = baseline(parts, site);
        assertEquals(0, made.exitCode(), made.err());
        Provenance provenance = assertSame(parts, 0, 58).provenance();
        assertNotNull(provenance);
        assertEquals("topic in-parts, site layer.a, its beginning to its end, 58 requests", provenance.source());
        assertTrue(made.out().contains("left out as repeated_record: 1 record\n"), made.out());
        assertTrue(!made.out().contains("counted apart"), made.out());

        client.sendAll(List.of(part(7, 0, WatchedFolder.ROWS, REQUESTS)));
        Shell later = baseline(folder.resolve("apart.safetensors"), site);
        assertTrue(
                later.out().contains("counted apart from an earlier request of the same name: 1 request\n"),
                later.out());
    }

    private static ProducerRecord<byte[], byte[]> part(int request, int first, int end, int second) {
        Matrix all = WatchedFolder.quiet(request);
        double[] values = Arrays.copyOfRange(all.values(), first * WatchedFolder.WIDTH, end * WatchedFolder.WIDTH);
        byte[] value = blob(new Matrix(end - first, WatchedFolder.WIDTH, values));
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>("in-parts", 0, START.toEpochMilli() + 1_000L * second, null, value);
        record.headers().add("site", WatchedFolder.SITE.getBytes(StandardCharsets.UTF_8));
        record.headers().add("request", "request-%d".formatted(request).getBytes(StandardCharsets.UTF_8));
        return record;
    }

    @Test
    void rangesThatAreNotThereAreRefusedInASentence() throws Exception {
        assertRefused(
                "no request of site layer.a in the range; left out: nothing; the topic begins at 20", "--from", "1m");
        assertRefused("a beginning before its end", "--from", START, "--to", START);
        assertRefused("expected an instant such as", "--from", "yesterday");
        try (Admin admin = Admin.create(Map.<String, Object>of("bootstrap.servers", broker.bootstrapServers()))) {
            admin.createTopics(List.of(new NewTopic("deleting", 1, (short) 1).configs(Map.of("retention.ms", "-1"))))
                    .all()
                    .get();
            try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                    Map.of("bootstrap.servers", broker.bootstrapServers()),
                    new ByteArraySerializer(),
                    new ByteArraySerializer())) {
                for (int i = 0; i < 10; i++) {
                    ProducerRecord<byte[], byte[]> record =
                            record(0, i, WatchedFolder.SITE, blob(WatchedFolder.quiet(i)));
                    producer.send(new ProducerRecord<>(
                                    "deleting", 0, record.timestamp(), null, record.value(), record.headers()))
                            .get();
                }
            }
            admin.deleteRecords(Map.of(new TopicPartition("deleting", 0), RecordsToDelete.beforeOffset(4)))
                    .all()
                    .get();
        }
        Path other = folder.resolve("deleting");
        WatchedFolder.create(
                java.nio.file.Files.createDirectories(other),
                broker.bootstrapServers(),
                WatchedFolder.WINDOW,
                "topics: {activations: deleting}",
                WatchedFolder.SITE);
        Path deleting = other.resolve(WatchedFolder.FILE);
        Shell before = baseline(
                folder.resolve("none.safetensors"),
                "--from-topic",
                "--config",
                deleting,
                "--site",
                WatchedFolder.SITE,
                "--from",
                START.plusSeconds(2));
        assertEquals(2, before.exitCode(), before.out());
        assertTrue(
                before.err().contains("deleting-0 has deleted its records before offset 4, its oldest is of"),
                before.err());
        Shell after = baseline(
                folder.resolve("rest.safetensors"),
                "--from-topic",
                "--config",
                deleting,
                "--site",
                WatchedFolder.SITE,
                "--from",
                START.plusSeconds(4));
        assertEquals(0, after.exitCode(), after.err());
    }

    @Test
    void assessSaysHowOftenItsThresholdIsPassedByCleanTraffic() throws IOException {
        Path normal = folder.resolve("normal.safetensors");
        assertEquals(
                0,
                baseline(normal, "--activations", dump(0, 56), "--explainer", folder.resolve("explainer"))
                        .exitCode());
        // 7 clean windows, 2 of 3: the law of AlarmLaw by hand.
        double perWindow = 4.0 / (8 * 9) - 6.0 / (8 * 9 * 10);
        Shell shell = assess(normal, "--false-alarms", "1 per 30d", "--debounce", "2 of 3", "--window-size", "10s");
        assertEquals(0, shell.exitCode(), shell.err());
        JsonNode answer = new JsonMapper().readTree(shell.out());
        assertEquals(1.0 / 8, answer.get("false_alarm_rate").asDouble(), 1e-12);
        assertEquals(
                10.0 / 86_400 / perWindow, answer.get("days_per_false_alarm").asDouble(), 1e-9);
        assertTrue(answer.get("why").asText().contains("asked for 1 false alarm in 30 d"), shell.out());

        JsonNode number =
                new JsonMapper().readTree(assess(normal, "--threshold", 1.0).out());
        assertTrue(number.get("days_per_false_alarm").isNull(), "a number promises nothing");
        assertTrue(assess(normal, "--false-alarms", "often")
                .err()
                .contains("expected `N per DURATION`, such as 1 per 30d"));
        assertTrue(assess(normal, "--debounce", "3 of 2").err().contains("--debounce = 3 of 2: expected `j of n`"));
    }

    private static Shell assess(Path normal, Object... rest) throws IOException {
        List<Object> arguments = new ArrayList<>(List.of("assess", "--explainer", folder.resolve("explainer")));
        arguments.addAll(List.of("--baseline", normal, "--activations", dump(52, 60), "--rank", 4, "--json"));
        arguments.addAll(List.of(rest));
        return Shell.run(arguments.toArray());
    }

    private static void assertRefused(String words, Object... range) {
        List<Object> arguments =
                new ArrayList<>(List.of("--from-topic", "--config", config, "--site", WatchedFolder.SITE));
        arguments.addAll(List.of(range));
        Shell shell = baseline(folder.resolve("none.safetensors"), arguments.toArray());
        assertEquals(2, shell.exitCode(), shell.out());
        assertTrue(shell.err().contains(words), shell.err());
    }

    private static Shell baseline(Path out, Object... source) {
        List<Object> arguments = new ArrayList<>(List.of("baseline"));
        arguments.addAll(Arrays.asList(source));
        arguments.addAll(List.of("--rank", 4, "--window-rows", 64, "--out", out));
        return Shell.run(arguments.toArray());
    }

    private static Path dump(int from, int to) throws IOException {
        Matrix rows = Matrix.zeros((to - from) * WatchedFolder.ROWS, WatchedFolder.WIDTH);
        long[] offsets = new long[to - from + 1];
        for (int i = from; i < to; i++) {
            double[] values = WatchedFolder.quiet(i).values();
            System.arraycopy(values, 0, rows.values(), (i - from) * values.length, values.length);
            offsets[i - from + 1] = (long) (i - from + 1) * WatchedFolder.ROWS;
        }
        Path dump = folder.resolve("dump-%d-%d.safetensors".formatted(from, to));
        SafetensorsWriter.create()
                .add("activations", DType.F32, rows)
                .addLongs("request_offsets", offsets)
                .writeTo(dump);
        return dump;
    }

    /** Requires every bit but the account of where it comes from. */
    private static Baseline assertSame(Path file, int from, int to) throws IOException {
        Path dump = dump(from, to);
        Path fromFile = folder.resolve("from-file-%d-%d.safetensors".formatted(from, to));
        Shell shell = baseline(fromFile, "--activations", dump, "--explainer", folder.resolve("explainer"));
        assertEquals(0, shell.exitCode(), shell.err());
        Baseline expected = Baseline.read(fromFile);
        Baseline read = Baseline.read(file);
        assertEquals((long) (to - from) * WatchedFolder.ROWS, read.rowCount());
        assertArrayEquals(expected.moment().state(), read.moment().state());
        assertEquals(expected.reconstructionMoment(), read.reconstructionMoment());
        assertEquals(expected.reconstructionFvu(), read.reconstructionFvu());
        assertEquals(expected.grouping(), read.grouping());
        assertEquals(1, read.samples().size());
        NullSample clean = expected.samples().get(0);
        NullSample same = read.samples().get(0);
        assertEquals(clean.statistics().keySet(), same.statistics().keySet());
        assertEquals((to - from) * WatchedFolder.ROWS / 64, same.values("faithfulness_gap").length);
        clean.statistics().forEach((name, values) -> assertArrayEquals(values, same.values(name), name));
        assertEquals(expected.rows().size(), read.rows().size());
        for (int i = 0; i < read.rows().size(); i++) {
            assertEquals(expected.rows().get(i).hash(), read.rows().get(i).hash());
            assertArrayEquals(
                    expected.rows().get(i).activation(), read.rows().get(i).activation());
        }
        return read;
    }
}
