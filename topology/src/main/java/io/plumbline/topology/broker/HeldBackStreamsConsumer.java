package io.plumbline.topology.broker;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.internals.AsyncKafkaConsumer;
import org.apache.kafka.clients.consumer.internals.StreamsRebalanceData;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.internals.ConsumerWrapper;
import org.jspecify.annotations.Nullable;

/**
 * Reads topics no farther ahead than it may, under the group protocol {@code streams}: {@link HeldBackReading}.
 *
 * <p>Kafka Streams makes the consumer of that protocol itself, and asks no {@code KafkaClientSupplier}. It wraps it in
 * a class that the consumer's properties name; so the topics come through them too.
 */
public final class HeldBackStreamsConsumer extends ConsumerWrapper {

    /** The key by which Kafka Streams finds the class, among the properties of the main consumer. */
    static final String WRAPPER = "__internal.consumer.wrapper__";

    /** The key of the {@link HeldBackTopics}. */
    static final String TOPICS = "plumbline.held.back.topics";

    private @Nullable HeldBackReading reading;

    @Override
    public void wrapConsumer(
            AsyncKafkaConsumer<byte[], byte[]> consumer,
            Map<String, Object> config,
            Optional<StreamsRebalanceData> rebalances) {
        super.wrapConsumer(consumer, config, rebalances);
        HeldBackTopics topics = (HeldBackTopics) Objects.requireNonNull(config.get(TOPICS), TOPICS);
        reading = new HeldBackReading(
                new HeldBackReading.Reading(consumer::pause, consumer::resume, consumer::seek), topics);
    }

    private HeldBackReading reading() {
        return Objects.requireNonNull(reading, "wrapped");
    }

    @Override
    public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
        reading().release(assignment());
        return reading().cut(super.poll(timeout));
    }

    @Override
    public void pause(Collection<TopicPartition> partitions) {
        reading().pause(partitions);
    }

    @Override
    public void resume(Collection<TopicPartition> partitions) {
        reading().resume(partitions);
    }
}
