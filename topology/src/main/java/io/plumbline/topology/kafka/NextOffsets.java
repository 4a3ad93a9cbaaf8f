package io.plumbline.topology.kafka;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the offset that a partition has to go on at in the state of its task, and skips what lies below it.
 *
 * <p>State and the offsets of a group are two things. A group's offsets expire a week after its last member left, and
 * anybody may set them. Without this, what they put back would be added to open windows a second time, and what they
 * jump over would be in none, both without a word. The offset is written in the transaction that holds what was made of
 * the records before it.
 *
 * <p><b>Skipped</b> is a record below the offset. <b>Lost</b> is what lies between the offset and the first record that
 * a life of the task is handed, if a record lies there: markers of transactions and aborted records have offsets too.
 * What is missing later in a life is not looked at: the consumer found nothing there, or what was deleted meanwhile is
 * counted by who watches the topic.
 *
 * <p><b>A topic that was made again</b> counts from 0, and offsets of its predecessor say nothing. So the offset stands
 * beside the topic's id. The broker is asked for that id only where there is no offset yet or it does not fit.
 *
 * <p><b>Without exactly-once</b> nothing is skipped: the offset may then be stored without what was made of the
 * records.
 *
 * <p><b>Layout</b> of the stores; the key is the topic's name in UTF-8:
 *
 * <pre>
 * offset  size  field
 *      0     1  version, 1
 *      1     8  next offset
 *      9    16  id of the topic
 * </pre>
 *
 * Big endian. <b>Cost</b>: a write to the record cache for each record, one record of the change-log for each commit.
 */
public final class NextOffsets {

    /**
     * A topic that an application reads.
     *
     * @param label its name in metrics
     */
    public record Input(String label) {

        public static final Input ACTIVATIONS = new Input("activations");
        public static final Input MOMENTS = new Input("moments");
        public static final Input MODEL_WINDOWS = new Input("model_windows");
        public static final Input ADAPTATION_REQUESTS = new Input("adaptation_requests");

        /** Returns the name of the store of the tasks that read it. */
        public String store() {
            return label.replace('_', '-') + "-read";
        }
    }

    /** Knows what the broker has. Asked by stream threads, seldom. */
    public interface Source {

        /** Returns the id of a topic. */
        Uuid topicId(String topic);

        /**
         * Returns how many offsets a jump passes over; 0 where no record lies between.
         *
         * @param from the first offset that was not read
         * @param to the first record that was read instead
         */
        long lost(TopicPartition partition, long from, long to);
    }

    /** Watches what is skipped and lost. Called on stream threads; must be thread-safe and must not block. */
    public interface Listener {

        /** A life of a task begins to read the partition. */
        default void onBegun(Input input, int partition) {}

        /** A record was skipped, since the state holds what was made of it. */
        default void onSkipped(Input input) {}

        /** Reading went on behind records that nobody read. */
        default void onLost(Input input, int partition, long offsets) {}
    }

    private static final Logger LOG = LoggerFactory.getLogger(NextOffsets.class);
    private static final byte VERSION = 1;
    private static final int BYTES = 25;

    private final Source source;
    private final Listener listener;

    public NextOffsets(Source source, Listener listener) {
        this.source = source;
        this.listener = listener;
    }

    /** Returns one that tells nobody and asks no broker: topics are what they were, and jumps pass over nothing. */
    public static NextOffsets silent() {
        return new NextOffsets(
                new Source() {
                    @Override
                    public Uuid topicId(String topic) {
                        return Uuid.ZERO_UUID;
                    }

                    @Override
                    public long lost(TopicPartition partition, long from, long to) {
                        return 0;
                    }
                },
                new Listener() {});
    }

