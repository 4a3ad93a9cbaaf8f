package io.plumbline.topology.cli;

import io.plumbline.topology.ingest.KeptLetter;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * Sends refused records again: key, value, headers and event time as they were, to the partition they came from.
 *
 * <p><b>Once.</b> What is sent and what the group remembers as sent are one transaction, and a second run with the
 * group's transactional id ends the first one: a run may be killed and repeated, and overlapping selections do not send
 * a letter twice.
 *
 * <p><b>No loop.</b> Only what lay on the topic at the start is read: a record that is refused again makes a new
 * letter, for another run.
 */
final class DeadLetterReplay {

    private static final Duration POLL = Duration.ofSeconds(1);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String LARGEST_REQUEST = Integer.toString(32 << 20);

    private final Cluster cluster;
    private final DeadLetterOptions options;
    private final DeadLetterOptions.Selection selection;
    private final String letters;
    private final @Nullable String otherTopic;
    private final Set<String> topics;
    private final ReplayTally tally = new ReplayTally();
    private final Map<TopicPartition, SentOffsets> done = new HashMap<>();
    private final Map<TopicPartition, Long> next = new HashMap<>();
    private final Map<TopicPartition, Long> end = new HashMap<>();
    private final Map<String, Integer> partitions = new HashMap<>();

    /**
     * @param letters the dead-letter topic
     * @param otherTopic where to send instead of the original topic
     * @throws UsageException when the broker or the topic is not there
     */
    DeadLetterReplay(
            Cluster cluster,
            DeadLetterOptions options,
            DeadLetterOptions.Selection selection,
            String letters,
            @Nullable String otherTopic) {
        this.cluster = cluster;
        this.options = options;
        this.selection = selection;
        this.letters = letters;
        this.otherTopic = otherTopic;
        topics = Brokers.topics(cluster.admin());
        for (String topic : otherTopic == null ? List.of(letters) : List.of(letters, otherTopic)) {
            if (!topics.contains(topic)) {
                throw new UsageException("topic %s does not exist at %s".formatted(topic, cluster.bootstrapServers()));
            }
        }
    }

