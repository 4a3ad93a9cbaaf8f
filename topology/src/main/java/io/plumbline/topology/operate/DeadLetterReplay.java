package io.plumbline.topology.operate;

import io.plumbline.judgement.Amounts;
import io.plumbline.topology.cli.Progress;
import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.ingest.KeptLetter;
import io.plumbline.topology.kafka.TopicReader;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.TimestampType;
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

    private static final String LARGEST_REQUEST = Integer.toString(32 << 20);

    /** The time to give up a transaction that failed; one that takes longer is ended by the next run, or the broker. */
    private static final Duration LONGEST_CLOSE = Duration.ofSeconds(2);

    private final Cluster cluster;
    private final DeadLetterOptions options;
    private final DeadLetterOptions.Selection selection;
    private final String letters;
    private final @Nullable String otherTopic;
    private final Set<String> topics;
    private final ReplayTally tally = new ReplayTally();
    private final Map<TopicPartition, SentOffsets> done = new HashMap<>();
    private final Map<TopicPartition, Long> next = new HashMap<>();
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
        // The group remembers what was sent; partitions are not shared out in it.
        Map<String, String> remembering = Map.of("group.id", options.group, "auto.offset.reset", "earliest");
        try (TopicReader reader = TopicReader.open(cluster.consumer(), remembering)) {
            if (options.dryRun) {
                position(reader);
                readAll(reader, null);
            } else {
                Producer<byte[], byte[]> producer = producer();
                try {
                    // Ends the transaction of a run that was killed, before the group is asked what it has sent.
                    producer.initTransactions();
                    position(reader);
                    readAll(reader, producer);
                } finally {
                    // Without an end it would wait for what was sent: 40 s where a letter was too large.
                    producer.close(LONGEST_CLOSE);
                }
            }
        }
        return tally;
    }

    private void position(TopicReader reader) {
        List<TopicPartition> all = reader.partitions(letters).stream()
                .filter(partition -> selection.takesPartition(partition.partition()))
                .toList();
        if (all.isEmpty()) {
            throw new UsageException(
                    "--partition = %s: topic %s has none of that number".formatted(selection.partition(), letters));
        }
        reader.assign(all);
        Map<TopicPartition, Long> beginning = reader.begin();
        Map<TopicPartition, OffsetAndMetadata> committed = reader.consumer().committed(Set.copyOf(all));
        for (TopicPartition partition : all) {
            long first = beginning.getOrDefault(partition, 0L);
            OffsetAndMetadata sent = options.fromBeginning ? null : committed.get(partition);
            SentOffsets known = sent == null ? SentOffsets.none(first) : SentOffsets.of(sent);
            long from = Math.max(first, known.below());
            done.put(partition, known);
            next.put(partition, from);
            reader.beginAt(partition, from);
        }
    }

    private void readAll(TopicReader reader, @Nullable Producer<byte[], byte[]> producer) {
        try (Progress progress = Progress.of("replaying", reader.offsets(), " letters")) {
            while (!reader.isAtEnd()) {
                ConsumerRecords<byte[], byte[]> records =
                        reader.next("sent %s, run it again".formatted(Amounts.count(tally.sent(), "letter")));
                if (!records.isEmpty()) {
                    take(reader, records, producer);
                    progress.advance(records.count());
                }
            }
        }
    }

    /** Takes the letters of one transaction. */
    private void take(
            TopicReader reader, ConsumerRecords<byte[], byte[]> records, @Nullable Producer<byte[], byte[]> producer) {
        if (producer != null) {
            producer.beginTransaction();
        }
        try {
            Map<TopicPartition, OffsetAndMetadata> sent = new TreeMap<>(
                    java.util.Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition));
            for (TopicPartition partition : records.partitions()) {
                SentOffsets known = done.getOrDefault(partition, SentOffsets.none(0));
                for (ConsumerRecord<byte[], byte[]> record : records.records(partition)) {
                    if (dealWith(record, known, producer)) {
                        known.add(next.getOrDefault(partition, record.offset()), record.offset() + 1);
                    }
                    next.put(partition, record.offset() + 1);
                }
                sent.put(partition, known.committed());
            }
            if (producer != null) {
                producer.sendOffsetsToTransaction(sent, reader.consumer().groupMetadata());
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
                "%s from %s-%d@%d on not sent: %s; those before were. Run it again to go on"
                        .formatted(
                                Amounts.count(records.count(), "letter"),
                                first.topic(),
                                first.partition(),
                                first.offset(),
                                cause.getMessage()),
                failed);
    }

    /** Returns whether the letter is dealt with for good. */
    private boolean dealWith(
            ConsumerRecord<byte[], byte[]> record, SentOffsets known, @Nullable Producer<byte[], byte[]> producer) {
        KeptLetter letter;
        try {
            letter = KeptLetter.of(record.headers());
        } catch (IllegalArgumentException foreign) {
            if (!selection.takesPlace(record)) {
                return false;
            }
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

    /** Returns the partition that the record came from; where that is not the topic's, the producer chooses by key. */
    private @Nullable Integer partition(KeptLetter letter, String target, Producer<byte[], byte[]> producer) {
        int count = partitions.computeIfAbsent(
                target, topic -> producer.partitionsFor(topic).size());
        return otherTopic == null && letter.place().partition() < count
                ? letter.place().partition()
                : null;
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
