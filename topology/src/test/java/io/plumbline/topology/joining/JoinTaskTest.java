package io.plumbline.topology.joining;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.topology.ingest.IngestListener;
import io.plumbline.topology.ingest.Limits;
import io.plumbline.topology.ingest.RefusedRecords;
import io.plumbline.topology.kafka.TaskProcessor;
import io.plumbline.topology.windows.CommitHook;
import io.plumbline.topology.windows.WindowListener;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.MockProcessorContext.CapturedForward;
import org.apache.kafka.streams.processor.api.MockProcessorContext.CapturedPunctuator;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the lives of a task, which Kafka Streams may close and begin again in the same object. */
class JoinTaskTest {

    private static final byte[] SITE = "clt".getBytes(StandardCharsets.UTF_8);
    private static final JoinStage.Nodes NODES = new JoinStage.Nodes("whole", "times");
    private static final long T0 = 1_700_000_000_000L;
    private static final Matrix ROWS = new Matrix(2, 2, new double[] {1, 2, 3, 4});

    private final MockProcessorContext<Object, Object> context = new MockProcessorContext<>();
    private final CommitHook hook = new CommitHook("hook");
    private final KeyValueStore<Bytes, byte[]> parts = Stores.keyValueStoreBuilder(
                    Stores.inMemoryKeyValueStore(JoinStage.PARTS_STORE), Serdes.Bytes(), Serdes.ByteArray())
            .withLoggingDisabled()
            .withCachingDisabled()
            .build();
    private final KeyValueStore<Bytes, byte[]> signals =
            hook.storeBuilder().withCachingDisabled().build();
    private boolean closed;
    private long offset;

    @BeforeEach
    void open() {
        context.setCurrentSystemTimeMs(T0);
        for (KeyValueStore<Bytes, byte[]> store : List.of(parts, signals)) {
            store.init(context.getStateStoreContext(), store);
            context.addStateStore(store);
        }
    }

    @AfterEach
    void close() {
        parts.close();
        signals.close();
    }

    private Processor<byte[], byte[], Object, Object> begin(String... tensors) {
        JoinedSite site = new JoinedSite("clt", List.of("clt/targets.0"), Set.of(tensors));
        Processor<byte[], byte[], Object, Object> processor = TaskProcessor.<byte[], byte[], Object, Object>supplier(
                        Set.of(),
                        life -> new JoinTask(
                                life,
                                Map.of(Bytes.wrap(SITE), site),
                                Limits.DEFAULT,
                                NODES,
                                new RefusedRecords("letters", 1_000_000, new IngestListener() {}),
                                new WindowListener() {},
                                (name, timestampMs) -> closed,
                                hook))
                .get();
        processor.init(context);
        return processor;
    }

    private void send(Processor<byte[], byte[], Object, Object> task, byte[] request, String... tensors) {
        SafetensorsWriter writer = SafetensorsWriter.create();
        for (String tensor : tensors) {
            writer.add(tensor, DType.F32, ROWS);
        }
        context.setRecordMetadata("activations", 0, offset++);
        RecordHeaders headers = new RecordHeaders();
        headers.add("site", SITE).add("request", request).add("position", new byte[] {'0'});
        task.process(new Record<>(SITE, writer.toBytes(), T0, headers));
    }

    private void send(Processor<byte[], byte[], Object, Object> task, String request, String... tensors) {
        send(task, request.getBytes(StandardCharsets.UTF_8), tensors);
    }

    /** Returns the values that went to a node so far. */
    private List<byte[]> forwarded(String node) {
        return context.forwarded(node).stream()
                .map(CapturedForward::record)
                .map(record -> (byte[]) record.value())
                .toList();
    }

    private void passASecond() {
        for (CapturedPunctuator check : List.copyOf(context.scheduledPunctuators())) {
            if (!check.cancelled()) {
                check.getPunctuator().punctuate(T0);
            }
        }
    }

    private boolean isStoreEmpty() {
        return parts.approximateNumEntries() == 0;
    }

    @Test
    void aTaskThatEndedGivesUpNoPartThatItsSuccessorJoined() {
        Processor<byte[], byte[], Object, Object> first = begin("activations.0", "targets.0");
        send(first, "a", "activations.0");
        first.close();
        Processor<byte[], byte[], Object, Object> second = begin("activations.0", "targets.0");
        send(second, "a", "targets.0");
        assertEquals(1, forwarded("whole").size());
        closed = true;
        passASecond();
        assertEquals(List.of(), forwarded("letters"));
    }

    @Test
    void aStoredRecordThatIsWholeForFewerTargetsIsHandedOnAheadOfTheNextOne() {
        Processor<byte[], byte[], Object, Object> before = begin("activations.0", "targets.0", "targets.1");
        send(before, "a", "activations.0");
        send(before, "a", "targets.0");
        before.close();
        Processor<byte[], byte[], Object, Object> now = begin("activations.0", "targets.0");
        closed = true;
        passASecond();
        assertEquals(List.of(), forwarded("letters"), "nothing of it is missing");
        closed = false;
        send(now, "b", "activations.0", "targets.0");
        assertEquals(2, forwarded("whole").size());
        assertArrayEquals(forwarded("whole").get(1), forwarded("whole").get(0), "the same tensors");
        assertTrue(isStoreEmpty());
    }

    @Test
    void aStoredPartThatBringsNothingUnderFewerTargetsLeavesTheStore() {
        Processor<byte[], byte[], Object, Object> before =
                begin("activations.0", "activations.1", "targets.0", "targets.1");
        send(before, "a", "activations.0");
        send(before, "a", "activations.0", "targets.1");
        before.close();
        Processor<byte[], byte[], Object, Object> now = begin("activations.0", "targets.0");
        send(now, "a", "targets.0");
        assertEquals(1, forwarded("whole").size());
        assertFalse(isStoreEmpty());
        passASecond();
        assertTrue(isStoreEmpty());
        assertEquals(List.of(), forwarded("letters"));
    }

    @Test
    void requestsWhoseNamesAreNoTextAreNotTakenForOne() {
        Processor<byte[], byte[], Object, Object> task = begin("activations.0", "targets.0");
        send(task, new byte[] {(byte) 0x80}, "activations.0");
        send(task, new byte[] {(byte) 0x81}, "targets.0");
        assertEquals(List.of(), forwarded("whole"));
    }
}
