package io.plumbline.topology.broker;

import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.KafkaClientSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes Kafka's own clients so that a commit that timed out ends the stream thread.
 *
 * <p>Kafka Streams (seen with 4.3.1) otherwise calls the thread's tasks corrupted, commits once more, and makes the
 * tasks anew in the same thread. Where that meets the rebalance it asks for itself, the tasks are made a second time
 * and forget that their partitions are to be read again from what is committed: records that were fetched and not yet
 * processed are never processed, and their offsets are committed. A thread that ends gives up its place in the topics
 * with its consumer; the one that takes over begins at the committed offsets, which the broker tells only when the
 * transaction is decided.
 */
public final class DecidedCommits implements KafkaClientSupplier {

    private final Runnable beforeCommit;
    private final @Nullable HeldBackTopics heldBack;

    /** @param beforeCommit run by the stream thread before each commit; what it throws ends transaction and thread */
    public DecidedCommits(Runnable beforeCommit) {
        this(beforeCommit, null);
    }

    private DecidedCommits(Runnable beforeCommit, @Nullable HeldBackTopics heldBack) {
        this.beforeCommit = beforeCommit;
        this.heldBack = heldBack;
    }

    /** Returns clients that read no farther ahead than they may. */
    public DecidedCommits holdingBack(HeldBackTopics topics) {
        return new DecidedCommits(beforeCommit, topics);
    }

    @Override
    public Admin getAdmin(Map<String, Object> config) {
        return Admin.create(config);
    }

    @Override
    public Producer<byte[], byte[]> getProducer(Map<String, Object> config) {
        return new Committing(config, beforeCommit);
    }

    @Override
    public Consumer<byte[], byte[]> getConsumer(Map<String, Object> config) {
        return heldBack == null ? plain(config) : new HeldBackConsumer(config, heldBack);
    }

    @Override
    public Consumer<byte[], byte[]> getRestoreConsumer(Map<String, Object> config) {
        return plain(config);
    }

    @Override
    public Consumer<byte[], byte[]> getGlobalConsumer(Map<String, Object> config) {
        return plain(config);
    }

    private static Consumer<byte[], byte[]> plain(Map<String, Object> config) {
        return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private static final class Committing extends KafkaProducer<byte[], byte[]> {

        private final Runnable beforeCommit;

        Committing(Map<String, Object> config, Runnable beforeCommit) {
            super(config, new ByteArraySerializer(), new ByteArraySerializer());
            this.beforeCommit = beforeCommit;
        }

        @Override
        public void sendOffsetsToTransaction(
                Map<TopicPartition, OffsetAndMetadata> offsets, ConsumerGroupMetadata groupMetadata) {
            try {
                super.sendOffsetsToTransaction(offsets, groupMetadata);
            } catch (TimeoutException undecided) {
                throw ends(undecided);
            }
        }

        @Override
        public void commitTransaction() {
            beforeCommit.run();
            try {
                super.commitTransaction();
            } catch (TimeoutException undecided) {
                throw ends(undecided);
            }
        }

        /**
         * Returns the exception that ends the thread: Kafka Streams takes a {@link TimeoutException} for a task to be
         * made anew, and any other for a lost thread.
         */
        private static KafkaException ends(TimeoutException undecided) {
            return new KafkaException(
                    "the broker did not say within max.block.ms whether a transaction is committed", undecided);
        }
    }
}