    /** Reads and sends; with a dry run only reads. */
    ReplayTally run() {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer()) {
            if (options.dryRun) {
                position(consumer);
                readAll(consumer, null);
            } else {
                try (Producer<byte[], byte[]> producer = producer()) {
                    // Ends the transaction of a run that was killed, before the group is asked what it has sent.
                    producer.initTransactions();
                    position(consumer);
                    readAll(consumer, producer);
                }
            }
        }
        return tally;
    }

    private void position(KafkaConsumer<byte[], byte[]> consumer) {
        List<TopicPartition> all = consumer.partitionsFor(letters).stream()
                .filter(info -> selection.takesPartition(info.partition()))
                .map(info -> new TopicPartition(letters, info.partition()))
                .toList();
        if (all.isEmpty()) {
            throw new UsageException(
                    "--partition = %s: topic %s has none of that number".formatted(selection.partition(), letters));
        }
        consumer.assign(all);
        end.putAll(consumer.endOffsets(all));
        Map<TopicPartition, Long> beginning = consumer.beginningOffsets(all);
        Map<TopicPartition, OffsetAndMetadata> committed = consumer.committed(Set.copyOf(all));
        for (TopicPartition partition : all) {
            long first = beginning.getOrDefault(partition, 0L);
            OffsetAndMetadata sent = options.fromBeginning ? null : committed.get(partition);
            SentOffsets known = sent == null ? SentOffsets.none(first) : SentOffsets.of(sent);
            long from = Math.max(first, known.below());
            done.put(partition, known);
            next.put(partition, from);
            consumer.seek(partition, from);
        }
    }

    private void readAll(KafkaConsumer<byte[], byte[]> consumer, @Nullable Producer<byte[], byte[]> producer) {
        long total = end.entrySet().stream()
                .mapToLong(entry -> entry.getValue() - next.getOrDefault(entry.getKey(), 0L))
                .sum();
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        try (Progress progress = Progress.of("replaying", total, " letters")) {
            while (!isAtEnd(consumer)) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
                if (!records.isEmpty()) {
                    deadline = System.nanoTime() + PATIENCE.toNanos();
                    take(consumer, records, producer);
                    progress.advance(records.count());
                } else if (System.nanoTime() - deadline > 0) {
                    throw new IllegalStateException("topic %s gave nothing for %d s; %d letters were sent, run it again"
                            .formatted(letters, PATIENCE.toSeconds(), tally.sent()));
                }
            }
        }
    }

    private boolean isAtEnd(KafkaConsumer<byte[], byte[]> consumer) {
        return end.entrySet().stream().allMatch(entry -> consumer.position(entry.getKey()) >= entry.getValue());
    }

    /** One transaction. */
    private void take(
            KafkaConsumer<byte[], byte[]> consumer,
            ConsumerRecords<byte[], byte[]> records,
            @Nullable Producer<byte[], byte[]> producer) {
        if (producer != null) {
            producer.beginTransaction();
        }
        try {
            Map<TopicPartition, OffsetAndMetadata> sent = new TreeMap<>(
                    java.util.Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition));
            for (TopicPartition partition : records.partitions()) {
                SentOffsets known = done.getOrDefault(partition, SentOffsets.none(0));
                for (ConsumerRecord<byte[], byte[]> record : records.records(partition)) {
                    if (record.offset() >= end.getOrDefault(partition, 0L)) {
                        break;
                    }
                    if (dealWith(record, known, producer)) {
                        known.add(next.getOrDefault(partition, record.offset()), record.offset() + 1);
                    }
                    next.put(partition, record.offset() + 1);
                }
                sent.put(partition, known.committed());
            }
            if (producer != null) {
                producer.sendOffsetsToTransaction(sent, consumer.groupMetadata());
                producer.commitTransaction();
            }
        } catch (KafkaException failed) {
            throw stopped(records, failed);
        }
    }

    private IllegalStateException stopped(ConsumerRecords<byte[], byte[]> records, KafkaException failed) {
        ConsumerRecord<byte[], byte[]> first = records.iterator().next();
        Throwable cause = failed.getCause() == null ? failed : failed.getCause();
        // Closing the producer gives the transaction up.
        return new IllegalStateException(
                "the %d letters from %s-%d@%d on were not sent: %s; those before them were. Run it again to go on"
                        .formatted(
                                records.count(), first.topic(), first.partition(), first.offset(), cause.getMessage()),
                failed);
    }

    /** Returns whether the letter is dealt with for good. */
    private boolean dealWith(
            ConsumerRecord<byte[], byte[]> record, SentOffsets known, @Nullable Producer<byte[], byte[]> producer) {
        KeptLetter letter;
        try {
            letter = KeptLetter.of(record.headers());
        } catch (IllegalArgumentException foreign) {
            tally.problem(record, String.valueOf(foreign.getMessage()));
            return true;
        }
        if (known.contains(record.offset())) {
            tally.sentBefore(letter);
            return true;
        }
        if (!selection.takes(record, letter)) {
            tally.left(letter);
            return false;
        }
        if (letter.omittedBytes() > 0) {
            tally.problem(
                    record,
                    "%d bytes of it were too many to keep; if they are still there, they are at %s"
                            .formatted(letter.omittedBytes(), letter.place()));
            return true;
        }
        String target = otherTopic == null ? letter.place().topic() : otherTopic;
        if (!topics.contains(target) || target.startsWith("__") || target.equals(letters)) {
            tally.problem(
                    record,
                    "it came from topic \"%s\", which takes no replay; name one with --topic".formatted(target));
            return false;
        }
        boolean timeKnown = letter.timestampMs() != KeptLetter.UNKNOWN;
        if (!timeKnown && record.timestampType() == TimestampType.LOG_APPEND_TIME) {
            tally.problem(record, "it does not say the event time of its record, which an older version refused");
            return true;
        }
        tally.sent(letter);
        if (producer != null) {
            long timestampMs = timeKnown ? letter.timestampMs() : record.timestamp();
            // A failure comes out of the transaction's commit.
            var unused = producer.send(new ProducerRecord<>(
                    target,
                    partition(letter, target, producer),
                    timestampMs,
                    record.key(),
                    record.value(),
                    letter.original()));
        }
        return true;
    }

    /** The partition it came from; where that is not the topic's, the producer chooses by key. */
    private @Nullable Integer partition(KeptLetter letter, String target, Producer<byte[], byte[]> producer) {
        int count = partitions.computeIfAbsent(
                target, topic -> producer.partitionsFor(topic).size());
        return otherTopic == null && letter.place().partition() < count
                ? letter.place().partition()
                : null;
    }

    private KafkaConsumer<byte[], byte[]> consumer() {
        Map<String, Object> properties = new TreeMap<>(cluster.consumer());
        properties.put("group.id", options.group);
        properties.put("enable.auto.commit", "false");
        properties.put("isolation.level", "read_committed");
        properties.put("auto.offset.reset", "earliest");
        properties.put("allow.auto.create.topics", "false");
        return new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private Producer<byte[], byte[]> producer() {
        Map<String, Object> properties = new TreeMap<>(Map.of("max.request.size", LARGEST_REQUEST));
        properties.putAll(cluster.producer());
        properties.put("acks", "all");
        properties.put("enable.idempotence", "true");
        properties.put("transactional.id", "%s-%s".formatted(options.group, letters));
        return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
    }
}
