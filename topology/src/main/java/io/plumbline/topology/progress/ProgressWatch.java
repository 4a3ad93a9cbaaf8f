package io.plumbline.topology.progress;

import io.plumbline.wire.Printable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the broker every few seconds where an application's group stands, and tells its {@link Standstills}.
 *
 * <p>Kafka Streams cannot be asked: it is {@code RUNNING} while it reads the same record for ever, and knows nothing of
 * the offsets when its thread is busy. The consumer here never joins the group and commits nothing.
 *
 * <p><b>Cost</b> of a look: committed, first and last offsets of the partitions, one request to the coordinator and two
 * to each leader. A partition that has stood for long is read once from there, one batch: an aborted transaction leaves
 * offsets behind that nobody can read, and they are no standstill. One daemon thread; a broker that is away is asked
 * again.
 */
public final class ProgressWatch implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ProgressWatch.class);
    private static final Duration EVERY = Duration.ofSeconds(5);
    private static final Duration SUSPICIOUS = Duration.ofSeconds(30);
    private static final Duration READ = Duration.ofSeconds(5);
    private static final String ANSWER_WITHIN_MS = "15000";

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final Standstills standstills;
    private final Set<TopicPartition> readable = new HashSet<>();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final CountDownLatch stopped = new CountDownLatch(1);

    private ProgressWatch(KafkaConsumer<byte[], byte[]> consumer, Standstills standstills) {
        this.consumer = consumer;
        this.standstills = standstills;
    }

    /**
     * Starts to look on a thread of its own.
     *
     * @param kafka client properties; what concerns the group is set here
     * @param group the application's id
     */
    public static ProgressWatch start(Map<String, String> kafka, String group, Standstills standstills) {
        Properties properties = new Properties();
        properties.putAll(kafka);
        properties.put(ConsumerConfig.GROUP_ID_CONFIG, group);
        properties.remove(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG);
        properties.put(ConsumerConfig.GROUP_PROTOCOL_CONFIG, "classic");
        properties.put(ConsumerConfig.CLIENT_ID_CONFIG, group + "-progress");
        properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        properties.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, "1");
        properties.put(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, "1"); // the broker gives one batch all the same
        properties.put(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, ANSWER_WITHIN_MS);
        properties.put(ConsumerConfig.REQUEST_TIMEOUT_MS_CONFIG, ANSWER_WITHIN_MS);
        ProgressWatch watch = new ProgressWatch(
                new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer()), standstills);
        Thread thread = new Thread(watch::run, standstills.application() + "-progress");
        thread.setDaemon(true);
        thread.start();
        return watch;
    }

    private void run() {
        try (consumer) {
            do {
                try {
                    look();
                } catch (WakeupException e) {
                    return;
                } catch (KafkaException e) {
                    LOG.debug(
                            "progress cannot be asked: application={} reason={}",
                            standstills.application(),
                            Printable.value(e.getMessage()));
                }
            } while (!closing.await(EVERY.toMillis(), TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            LOG.error("progress is no longer watched: application={}", standstills.application(), e);
        } finally {
            stopped.countDown();
        }
    }

    private void look() {
        List<TopicPartition> partitions = new ArrayList<>();
        for (String topic : standstills.topicNames()) {
            for (PartitionInfo info : consumer.partitionsFor(topic)) {
                partitions.add(new TopicPartition(topic, info.partition()));
            }
        }
        consumer.assign(
                partitions); // nothing is fetched without a poll; of others it would log each answer as a warning
        // In this order: offsets only grow, and what is committed must not lie behind an end that was asked before.
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        Map<TopicPartition, Long> beginnings = consumer.beginningOffsets(partitions);
        Map<TopicPartition, OffsetAndMetadata> committed = consumer.committed(Set.copyOf(partitions));
        for (TopicPartition partition : partitions) {
            OffsetAndMetadata stored = committed.get(partition);
            long beginning = beginnings.getOrDefault(partition, 0L);
            standstills.saw(
                    partition,
                    stored == null ? beginning : Math.max(beginning, stored.offset()),
                    ends.getOrDefault(partition, 0L));
        }
        doubt(standstills.standingFor(SUSPICIOUS));
    }

    private void doubt(Map<TopicPartition, Long> standing) {
        readable.retainAll(standing.keySet());
        standing.forEach((partition, offset) -> {
            if (!readable.contains(partition)) {
                consumer.assign(List.of(partition));
                consumer.seek(partition, offset);
                if (!consumer.poll(READ).isEmpty()) {
                    readable.add(partition);
                } else if (consumer.position(partition) > offset) {
                    standstills.sawNothingToRead(partition);
                }
            }
        });
    }

    /** Stops looking. */
    @Override
    public void close() {
        closing.countDown();
        consumer.wakeup();
        try {
            stopped.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
