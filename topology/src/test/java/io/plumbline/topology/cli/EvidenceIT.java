package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.assessment.AdaptationMessage.Command;
import io.plumbline.topology.assessment.AdaptationMessage.Verb;
import io.plumbline.topology.emission.DecoderRecords;
import io.plumbline.topology.emission.DecoderSigner;
import io.plumbline.topology.emission.SigningKeys;
import io.plumbline.topology.evidence.EvidenceWriter;
import io.plumbline.wire.Sha256;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a file of evidence holds what is on the topics, and that no line of it can be altered unseen. */
class EvidenceIT {

    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private static Path folder;

    private static EmbeddedBroker broker;
    private static SigningKeys keys;
    private static SigningKeys other;
    private static Path config;
    private static Path evidence;

    @BeforeAll
    static void reportTwoWindowsAndOneDecision() throws Exception {
        broker = EmbeddedBroker.start(folder.resolve("broker"));
        String brokers = broker.bootstrapServers();
        WatchedFolder.createAdapting(folder, brokers, "mode: propose");
        keys = SigningKeys.create(folder, "signing");
        other = SigningKeys.create(folder, "other");
        SigningKeys ada = SigningKeys.create(folder, "ada");
        config = folder.resolve(WatchedFolder.FILE);
        Files.writeString(
                config, Files.readString(config).replace("kafka: {", "kafka: {ssl.key.password: hush-hush, "));
        Files.writeString(
                config,
                "signing: {key: signing.pem, trusted: signing.pub, approvers: {ada: ada.pub}}\n",
                StandardOpenOption.APPEND);
        BrokerClient client = new BrokerClient(brokers);
        for (String topic : List.of("window-reports", "adaptation-requests", "adaptation-reports", "decoders")) {
            client.createTopic(topic, 1, Map.of());
        }
        Command command = new Command(100_000, "id-1", Verb.APPROVE, 1, "somebody");
        Command signed =
                command.signed(DecoderSigner.read(ada.key()).signCommand(WatchedFolder.SITE, command.unsigned()));
        Decoder trained = Formats.read(folder.resolve("explainer")).decoder();
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        records.add(json("window-reports", report(60_000, "aligned")));
        records.add(json("window-reports", report(120_000, "drifted")));
        records.add(json("adaptation-reports", """
                {"site":"layer.a","window_end_ms":120000,"outcome":"published","reason":"approved by ada","version":1}
                """));
        ProducerRecord<byte[], byte[]> refused = json("adaptation-reports", """
                {"site":"layer.a","window_end_ms":0,"outcome":"rejected","reason":"not signed","version":0}
                """);
        refused.headers().add("plumbline.command", "id-0".getBytes(StandardCharsets.UTF_8));
        records.add(refused);
        records.add(command(signed));
        records.addAll(keys.sign(DecoderRecords.of("decoders", WatchedFolder.SITE, 1, trained.sha256(), trained)));
        client.sendAll(records);
        evidence = folder.resolve("evidence.jsonl");
        Shell written = write(evidence);
        assertEquals(0, written.exitCode(), written.err());
        assertTrue(
                written.out()
                        .contains("adaptation 2, command 1, configuration 1, decoder 1, files 1, window 2; signed"),
                written.out());
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    @Test
    void theLinesSayWhatIsOnTheTopicsAndNoSecret() throws Exception {
        List<JsonNode> lines = new ArrayList<>();
        for (String line : Files.readAllLines(evidence)) {
            lines.add(JSON.readTree(line));
        }
        assertFalse(Files.readString(evidence).contains("hush-hush"));
        assertTrue(
                lines.get(0).path("effective").asText().contains("approvers"),
                lines.get(0).toString());
        assertEquals(64, lines.get(1).path("sha256").iterator().next().asText().length());
        JsonNode drifted = lines.get(3);
        assertEquals("drifted", drifted.at("/report/verdict").asText());
        assertEquals(120_000, drifted.at("/report/window_end_ms").asLong());
        assertEquals(0.5, drifted.at("/report/statistics/0/value").asDouble());
        assertEquals(
                "window-reports-0@1",
                "%s-%s@%s"
                        .formatted(
                                drifted.path("topic").asText(),
                                drifted.path("partition").asText(),
                                drifted.path("offset").asText()));
        JsonNode command = lines.get(4);
        assertEquals("APPROVE", command.path("verb").asText());
        assertEquals("somebody", command.path("by").asText(), "as typed");
        assertEquals("ada", command.path("approver").asText(), "whose key it is");
        assertEquals("approved by ada", lines.get(5).at("/report/reason").asText());
        assertEquals("id-0", lines.get(6).path("command").asText());
        assertEquals("trusted", lines.get(7).path("signature").asText());
        assertEquals(1, lines.get(7).at("/manifest/version").asInt());
        assertEquals("summary", lines.get(8).path("kind").asText());
    }

    @Test
    void aPeriodHoldsWhatPeopleDecidedInItAndIsNamedInTheLastLine() throws Exception {
        Path hour = folder.resolve("hour.jsonl");
        Shell written = Shell.run("report", "--config", config, "--evidence", "--from", "1h", "--out", hour);
        assertTrue(written.out().contains(": adaptation 1, configuration 1, decoder 1, files 1;"), written.out());
        JsonNode last = last(hour);
        assertTrue(last.path("from").asText().startsWith("20"), last.toString());
        assertTrue(last.path("to").isNull(), last.toString());
        assertEquals("[0,2]", last.at("/read/adaptation-reports-0").toString());
        assertEquals("[0,2]", last.at("/read/window-reports-0").toString());
        assertTrue(last(evidence).path("from").isNull());
    }

    @Test
    void nobodyIsCalledAnApproverWhereNoKeyWasChecked() throws Exception {
        Path file = folder.resolve("unchecked.yaml");
        Files.writeString(file, Files.readString(config).replace(", approvers: {ada: ada.pub}", ""));
        Path out = folder.resolve("unchecked.jsonl");
        Shell written = Shell.run("report", "--config", file, "--evidence", "--out", out);
        assertEquals(0, written.exitCode(), written.err());
        JsonNode command = JSON.readTree(Files.readAllLines(out).get(4));
        assertEquals("somebody", command.path("by").asText());
        assertEquals("", command.path("approver").asText());
    }

    @Test
    void aFolderBehindALinkIsHashedAndAnEmptyOneIsRefused() throws Exception {
        Path link = Files.createSymbolicLink(folder.resolve("linked"), folder.resolve("explainer"));
        Path file = folder.resolve("linked.yaml");
        String text = Files.readString(config);
        assertTrue(text.contains("explainer: explainer"), text);
        Files.writeString(file, text.replace("explainer: explainer", "explainer: linked"));
        Path out = folder.resolve("linked.jsonl");
        Shell written = Shell.run("report", "--config", file, "--evidence", "--out", out);
        assertEquals(0, written.exitCode(), written.err());
        JsonNode hashes = JSON.readTree(Files.readAllLines(out).get(1)).path("sha256");
        JsonNode direct = JSON.readTree(Files.readAllLines(evidence).get(1)).path("sha256");
        assertEquals(direct.size(), hashes.size(), hashes.toString());
        assertTrue(hashes.toString().contains(link.toString()), hashes.toString());
        Files.createDirectory(folder.resolve("empty"));
        Files.writeString(file, text.replace("explainer: explainer", "explainer: empty"));
        Shell empty = Shell.run("report", "--config", file, "--evidence", "--out", folder.resolve("empty.jsonl"));
        assertNotEquals(0, empty.exitCode());
        assertTrue(empty.err().contains("holds no file that a hash could name"), empty.err());
    }

    @Test
    void theFilesOfACandidateAndTheApprovalsOfBaselinesAreHashedToo() throws Exception {
        Path site = Files.createDirectory(folder.resolve("with-candidate"));
        WatchedFolder.createWithCandidate(site, broker.bootstrapServers(), "mode: propose");
        SigningKeys ada = SigningKeys.create(site, "ada");
        for (String approved : List.of("baseline.safetensors", "candidate.safetensors")) {
            Shell shell = Shell.run("approve-baseline", "--key", ada.key(), site.resolve(approved));
            assertEquals(0, shell.exitCode(), shell.err());
        }
        Path out = site.resolve("evidence.jsonl");
        Shell written = Shell.run("report", "--config", site.resolve(WatchedFolder.FILE), "--evidence", "--out", out);
        assertEquals(0, written.exitCode(), written.err());
        JsonNode hashes = JSON.readTree(Files.readAllLines(out).get(1)).path("sha256");
        for (String file : List.of(
                "baseline.safetensors",
                "baseline.safetensors.approval",
                "candidate.safetensors",
                "candidate.safetensors.approval",
                "candidate/sae_weights.safetensors",
                "explainer/sae_weights.safetensors")) {
            assertEquals(
                    Sha256.of(site.resolve(file)),
                    hashes.path(site.resolve(file).toString()).asText(),
                    hashes.toString());
        }
    }

    @Test
    void aVersionHasTheNumberOfItsRecordAndWhatIsNoneIsMarked() throws Exception {
        BrokerClient client = new BrokerClient(broker.bootstrapServers());
        client.createTopic("versions", 1, Map.of("message.timestamp.type", "LogAppendTime"));
        client.send(List.of(json("versions", "{\"a\": 1}"), json("versions", """
                        {"schema":1,"version":0,"sha256":"%s","from_ms":60000,"published_ms":1,"published_by":"host",
                        "topic_ms":0,"changes":["a: 1 -> 2"]}
                        """.formatted("ab".repeat(32)))));
        List<JsonNode> versions = lines("versions", "topics: {configuration: versions}\n").stream()
                .filter(line -> line.path("kind").asText().equals("version"))
                .toList();
        assertEquals(2, versions.size(), versions.toString());
        JsonNode foreign = versions.get(0);
        assertTrue(foreign.path("unreadable").asBoolean(), foreign.toString());
        assertEquals(64, foreign.path("sha256").asText().length());
        assertFalse(foreign.has("version"), foreign.toString());
        JsonNode version = versions.get(1).path("version");
        assertEquals(2, version.path("version").asLong(), "one more than the offset");
        assertTrue(version.path("topic_ms").asLong() > 0, version.toString());
        assertEquals("a: 1 -> 2", version.at("/changes/0").asText());
    }

    @Test
    void aRecordThatIsNestedTooDeepToBeWrittenIsNamedByItsPlaceAndHash() throws Exception {
        BrokerClient client = new BrokerClient(broker.bootstrapServers());
        String deep = "[".repeat(999) + "]".repeat(999);
        for (String topic : List.of("deep-decoders", "deep-reports")) {
            client.createTopic(topic, 1, Map.of());
        }
        client.send(List.of(
                json("deep-decoders", "{\"parent_sha256\":\"x\",\"a\":%s}".formatted(deep)),
                json("deep-reports", "{\"window_end_ms\":60000,\"statistics\":%s}".formatted(deep))));
        List<JsonNode> lines = lines("deep", "topics: {decoders: deep-decoders, window_reports: deep-reports}\n");
        for (String kind : List.of("window", "decoder")) {
            JsonNode line = lines.stream()
                    .filter(one -> one.path("kind").asText().equals(kind))
                    .findFirst()
                    .orElseThrow();
            assertTrue(line.path("unreadable").asBoolean(), line.toString());
            assertEquals(64, line.path("sha256").asText().length());
            assertEquals(0, line.path("offset").asLong());
        }
        assertEquals(
                0, Shell.run("verify-evidence", folder.resolve("deep.jsonl")).exitCode());
    }

    /** Writes evidence of a configuration with more lines. */
    private static List<JsonNode> lines(String name, String more) throws Exception {
        Path file = Files.writeString(folder.resolve(name + ".yaml"), Files.readString(config) + more);
        Path out = folder.resolve(name + ".jsonl");
        Shell written = Shell.run("report", "--config", file, "--evidence", "--out", out);
        assertEquals(0, written.exitCode(), written.err());
        List<JsonNode> lines = new ArrayList<>();
        for (String line : Files.readAllLines(out)) {
            lines.add(JSON.readTree(line));
        }
        return lines;
    }

    private static JsonNode last(Path file) throws Exception {
        List<String> lines = Files.readAllLines(file);
        return JSON.readTree(lines.get(lines.size() - 1));
    }

    @Test
    void aWholeFileIsTakenByItsKeyAndByNoOther() throws Exception {
        Shell whole = verify(evidence, keys.publicKey());
        assertEquals(0, whole.exitCode(), whole.out());
        assertTrue(whole.out().matches("9 lines as they were written, signed by [0-9a-f]{16}\\R"), whole.out());
        assertTrue(Shell.run("verify-evidence", evidence).out().contains("not checked"));
        refused(verify(evidence, other.publicKey()), "line 9, the summary: it is signed by the key");

        Path unsigned = folder.resolve("unsigned.jsonl");
        Path file = folder.resolve("unsigned.yaml");
        Files.writeString(file, Files.readString(config).replace("key: signing.pem, ", ""));
        Shell written = Shell.run("report", "--config", file, "--evidence", "--out", unsigned);
        assertTrue(written.out().contains("not signed, for there is no key"), written.out() + written.err());
        assertEquals(
                "9 lines as they were written, not signed",
                Shell.run("verify-evidence", unsigned).out().strip());
        refused(verify(unsigned, keys.publicKey()), "line 9, the summary: it is not signed");
    }

    @Test
    void whatWasDoneToALineIsRefusedWithItsNumber() throws Exception {
        refused(altered(lines -> lines.set(3, lines.get(3).replace("drifted", "aligned"))), "line 4 is not the one");
        refused(altered(lines -> lines.remove(3)), "line 4 says that it is line 5");
        refused(altered(lines -> lines.add(3, lines.get(2))), "line 4 says that it is line 3");
        refused(altered(lines -> Collections.swap(lines, 2, 3)), "line 3 says that it is line 4");
        refused(altered(lines -> lines.remove(0)), "line 1 says that it is line 2");
        refused(altered(lines -> lines.remove(8)), "line 8 is no summary");
        refused(altered(lines -> lines.add(lines.get(8))), "line 10 stands behind the summary");
        refused(altered(lines -> lines.set(8, lines.get(8).replace("\"window\":2", "\"window\":3"))), "line 9, the su");
        refused(altered(lines -> lines.set(8, lines.get(8).replace("\"}", "\",\"a\":1}"))), "line 9, the summary");
        refused(altered(List::clear), "line 0 is no summary");
    }

    @Test
    void aChainThatAStrangerWroteAnewIsNotSigned() throws Exception {
        Path forged = folder.resolve("forged.jsonl");
        List<String> lines = Files.readAllLines(evidence);
        try (OutputStream out = Files.newOutputStream(forged)) {
            EvidenceWriter writer = new EvidenceWriter(out);
            for (String line : lines.subList(0, 8)) {
                Map<String, Object> content = new LinkedHashMap<>();
                JSON.readTree(line.replace("drifted", "aligned")).properties().forEach(field -> {
                    if (!List.of("line", "previous", "kind").contains(field.getKey())) {
                        content.put(field.getKey(), field.getValue());
                    }
                });
                writer.add(JSON.readTree(line).path("kind").asText(), content);
            }
            writer.finish(Map.of(), null);
        }
        assertEquals(0, Shell.run("verify-evidence", forged).exitCode(), "whole in itself");
        List<String> chained = Files.readAllLines(forged);
        String signature = JSON.readTree(lines.get(8)).path("signature").asText();
        chained.set(8, chained.get(8).replace("\"signature\":\"\"", "\"signature\":\"%s\"".formatted(signature)));
        Files.write(forged, chained);
        refused(verify(forged, keys.publicKey()), "line 9, the summary: it is not what the key");
    }

    private static Shell write(Path out) {
        return Shell.run("report", "--config", config, "--evidence", "--out", out);
    }

    private static Shell verify(Path file, Path key) {
        return Shell.run("verify-evidence", file, "--key", key);
    }

    private static Shell altered(Consumer<List<String>> by) throws Exception {
        List<String> lines = new ArrayList<>(Files.readAllLines(evidence));
        by.accept(lines);
        return verify(Files.write(folder.resolve("altered.jsonl"), lines), keys.publicKey());
    }

    private static void refused(Shell shell, String because) {
        assertEquals(1, shell.exitCode(), shell.out() + shell.err());
        assertTrue(shell.out().startsWith(because), shell.out());
    }

    private static String report(long endMs, String verdict) {
        return """
                {"site":"layer.a","window_start_ms":%d,"window_end_ms":%d,"verdict":"%s","reason":"above",
                "statistics":[{"statistic":"faithfulness_gap","value":0.5}],"worst_requests":[{"request":"chat"}]}
                """.formatted(endMs - 60_000, endMs, verdict);
    }

    private static ProducerRecord<byte[], byte[]> json(String topic, String text) {
        return new ProducerRecord<>(topic, null, text.getBytes(StandardCharsets.UTF_8));
    }

    private static ProducerRecord<byte[], byte[]> command(AdaptationMessage command) {
        return new ProducerRecord<>(
                "adaptation-requests", WatchedFolder.SITE.getBytes(StandardCharsets.UTF_8), command.encode());
    }
}
