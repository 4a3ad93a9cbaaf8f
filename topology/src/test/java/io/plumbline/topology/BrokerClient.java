package io.plumbline.topology;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Asks a broker what the broker tests need. */
public final class BrokerClient {

    private static final long PATIENCE_SECONDS = 120;
    private static final long PATIENCE_IN_ALL_SECONDS = 600;

    private final Map<String, String> login;

    public BrokerClient(String bootstrapServers) {
        this(Map.of("bootstrap.servers", bootstrapServers));
    }

    /** Creates a client with the properties of a login. */
    public BrokerClient(Map<String, String> login) {
        this.login = Map.copyOf(login);
    }

    public Properties properties() {
        Properties properties = new Properties();
        properties.putAll(login);
        return properties;
    }

    public void createTopic(String name, int partitions, Map<String, String> settings) throws Exception {
        createTopic(name, partitions, 1, settings);
    }

    public void createTopic(String name, int partitions, int replication, Map<String, String> settings)
            throws Exception {
        try (Admin admin = Admin.create(properties())) {
            admin.createTopics(List.of(new NewTopic(name, partitions, (short) replication).configs(settings)))
                    .all()
                    .get();
            awaitPartitions(admin, name, partitions);
        }
    }

    /** Gives a topic more partitions than it has. */
    public void growTopic(String name, int partitions) throws Exception {
        try (Admin admin = Admin.create(properties())) {
            admin.createPartitions(Map.of(name, NewPartitions.increaseTo(partitions)))
                    .all()
                    .get();
            awaitPartitions(admin, name, partitions);
        }
    }

    /** Waits until the broker that answers knows what the controller has decided: it learns of it a moment later. */
    private static void awaitPartitions(Admin admin, String topic, int partitions) throws InterruptedException {
        awaitThat(() -> partitions(admin, topic) == partitions, () -> "%s has not %d partitions"
                .formatted(topic, partitions));
    }

    /** Returns how many partitions a topic has; 0 where the broker knows none of its name. */
    private static int partitions(Admin admin, String topic) {
        try {
            return admin.describeTopics(List.of(topic))
                    .allTopicNames()
                    .get()
                    .get(topic)
                    .partitions()
                    .size();
        } catch (ExecutionException e) {
            assertInstanceOf(UnknownTopicOrPartitionException.class, e.getCause());
            return 0;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public KafkaProducer<byte[], byte[]> producer(Map<String, String> settings) {
        Properties properties = properties();
        properties.putAll(settings);
        return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
    }

    public void send(List<ProducerRecord<byte[], byte[]>> records) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = producer(Map.of("max.request.size", "4000000"))) {
            for (ProducerRecord<byte[], byte[]> record : records) {
                producer.send(record).get();
            }
        }
    }

    /** Sends all records without waiting for each; fails when one was not stored. */
    public void sendAll(List<ProducerRecord<byte[], byte[]>> records) throws Exception {
        List<Future<RecordMetadata>> stored = new ArrayList<>();
        try (KafkaProducer<byte[], byte[]> producer = producer(Map.of())) {
            records.forEach(record -> stored.add(producer.send(record)));
        }
        for (Future<RecordMetadata> one : stored) {
            one.get();
        }
    }

    /**
     * Returns the committed records of a topic from its beginning, until there are enough of them. It is the time since
     * the last record that ends its patience: a busy machine takes longer for many, and one that writes none is stuck.
     */
    public List<ConsumerRecord<byte[], byte[]>> await(
            String topic, Predicate<List<ConsumerRecord<byte[], byte[]>>> enough) {
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        Properties properties = properties();
        properties.put("isolation.level", "read_committed");
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> all = consumer.partitionsFor(topic).stream()
                    .map(info -> new TopicPartition(topic, info.partition()))
                    .toList();
            consumer.assign(all);
            consumer.seekToBeginning(all);
            long last = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_IN_ALL_SECONDS);
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
            while (!enough.test(records) && System.nanoTime() < Math.min(deadline, last)) {
                int known = records.size();
                consumer.poll(Duration.ofMillis(200)).forEach(records::add);
                if (records.size() > known) {
                    deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
                }
            }
        }
        assertTrue(enough.test(records), "only %d records of %s".formatted(records.size(), topic));
        return records;
    }

    /** Gives a group a setting of its own. */
    public void alterGroup(String group, String setting, String value) throws Exception {
        alter(ConfigResource.Type.GROUP, group, setting, value);
    }

    /** Gives a topic a setting of its own. */
    public void alterTopic(String topic, String setting, String value) throws Exception {
        alter(ConfigResource.Type.TOPIC, topic, setting, value);
    }

    private void alter(ConfigResource.Type type, String name, String setting, String value) throws Exception {
        try (Admin admin = Admin.create(properties())) {
            admin.incrementalAlterConfigs(Map.of(
                            new ConfigResource(type, name),
                            List.of(new AlterConfigOp(new ConfigEntry(setting, value), AlterConfigOp.OpType.SET))))
                    .all()
                    .get();
        }
    }

    /** The sum of the end offsets of a topic. */
    public long endOffsets(String topic) {
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(properties(), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> all = consumer.partitionsFor(topic).stream()
                    .map(info -> new TopicPartition(topic, info.partition()))
                    .toList();
            return consumer.endOffsets(all).values().stream()
                    .mapToLong(Long::longValue)
                    .sum();
        }
    }

    /** Every committed record of a topic, to where it ends now; waits for open transactions to be decided. */
    public List<ConsumerRecord<byte[], byte[]>> readAll(String topic) {
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        Properties committed = properties();
        committed.put("isolation.level", "read_committed");
        try (KafkaConsumer<byte[], byte[]> consumer =
                        new KafkaConsumer<>(committed, new ByteArrayDeserializer(), new ByteArrayDeserializer());
                KafkaConsumer<byte[], byte[]> uncommitted =
                        new KafkaConsumer<>(properties(), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> all = consumer.partitionsFor(topic).stream()
                    .map(info -> new TopicPartition(topic, info.partition()))
                    .toList();
            Map<TopicPartition, Long> ends = uncommitted.endOffsets(all);
            consumer.assign(all);
            consumer.seekToBeginning(all);
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
            while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
                assertTrue(System.nanoTime() < deadline, () -> "%s: not read to its end %s".formatted(topic, ends));
                consumer.poll(Duration.ofMillis(100)).forEach(records::add);
            }
        }
        return records;
    }

    /** Looks again until it holds. */
    public static void awaitThat(BooleanSupplier holds, Supplier<String> otherwise) throws InterruptedException {
        awaitThat(holds, PATIENCE_SECONDS, otherwise);
    }

    /** Looks again until it holds, for so long. */
    public static void awaitThat(BooleanSupplier holds, long seconds, Supplier<String> otherwise)
            throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        // Once it held it is not asked again: what is looked at may be changing.
        while (!holds.getAsBoolean()) {
            assertTrue(System.nanoTime() < deadline, otherwise);
            boolean unused = never.await(100, TimeUnit.MILLISECONDS);
        }
    }
}
