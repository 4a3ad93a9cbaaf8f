package io.plumbline.topology.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.kafka.NextOffsets.Input;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class NextOffsetsTest {

    private static final Uuid FIRST = new Uuid(1, 1);
    private static final Uuid SECOND = new Uuid(2, 2);

    private final List<Long> taken = new ArrayList<>();
    private final List<String> heard = new ArrayList<>();
    private Uuid topic = FIRST;
    private long lost;
    private String between = "";
    private String guarantee = StreamsConfig.EXACTLY_ONCE_V2;
    private @Nullable KeyValueStore<Bytes, byte[]> store;

    @Test
    void recordsBelowTheStoredOffsetAreSkippedAndThoseFromThereOnTaken() {
        life(0, 1, 2);
        life(0, 1, 2, 3, 4);
        assertEquals(List.of(0L, 1L, 2L, 3L, 4L), taken);
        assertEquals(List.of("skipped", "skipped", "skipped"), heard);
    }

    @Test
    void aJumpIsLostWhereARecordLiesInItAndNothingWhereNoneDoes() {
        life(0, 1);
        life(3);
        assertEquals(List.of(), heard);
        lost = 5;
        life(9);
        assertEquals(List.of("activations-0 lost 5 between 4 and 9"), heard);
        assertEquals(List.of(0L, 1L, 3L, 9L), taken);
    }

    @Test
    void gapsInOneLifeAreNoJumps() {
        lost = 5;
        life(0, 7, 20);
        assertEquals(List.of(), heard);
    }

    @Test
    void aTopicThatWasMadeAgainIsReadFromItsFirstRecord() {
        life(0, 1, 2);
        topic = SECOND;
        life(0, 1);
        life(0, 1, 2);
        assertEquals(List.of(0L, 1L, 2L, 0L, 1L, 2L), taken);
        assertEquals(List.of("skipped", "skipped"), heard);
    }

    @Test
    void aTopicMadeAgainWhoseReadingBeganLaterLosesNothingOfTheOldOne() {
        life(0, 1, 2);
        topic = SECOND;
        lost = 5;
        life(8, 9);
        assertEquals(List.of(0L, 1L, 2L, 8L, 9L), taken);
        assertEquals(List.of(), heard);
    }

    @Test
    void nothingIsSkippedWithoutExactlyOnceSinceTheOffsetMayBeStoredWithoutTheRows() {
        guarantee = StreamsConfig.AT_LEAST_ONCE;
        life(0, 1, 2);
        life(1, 2, 3);
        assertEquals(List.of(0L, 1L, 2L, 1L, 2L, 3L), taken);
        assertEquals(List.of(), heard);
    }

    @Test
    void anOffsetOfAnotherLayoutIsRefused() {
        life(0);
        Objects.requireNonNull(store).put(Bytes.wrap("topic".getBytes(StandardCharsets.UTF_8)), new byte[] {2});
        assertTrue(assertThrows(IllegalStateException.class, () -> life(1))
                .getMessage()
                .endsWith("reset the application's state"));
    }

    /** Hands the records at these offsets to a task that begins with the state of the one before. */
    private void life(long... offsets) {
        Properties settings = new Properties();
        settings.putAll(Map.of(
                StreamsConfig.APPLICATION_ID_CONFIG, "app",
                StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "unused:9092",
                StreamsConfig.PROCESSING_GUARANTEE_CONFIG, guarantee));
        MockProcessorContext<Object, Object> context = new MockProcessorContext<>(settings);
        ProcessorSupplier<byte[], byte[], Object, Object> guarded = new NextOffsets(new Broker(), new Listener())
                .guarding(
                        Input.ACTIVATIONS,
                        () -> record ->
                                taken.add(context.recordMetadata().orElseThrow().offset()),
                        Map.of());
        context.addStateStore(storeOf(guarded, context));
        Processor<byte[], byte[], Object, Object> processor = guarded.get();
        processor.init(context);
        for (long offset : offsets) {
            context.setRecordMetadata("topic", 0, offset);
            processor.process(new Record<>(new byte[0], new byte[0], 0));
        }
        processor.close();
    }

    /** Returns the store of the first life, as the change-log would bring it back. */
    private KeyValueStore<Bytes, byte[]> storeOf(
            ProcessorSupplier<?, ?, ?, ?> guarded, MockProcessorContext<?, ?> context) {
        KeyValueStore<Bytes, byte[]> found = store;
        if (found == null) {
            assertEquals(
                    List.of("activations-read"),
                    guarded.stores().stream().map(StoreBuilder::name).toList());
            found = Stores.keyValueStoreBuilder(
                            Stores.inMemoryKeyValueStore("activations-read"), Serdes.Bytes(), Serdes.ByteArray())
                    .withLoggingDisabled()
                    .build();
            found.init(context.getStateStoreContext(), found);
            store = found;
        }
        return found;
    }

    private final class Broker implements NextOffsets.Source {
        @Override
        public Uuid topicId(String name) {
            return topic;
        }

        @Override
        public long lost(TopicPartition partition, long from, long to) {
            between = "between %d and %d".formatted(from, to);
            return lost;
        }
    }

    private final class Listener implements NextOffsets.Listener {
        @Override
        public void onSkipped(Input input) {
            heard.add("skipped");
        }

        @Override
        public void onLost(Input input, int partition, long offsets) {
            heard.add("%s-%d lost %d %s".formatted(input.label(), partition, offsets, between));
        }
    }
}
