package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.LongStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReplayIT {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    private static Path folder;

    private static EmbeddedBroker broker;

    @BeforeAll
    static void start() {
        broker = EmbeddedBroker.start(folder.resolve("broker"));
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    @Test
    void eachRequestBecomesOneRecordWithSiteRequestAndEventTime() throws IOException {
        Path first = dump("first.safetensors", new long[] {0, 2, 5}, 5);
        Path second = dump("second.safetensors", new long[] {0, 1}, 1);
        Shell shell = replay(
                "rows",
                first,
                second,
                "--create-topic",
                2,
                "--start",
                "2026-01-01T00:00:00Z",
                "--event-time-step",
                "500ms");
        assertEquals(0, shell.exitCode(), shell.err());
        assertTrue(shell.out().startsWith("sent 3 records, 6 rows to rows in "), shell.out());

        List<ConsumerRecord<String, byte[]>> records = read("rows", 3);
        long start = Instant.parse("2026-01-01T00:00:00Z").toEpochMilli();
        List<String> requests = List.of("first.safetensors#0", "first.safetensors#1", "second.safetensors#0");
        List<Integer> rows = List.of(2, 3, 1);
        for (int i = 0; i < 3; i++) {
            ConsumerRecord<String, byte[]> record = records.get(i);
            assertEquals(start + 500L * i, record.timestamp());
            assertEquals(requests.get(i), header(record, "request"));
            assertEquals("layer.2", header(record, "site"));
            assertEquals(rows.get(i), ActivationBatch.parse(record.value()).rows());
        }
        assertEquals(
                2.0, ActivationBatch.parse(records.get(1).value()).activations().get(0, 0), "row 2 of the first file");
    }

    @Test
    void requestsOfDumpsOfOneFileNameHaveNamesOfTheirOwn() throws IOException {
        Path monday = dump("monday/rows.safetensors", new long[] {0, 2, 3}, 3);
        Path tuesday = dump("tuesday/rows.safetensors", new long[] {0, 1}, 1);
        Shell shell = replay("days", monday, tuesday, "--create-topic", 1);
        assertEquals(0, shell.exitCode(), shell.err());
        assertEquals(
                List.of("rows.safetensors#0", "rows.safetensors#1", "rows.safetensors.2#0"),
                read("days", 3).stream().map(ConsumerRecord::key).toList());
    }

    @Test
    void aFileOfSeveralLayersIsOneRequestOfTheLayerThatIsNamed() throws IOException {
        Path file = folder.resolve("cmpl-7.safetensors");
        int tokens = 300;
        ByteBuffer states = ByteBuffer.allocate(4 * tokens * 2 * 2).order(ByteOrder.LITTLE_ENDIAN);
        for (int token = 0; token < tokens; token++) {
            states.putFloat(0f).putFloat(0f).putFloat(token).putFloat(6f);
        }
        SafetensorsWriter.create()
                .addRaw("hidden_states", DType.F32, new long[] {tokens, 2, 2}, states.flip())
                .addLongs("token_ids", LongStream.range(0, tokens + 50).toArray())
                .writeTo(file);
        Shell shell = replay("layers", file, "--create-topic", 1, "--layers", "3,6", "--layer", 6);
        assertEquals(0, shell.exitCode(), shell.err());
        assertTrue(shell.out().startsWith("sent 1 record, 300 rows to layers in "), shell.out());
        ActivationBatch sent = ActivationBatch.parse(read("layers", 1).get(0).value());
        assertEquals(299.0, sent.activations().get(299, 0));
        assertEquals(6.0, sent.activations().get(299, 1));
        assertEquals(349, sent.tokenIds()[299]);
        Shell none = replay("layers", file);
        assertEquals(3, none.exitCode());
        assertTrue(none.err().contains("shape [300, 2, 2], expected [rows, width]"), none.err());
        assertEquals(2, replay("layers", file, "--layers", "3,6").exitCode());
        assertEquals(2, replay("layers", file, "--layers", "3,6", "--layer", 5).exitCode());
    }

    @Test
    void missingTopicIsNamedBeforeAnythingIsSent() throws IOException {
        Shell shell = replay("absent", dump("lost.safetensors", new long[] {0, 1}, 1));
        assertEquals(2, shell.exitCode());
        assertTrue(shell.err().contains("topic absent does not exist"), shell.err());
    }

    @Test
    void refusedRecordEndsInFailureWithItsName() throws IOException {
        Shell shell = replay(
                "small",
                dump("large.safetensors", new long[] {0, 64}, 64),
                "--create-topic",
                1,
                "--kafka-property",
                "max.request.size=200");
        assertEquals(3, shell.exitCode());
        assertTrue(shell.err().contains("request large.safetensors#0 was not stored on small"), shell.err());
    }

    @Test
    void unreachableBrokerIsASentence() throws IOException {
        Shell shell = Shell.run(
                "replay",
                "--activations",
                dump("any.safetensors", new long[] {0, 1}, 1),
                "--site",
                "layer.2",
                "--bootstrap-servers",
                "127.0.0.1:1");
        assertEquals(3, shell.exitCode(), "what was typed is right");
        assertTrue(shell.err().contains("no Kafka broker answered at 127.0.0.1:1"), shell.err());
    }

    @Test
    void eventTimesTheTopicWouldLoseAreRefusedBeforeAnythingIsSent() throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
            admin.createTopics(List.of(
                            new NewTopic("forgets", 1, (short) 1).configs(Map.of("retention.ms", "604800000")),
                            new NewTopic("overwrites", 1, (short) 1)
                                    .configs(Map.of("message.timestamp.type", "LogAppendTime"))))
                    .all()
                    .get();
        }
        Path dump = dump("old.safetensors", new long[] {0, 1}, 1);
        Shell old = replay("forgets", dump, "--start", "2020-01-01T00:00:00Z", "--event-time-step", "1s");
        assertEquals(2, old.exitCode());
        assertTrue(old.err().contains("topic forgets has retention.ms = 604800000"), old.err());
        Shell overwritten = replay("overwrites", dump, "--event-time-step", "1s");
        assertEquals(2, overwritten.exitCode());
        assertTrue(overwritten.err().contains("message.timestamp.type = LogAppendTime"), overwritten.err());
        Shell recent = replay("forgets", dump, "--event-time-step", "1s");
        assertEquals(0, recent.exitCode(), recent.err());
    }

    private static Shell replay(String topic, Object... rest) {
        List<Object> arguments = new ArrayList<>(List.of(
                "replay", "--site", "layer.2", "--topic", topic, "--bootstrap-servers", broker.bootstrapServers()));
        arguments.add("--activations");
        arguments.addAll(List.of(rest));
        return Shell.run(arguments.toArray());
    }

    /** Writes a dump whose row i is [i, i]. */
    private static Path dump(String name, long[] offsets, int rows) throws IOException {
        Matrix activations = Matrix.zeros(rows, 2);
        for (int i = 0; i < rows; i++) {
            activations.set(i, 0, i);
            activations.set(i, 1, i);
        }
        Path file = folder.resolve(name);
        Files.createDirectories(Objects.requireNonNull(file.getParent()));
        SafetensorsWriter.create()
                .add("activations", DType.F32, activations)
                .addLongs("request_offsets", offsets)
                .writeTo(file);
        return file;
    }

    private static List<ConsumerRecord<String, byte[]>> read(String topic, int count) {
        Map<String, Object> properties = Map.of(
                "bootstrap.servers", broker.bootstrapServers(), "group.id", "reader", "auto.offset.reset", "earliest");
        List<ConsumerRecord<String, byte[]>> records = new ArrayList<>();
        try (KafkaConsumer<String, byte[]> consumer =
                new KafkaConsumer<>(properties, new StringDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(topic));
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            while (records.size() < count && System.nanoTime() < deadline) {
                consumer.poll(Duration.ofMillis(200)).forEach(records::add);
            }
        }
        records.sort(Comparator.comparingLong(ConsumerRecord::timestamp));
        assertEquals(count, records.size(), "records on " + topic);
        return records;
    }

    private static String header(ConsumerRecord<?, ?> record, String name) {
        return new String(record.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
    }
}
