package io.plumbline.topology;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests records of single layers that are joined, from records to windows. */
class JoiningTopologyTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long T0 = 1_700_000_000_000L;
    private static final List<String> TENSORS = TargetsFolder.tensors();
    private static final List<String> ACTIVATIONS = TENSORS.subList(0, TargetsFolder.LAYERS);
    private static final List<String> TARGETS = TENSORS.subList(TargetsFolder.LAYERS, TENSORS.size());

    @TempDir
    private Path folder;

    private int runs;
    private String yaml = TargetsFolder.yaml("unused:9092", "mode: observe");

    @BeforeEach
    void write() throws IOException {
        TargetsFolder.write(folder);
    }

    @Test
    void partsInAnyOrderGiveTheSameMomentsBitForBitAsWholeRecords() throws IOException {
        int records = 24;
        List<TestRecord<byte[], byte[]>> whole = new ArrayList<>();
        for (int i = 0; i < records; i++) {
            whole.add(record(i, TENSORS, T0 + 100L * i));
        }
        List<String> expected = moments(whole);
        assertTrue(expected.size() > 3 * TargetsFolder.LAYERS, expected.toString());
        for (int seed = 0; seed < 6; seed++) {
            assertEquals(expected, moments(split(records, new Random(seed))), "seed " + seed);
        }
    }

    /** Splits each record into parts of random tensors; parts of neighbours mix, the earliest has the record's time. */
    private static List<TestRecord<byte[], byte[]>> split(int records, Random random) {
        List<TestRecord<byte[], byte[]>> all = new ArrayList<>();
        List<TestRecord<byte[], byte[]>> mixed = new ArrayList<>();
        for (int i = 0; i < records; i++) {
            List<String> tensors = new ArrayList<>(TENSORS);
            Collections.shuffle(tensors, random);
            int from = 0;
            while (from < tensors.size()) {
                int to = from + 1 + random.nextInt(tensors.size() - from);
                long laterMs = from == 0 ? 0 : random.nextInt(50);
                mixed.add(record(i, tensors.subList(from, to), T0 + 100L * i + laterMs));
                from = to;
            }
            if (i % 4 == 3) {
                Collections.shuffle(mixed, random);
                all.addAll(mixed);
                mixed.clear();
            }
        }
        return all;
    }

    /** Returns what leaves level 1 of these records: tiles, sampled rows, totals of requests, the account of rows. */
    private List<String> moments(List<TestRecord<byte[], byte[]>> records) throws IOException {
        try (Streaming stream = stream()) {
            String topic = config().topics().activations();
            records.forEach(record -> stream.send(topic, record));
            stream.send(topic, record(99, TENSORS, T0 + 20_000));
            assertEquals(List.of(), letters(stream));
            return stream.read(config().topics().moments()).stream()
                    .skip(TargetsFolder.LAYERS) // the first word of each block says the time of what came first
                    .map(message -> new String(message.key(), StandardCharsets.UTF_8) + " "
                            + Arrays.hashCode(message.value()) + " " + message.value().length)
                    .toList();
        }
    }

    @Test
    void aWholeRecordThatCallsItselfAPartGoesThroughAsItCame() throws IOException {
        byte[] record = TargetsFolder.record(1, Set.of()); // its tensors are in another order
        TestRecord<byte[], byte[]> plain = new TestRecord<>(
                TargetsFolder.SITE.getBytes(StandardCharsets.UTF_8),
                record,
                new RecordHeaders(),
                Instant.ofEpochMilli(T0));
        TestRecord<byte[], byte[]> part = new TestRecord<>(
                plain.key(),
                record,
                new RecordHeaders().add("position", "0".getBytes(StandardCharsets.UTF_8)),
                Instant.ofEpochMilli(T0));
        assertEquals(moments(List.of(plain)), moments(List.of(part)));
    }

    @Test
    void partsWhoseOthersDoNotComeBeforeThePaneClosesAreDeadLettersWithEveryByte() throws IOException {
        try (Streaming stream = stream()) {
            String topic = config().topics().activations();
            TestRecord<byte[], byte[]> first = record(1, ACTIVATIONS, T0);
            stream.send(topic, first);
            stream.send(topic, record(1, List.of("targets.1"), T0 + 5));
            assertEquals(List.of(), letters(stream));
            stream.send(topic, record(2, TENSORS, T0 + 9_000));
            stream.send(topic, record(3, TENSORS, T0 + 10_000));
            stream.pass(Duration.ofSeconds(2));
            List<TestRecord<byte[], byte[]>> letters = letters(stream);
            assertEquals(2, letters.size());
            assertEquals("unjoined", text(letters.get(0), "plumbline.reason"));
            String message = text(letters.get(0), "plumbline.message");
            assertTrue(
                    message.startsWith(
                            "site clt: request \"request 1\" from position 8 on: targets.0, targets.2 did not come before its pane closed; "),
                    message);
            assertArrayEquals(first.value(), letters.get(0).value());
            assertEquals("request 1", text(letters.get(0), "request"));
            assertEquals("0", text(letters.get(0), "plumbline.offset"));
            assertEquals("1", text(letters.get(1), "plumbline.offset"));
            assertEquals(List.of(8L, 8L, 8L), rows(stream), "rows of the record that came whole");
        }
    }

    @Test
    void partsOfTheNextPaneCloseAPaneAsRecordsDo() throws IOException {
        try (Streaming stream = stream()) {
            String topic = config().topics().activations();
            stream.send(topic, record(1, TENSORS, T0));
            stream.send(topic, record(2, ACTIVATIONS, T0 + 1));
            stream.send(topic, record(3, ACTIVATIONS, T0 + 10_000));
            assertEquals(1, letters(stream).size());
            assertEquals(List.of(8L, 8L, 8L), rows(stream));
            stream.send(topic, record(2, TARGETS, T0 + 2));
            assertEquals("unjoined", text(letters(stream).get(0), "plumbline.reason"), "a late part");
            stream.send(topic, record(3, TARGETS, T0 + 10_001));
            stream.send(topic, record(4, TENSORS, T0 + 20_000));
            assertEquals(List.of(), letters(stream));
            assertEquals(List.of(8L, 8L, 8L), rows(stream), "the joined record's rows in its window");
        }
    }

    @Test
    void partsOfASiteThatFellSilentDoNotWaitForEver() throws IOException {
        yaml = yaml.replace("idle_close: off", "idle_close: 5s");
        try (Streaming stream = stream()) {
            stream.send(config().topics().activations(), record(1, ACTIVATIONS, T0));
            stream.pass(Duration.ofSeconds(3));
            assertEquals(List.of(), letters(stream));
            for (int second = 0; second < 6; second++) {
                stream.pass(Duration.ofSeconds(1));
            }
            assertEquals("unjoined", text(letters(stream).get(0), "plumbline.reason"));
        }
    }

    @Test
    void beyondTheLimitTheEarliestPartsGo() throws IOException {
        int ofOne = 1_500; // a part of three matrices of 8 times 8 floats, its header and what an object takes
        yaml = yaml + "limits: {unjoined_bytes: %d}\n".formatted(4 * ofOne);
        try (Streaming stream = stream()) {
            String topic = config().topics().activations();
            for (int i = 0; i < 8; i++) {
                stream.send(topic, record(i, ACTIVATIONS, T0 + i));
            }
            List<TestRecord<byte[], byte[]>> letters = letters(stream);
            assertTrue(letters.size() > 2 && letters.size() < 8, () -> letters.size() + " letters");
            for (int i = 0; i < letters.size(); i++) {
                assertEquals("request " + i, text(letters.get(i), "request"));
                String message = text(letters.get(i), "plumbline.message");
                assertTrue(message.contains("passed limits.unjoined_bytes = 6000, and the earliest go first"), message);
            }
            for (int i = letters.size(); i < 8; i++) {
                stream.send(topic, record(i, TARGETS, T0 + i));
            }
            stream.send(topic, record(9, TENSORS, T0 + 20_000));
            assertEquals(List.of(), letters(stream));
            long joined = 8L * (8 - letters.size());
            assertEquals(List.of(joined, joined, joined), rows(stream));
        }
    }

    @Test
    void aPartThatComesAgainIsIgnoredAndOneWithOtherBytesIsRefused() throws IOException {
        try (Streaming stream = stream()) {
            String topic = config().topics().activations();
            stream.send(topic, record(1, ACTIVATIONS, T0));
            stream.send(topic, record(1, List.of("activations.1"), T0 + 1));
            assertEquals(List.of(), letters(stream));
            stream.send(topic, record(2, 1, List.of("activations.1"), T0 + 1, 8));
            TestRecord<byte[], byte[]> letter = letters(stream).get(0);
            assertEquals("malformed", text(letter, "plumbline.reason"));
            assertTrue(
                    text(letter, "plumbline.message").contains("tensor \"activations.1\" came before with other bytes"),
                    text(letter, "plumbline.message"));
            stream.send(topic, record(1, TARGETS, T0 + 2));
            stream.send(topic, record(9, TENSORS, T0 + 20_000));
            assertEquals(List.of(), letters(stream));
            assertEquals(List.of(8L, 8L, 8L), rows(stream));
        }
    }

    @Test
    void whatIsNoPartOfARecordIsRefusedWithASentence() throws IOException {
        try (Streaming stream = stream()) {
            String topic = config().topics().activations();
            stream.send(topic, record(1, ACTIVATIONS, T0));
            stream.send(topic, record(1, 1, TARGETS, T0, 7));
            assertRefused(
                    stream, "tensor \"targets.0\": shape [7, 8], expected as many rows as \"activations.0\" has, 8");
            stream.send(topic, with(record(1, TARGETS, T0), "another key", "request 1", "8"));
            assertRefused(stream, "a part has another key than the part before");
            stream.send(topic, with(record(1, TARGETS, T0), null, "request 1", "8"));
            assertRefused(stream, "expected a key, the same for all parts");
            stream.send(topic, with(record(1, TARGETS, T0), "a key", null, "8"));
            assertRefused(stream, "expected the header \"request\" too");
            stream.send(topic, with(record(1, TARGETS, T0), "a key", "request 1", "-8"));
            assertRefused(stream, "the header position is \"-8\", expected the number of the first row");
            byte[] other = SafetensorsWriter.create()
                    .add("activations.7", DType.F32, Matrix.zeros(8, 8))
                    .toBytes();
            TestRecord<byte[], byte[]> like = record(1, TARGETS, T0);
            stream.send(topic, new TestRecord<>(like.key(), other, like.headers(), like.getRecordTime()));
            assertRefused(stream, "a part has at least one of the tensors [activations.0, ");
            stream.send(topic, record(1, TARGETS, T0));
            stream.send(topic, record(9, TENSORS, T0 + 20_000));
            assertEquals(List.of(8L, 8L, 8L), rows(stream), "what was refused stopped nothing");
        }
    }

    private void assertRefused(Streaming stream, String sentence) {
        List<TestRecord<byte[], byte[]>> letters = letters(stream);
        assertEquals(1, letters.size());
        assertEquals("malformed", text(letters.get(0), "plumbline.reason"));
        String message = text(letters.get(0), "plumbline.message");
        assertTrue(message.contains(sentence), message);
    }

    /** Returns some tensors of the record of a number, as a part. */
    private static TestRecord<byte[], byte[]> record(int number, List<String> tensors, long timestampMs) {
        return record(number, number, tensors, timestampMs, 8);
    }

    /** @param seed of the rows, integers so that their sums are exact in any order */
    private static TestRecord<byte[], byte[]> record(
            int seed, int number, List<String> tensors, long timestampMs, int rows) {
        SafetensorsWriter writer = SafetensorsWriter.create();
        for (String name : TENSORS) {
            if (tensors.contains(name)) {
                writer.add(name, DType.F32, ActivationRecords.integerRows(31L * seed + name.hashCode(), rows, 8));
            }
        }
        TestRecord<byte[], byte[]> record =
                new TestRecord<>(new byte[0], writer.toBytes(), new RecordHeaders(), Instant.ofEpochMilli(timestampMs));
        return with(record, "key " + number, "request " + number, "8");
    }

    private static TestRecord<byte[], byte[]> with(
            TestRecord<byte[], byte[]> record, @Nullable String key, @Nullable String request, String position) {
        RecordHeaders headers = new RecordHeaders();
        headers.add("site", TargetsFolder.SITE.getBytes(StandardCharsets.UTF_8));
        headers.add("position", position.getBytes(StandardCharsets.UTF_8));
        if (request != null) {
            headers.add("request", request.getBytes(StandardCharsets.UTF_8));
        }
        return new TestRecord<>(
                key == null ? null : key.getBytes(StandardCharsets.UTF_8),
                record.value(),
                headers,
                record.getRecordTime());
    }

    private List<TestRecord<byte[], byte[]>> letters(Streaming stream) {
        return stream.read(config().topics().deadLetters());
    }

    private static String text(TestRecord<byte[], byte[]> letter, String header) {
        return new String(letter.headers().lastHeader(header).value(), StandardCharsets.UTF_8);
    }

    /** Returns the rows of the windows that were reported since the last call, of each block in turn. */
    private List<Long> rows(Streaming stream) throws IOException {
        List<Long> rows = new ArrayList<>();
        TreeSet<String> sites = new TreeSet<>();
        for (TestRecord<byte[], byte[]> report : stream.read(config().topics().windowReports())) {
            String site = new String(report.key(), StandardCharsets.UTF_8);
            if (!site.equals(TargetsFolder.SITE)) {
                assertTrue(sites.add(site), site);
                rows.add(JSON.readTree(report.value()).get("rows").asLong());
            }
        }
        return rows;
    }

    private Streaming stream() throws IOException {
        MonitorConfig config = config();
        return Streaming.monitor(config, folder.resolve("state-" + runs++), new DriftListener() {});
    }

    private MonitorConfig config() {
        return MonitorConfig.parse(yaml, "targets.yaml", folder);
    }
}