    /**
     * Returns this processor, the first one behind a source, without the records that it was handed before.
     *
     * @param logConfig topic settings of the change-log
     */
    public <A, B, C, D> ProcessorSupplier<A, B, C, D> guarding(
            Input input, ProcessorSupplier<A, B, C, D> supplier, Map<String, String> logConfig) {
        StoreBuilder<KeyValueStore<Bytes, byte[]>> store = Stores.keyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore(input.store()), Serdes.Bytes(), Serdes.ByteArray())
                .withLoggingEnabled(logConfig)
                .withCachingEnabled();
        return new ProcessorSupplier<>() {
            @Override
            public Processor<A, B, C, D> get() {
                return new Guarded<>(input, supplier.get());
            }

            @Override
            public Set<StoreBuilder<?>> stores() {
                Set<StoreBuilder<?>> own = supplier.stores();
                Set<StoreBuilder<?>> all = new HashSet<>(own == null ? Set.of() : own);
                all.add(store);
                return all;
            }
        };
    }

    private record Next(long offset, Uuid topic) {

        byte[] encode() {
            return ByteBuffer.allocate(BYTES)
                    .put(VERSION)
                    .putLong(offset)
                    .putLong(topic.getMostSignificantBits())
                    .putLong(topic.getLeastSignificantBits())
                    .array();
        }

        static Next decode(byte[] bytes) {
            if (bytes.length != BYTES || bytes[0] != VERSION) {
                throw new IllegalStateException(("the state store holds a next offset of %d bytes and version %d, "
                                + "this program writes %d and %d; reset the application's state")
                        .formatted(bytes.length, bytes.length == 0 ? -1 : bytes[0], BYTES, VERSION));
            }
            ByteBuffer buffer = ByteBuffer.wrap(bytes, 1, BYTES - 1);
            return new Next(buffer.getLong(), new Uuid(buffer.getLong(), buffer.getLong()));
        }
    }

    private final class Guarded<A, B, C, D> implements Processor<A, B, C, D> {

        private final Input input;
        private final Processor<A, B, C, D> inner;
        private ProcessorContext<C, D> context;
        private KeyValueStore<Bytes, byte[]> store;
        private boolean skips;
        private boolean began;
        private long skipped;
        private @Nullable Next next;
        private Bytes key = Bytes.wrap(new byte[0]);

        @SuppressWarnings("NullAway.Init") // Kafka Streams calls init before anything else
        Guarded(Input input, Processor<A, B, C, D> inner) {
            this.input = input;
            this.inner = inner;
        }

        @Override
        public void init(ProcessorContext<C, D> processorContext) {
            context = processorContext;
            store = context.getStateStore(input.store());
            skips = StreamsConfig.EXACTLY_ONCE_V2.equals(
                    String.valueOf(context.appConfigs().get(StreamsConfig.PROCESSING_GUARANTEE_CONFIG)));
            began = false;
            skipped = 0;
            listener.onBegun(input, context.taskId().partition());
            inner.init(processorContext);
        }

        @Override
        public void process(Record<A, B> record) {
            RecordMetadata place = context.recordMetadata().orElseThrow();
            if (isNew(place.topic(), place.partition(), place.offset())) {
                inner.process(record);
            }
        }

        private boolean isNew(String topic, int partition, long offset) {
            if (!began) {
                begin(topic, new TopicPartition(topic, partition), offset);
                began = true;
            }
            Next known = Objects.requireNonNull(next);
            if (skips && offset < known.offset() && (skipped > 0 || isSameTopic(topic, known))) {
                if (skipped == 0) {
                    LOG.warn(
                            "the offsets of the group were reset or had expired; "
                                    + "records that the state holds already are skipped: "
                                    + "topic={} partition={} offset={} state_offset={} group={}",
                            topic,
                            partition,
                            offset,
                            known.offset(),
                            context.applicationId());
                }
                skipped++;
                listener.onSkipped(input);
                return false;
            }
            if (skipped > 0) {
                LOG.info(
                        "reading goes on behind what was skipped: topic={} partition={} offset={} skipped={}",
                        topic,
                        partition,
                        offset,
                        skipped);
                skipped = 0;
            }
            remember(new Next(offset + 1, Objects.requireNonNull(next).topic()));
            return true;
        }

        /** Compares where a life of the task begins with where the one before ended. */
        private void begin(String topic, TopicPartition partition, long offset) {
            key = Bytes.wrap(topic.getBytes(StandardCharsets.UTF_8));
            byte[] stored = store.get(key);
            next = stored == null ? new Next(offset, source.topicId(topic)) : Next.decode(stored);
            Next known = Objects.requireNonNull(next);
            if (offset > known.offset() && isSameTopic(topic, known)) {
                long lost = source.lost(partition, known.offset(), offset);
                if (lost > 0) {
                    LOG.error(
                            "the offsets of the group were set, or had expired and the records were deleted; "
                                    + "what lies between the state and where reading went on is in no window: "
                                    + "topic={} partition={} offset={} state_offset={} records={} group={}\n"
                                    + "send the records again if you still have them",
                            topic,
                            partition.partition(),
                            offset,
                            known.offset(),
                            lost,
                            context.applicationId());
                    listener.onLost(input, partition.partition(), lost);
                }
            }
        }

        /** Returns whether the state speaks of this topic; begins anew where the topic was made again. */
        private boolean isSameTopic(String topic, Next known) {
            Uuid id = source.topicId(topic);
            if (id.equals(known.topic())) {
                return true;
            }
            LOG.warn(
                    "a topic was deleted and made again; it is read from where the group begins, "
                            + "whatever offset the state holds: topic={} state_offset={} topic_id={} state_topic_id={}",
                    topic,
                    known.offset(),
                    id,
                    known.topic());
            next = new Next(known.offset(), id);
            return false;
        }

        private void remember(Next now) {
            next = now;
            store.put(key, now.encode());
        }

        @Override
        public void close() {
            inner.close();
        }
    }
}
