package io.plumbline.topology.broker;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads topics no farther ahead than it may, under the group protocol {@code classic}: {@link HeldBackReading}. */
final class HeldBackConsumer extends KafkaConsumer<byte[], byte[]> {

    private final HeldBackReading reading;

    HeldBackConsumer(Map<String, Object> config, HeldBackTopics topics) {
        super(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        reading = new HeldBackReading(new HeldBackReading.Reading(super::pause, super::resume, super::seek), topics);
    }

    @Override
    public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
        reading.release(assignment());
        return reading.cut(super.poll(timeout));
    }

    @Override
    public void pause(Collection<TopicPartition> partitions) {
        reading.pause(partitions);
    }

    @Override
    public void resume(Collection<TopicPartition> partitions) {
        reading.resume(partitions);
    }
}
