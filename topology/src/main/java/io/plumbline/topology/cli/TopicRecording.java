package io.plumbline.topology.cli;

import io.plumbline.moments.RowMask;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.ingest.Ingested;
import io.plumbline.topology.ingest.RecordReader;
import io.plumbline.topology.ingest.SiteShape;
import io.plumbline.wire.ActivationBlob;
import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one site in a time range of the activations topic, as often as they are asked for.
 *
 * <p><b>Order.</b> Event time over all partitions, then partition and offset: the order they were sent in, wherever
 * they lie. Within a partition records come in the order of their offsets. So a recording spread over partitions is cut
 * into the same windows as one that is not, and read again it comes in the same order.
 *
 * <p><b>Range.</b> A partition is read from its first record at or after {@code from} to its first at or after {@code
 * to}, or to what was committed when it was opened. Records in between whose time lies outside are counted and left
 * out.
 *
 * <p><b>Memory.</b> {@value #AHEAD} records of every partition and what the client fetches ahead. Not thread-safe.
 */
final class TopicRecording implements Closeable {

    /** Reason of records inside the offsets of the range with a time outside of it. */
    static final String OUTSIDE_RANGE = "outside_range";

    /** Reason of records that bring moments: a baseline is made of rows. */
    static final String MOMENT_RECORD = "moment_record";

    private static final int AHEAD = 8;
    private static final Duration POLL = Duration.ofSeconds(1);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final String topic;
    private final String site;
    private final long fromMs;
    private final long toMs;
    private final RecordReader reader;
    private final RowMask mask;
    private final Map<TopicPartition, Long> begin = new HashMap<>();
    private final Map<TopicPartition, Long> end = new HashMap<>();
    private final Map<TopicPartition, Deque<ConsumerRecord<byte[], byte[]>>> waiting = new HashMap<>();
    private final Map<String, Long> leftOut = new TreeMap<>();
    private long requests;

    private TopicRecording(
            MonitorConfig config, SiteShape shape, RowMask mask, @Nullable Instant from, @Nullable Instant to) {
        this.consumer = Brokers.committedReader(config, Map.of("max.poll.records", Integer.toString(AHEAD)));
        this.topic = config.topics().activations();
        this.site = shape.site();
        this.fromMs = from == null ? Long.MIN_VALUE : from.toEpochMilli();
        this.toMs = to == null ? Long.MAX_VALUE : to.toEpochMilli();
        this.reader = new RecordReader(Map.of(shape.site(), shape), config.limits());
        this.mask = mask;
    }

    /**
     * Finds the range.
     *
     * @param mask a record without token ids is refused where it needs them
     * @param from event time, inclusive; null: from the oldest record there is
     * @param to event time, exclusive; null: to the newest
     * @throws UsageException when broker, topic or range is not there
     */
    static TopicRecording open(
            MonitorConfig config, SiteShape shape, RowMask mask, @Nullable Instant from, @Nullable Instant to) {
        String topic = config.topics().activations();
        if (!Brokers.topics(config.adminProperties()).contains(topic)) {
            throw new UsageException("topic %s does not exist at %s".formatted(topic, config.bootstrapServers()));
        }
        if (from != null && to != null && !from.isBefore(to)) {
            throw new UsageException(
                    "--from = %s, --to = %s: expected a range with a beginning before its end".formatted(from, to));
        }
        TopicRecording recording = new TopicRecording(config, shape, mask, from, to);
        try {
            recording.findRange();
        } catch (RuntimeException notThere) {
            recording.close();
            throw notThere;
        }
        return recording;
    }

    private void findRange() {
        List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
                .map(info -> new TopicPartition(topic, info.partition()))
                .toList();
        consumer.assign(partitions);
        begin.putAll(consumer.beginningOffsets(partitions));
        end.putAll(consumer.endOffsets(partitions));
        if (fromMs != Long.MIN_VALUE) {
            requireRetained();
            firstAtOrAfter(partitions, fromMs)
                    .forEach((partition, first) ->
                            begin.put(partition, first == null ? end.getOrDefault(partition, 0L) : first.offset()));
        }
        if (toMs != Long.MAX_VALUE) {
            firstAtOrAfter(partitions, toMs).forEach((partition, first) -> {
                if (first != null) {
                    end.merge(partition, first.offset(), Math::min);
                }
            });
        }
    }

    /** A range that begins before the oldest record of a partition that has lost some would be of other traffic. */
    private void requireRetained() {
        List<TopicPartition> cut = begin.entrySet().stream()
                .filter(entry -> entry.getValue() > 0)
                .map(Map.Entry::getKey)
                .toList();
        firstAtOrAfter(cut, 0).forEach((partition, oldest) -> {
            if (oldest == null || oldest.timestamp() > fromMs) {
                throw new UsageException(
                        "--from = %s: %s has deleted its records before offset %d%s; ask for a later range, or raise retention.ms before the next recording"
                                .formatted(
                                        Instant.ofEpochMilli(fromMs),
                                        partition,
                                        begin.get(partition),
                                        oldest == null
                                                ? " and holds none"
                                                : ", its oldest is of " + Instant.ofEpochMilli(oldest.timestamp())));
            }
        });
    }

    private Map<TopicPartition, @Nullable OffsetAndTimestamp> firstAtOrAfter(
            List<TopicPartition> partitions, long timestampMs) {
        Map<TopicPartition, Long> asked = new HashMap<>();
        partitions.forEach(partition -> asked.put(partition, Math.max(0, timestampMs)));
        Map<TopicPartition, @Nullable OffsetAndTimestamp> found = new HashMap<>();
        consumer.offsetsForTimes(asked).forEach(found::put);
        return found;
    }

    /**
     * Reads every request of the site, with a bar called {@code task} on a terminal.
     *
     * @throws UsageException if there is none
     */
    void forEach(String task, ActivationStream.RequestReader requestReader) throws IOException {
        leftOut.clear();
        requests = 0;
        waiting.clear();
        long records = 0;
        for (Map.Entry<TopicPartition, Long> first : begin.entrySet()) {
            TopicPartition partition = first.getKey();
            waiting.put(partition, new ArrayDeque<>());
            consumer.seek(partition, first.getValue());
            records += Math.max(0, end.getOrDefault(partition, 0L) - first.getValue());
        }
        consumer.resume(consumer.paused());
        try (Progress progress = Progress.of(task, records, " records")) {
            for (ConsumerRecord<byte[], byte[]> next = next(); next != null; next = next()) {
                take(next, requestReader);
                progress.advance(1);
            }
        } catch (OffsetOutOfRangeException deleted) {
            throw new IllegalStateException(
                    "%s deleted records of the range while they were read (%s); no baseline was written, ask for a later range"
                            .formatted(topic, deleted.getMessage()),
                    deleted);
        }
        if (requests == 0) {
            throw new UsageException("topic %s: no request of site %s in the range; left out: %s"
                    .formatted(topic, site, leftOut.isEmpty() ? "nothing" : leftOut));
        }
    }

    private void take(ConsumerRecord<byte[], byte[]> record, ActivationStream.RequestReader requestReader)
            throws IOException {
        if (record.timestamp() < fromMs || record.timestamp() >= toMs) {
            leftOut.merge(OUTSIDE_RANGE, 1L, Long::sum);
            return;
        }
        try {
            Ingested ingested = reader.read(record.key(), record.value(), record.headers(), record.timestamp());
            if (ingested.moment() != null) {
                leftOut.merge(MOMENT_RECORD, 1L, Long::sum);
                return;
            }
            ActivationBlob kept = ingested.kept();
            if (kept == null || (mask.needsTokenIds() && kept.tokenIds() == null)) {
                leftOut.merge(DeadLetter.Reason.MISSING_TOKEN_IDS.label(), 1L, Long::sum);
                return;
            }
            requestReader.read(kept.batch());
            requests++;
        } catch (RecordReader.Refused refused) {
            leftOut.merge(refused.deadLetter().reason().label(), 1L, Long::sum);
        }
    }

    /** The earliest of all partitions' next records; null at the end of the range. */
    private @Nullable ConsumerRecord<byte[], byte[]> next() {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!everyPartitionIsKnown()) {
            ConsumerRecords<byte[], byte[]> polled = consumer.poll(POLL);
            for (ConsumerRecord<byte[], byte[]> record : polled) {
                TopicPartition partition = new TopicPartition(record.topic(), record.partition());
                if (record.offset() < end.getOrDefault(partition, 0L)) {
                    waiting.getOrDefault(partition, new ArrayDeque<>()).add(record);
                }
            }
            pauseTheFull();
            if (!polled.isEmpty()) {
                deadline = System.nanoTime() + PATIENCE.toNanos();
            } else if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException("topic %s gave nothing for %d s; no baseline was written, run it again"
                        .formatted(topic, PATIENCE.toSeconds()));
            }
        }
        Deque<ConsumerRecord<byte[], byte[]>> earliest = null;
        for (Deque<ConsumerRecord<byte[], byte[]>> queue : waiting.values()) {
            if (!queue.isEmpty() && (earliest == null || isBefore(queue.getFirst(), earliest.getFirst()))) {
                earliest = queue;
            }
        }
        return earliest == null ? null : earliest.removeFirst();
    }

    private boolean everyPartitionIsKnown() {
        return waiting.entrySet().stream().allMatch(entry -> !entry.getValue().isEmpty() || isRead(entry.getKey()));
    }

    private boolean isRead(TopicPartition partition) {
        long position = consumer.position(partition);
        return position >= end.getOrDefault(partition, 0L);
    }

    private void pauseTheFull() {
        List<TopicPartition> full = new ArrayList<>();
        List<TopicPartition> hungry = new ArrayList<>();
        waiting.forEach(
                (partition, queue) -> (queue.size() >= AHEAD || isRead(partition) ? full : hungry).add(partition));
        consumer.pause(full);
        consumer.resume(hungry);
    }

    private static boolean isBefore(ConsumerRecord<byte[], byte[]> one, ConsumerRecord<byte[], byte[]> other) {
        return one.timestamp() != other.timestamp()
                ? one.timestamp() < other.timestamp()
                : one.partition() < other.partition();
    }

    /** Records of the last reading that gave no request, by reason. */
    Map<String, Long> leftOut() {
        return Map.copyOf(leftOut);
    }

    /** What a baseline of it says it was made of. */
    String describe() {
        return "topic %s, site %s, %s to %s, %d requests"
                .formatted(
                        topic,
                        site,
                        fromMs == Long.MIN_VALUE ? "its beginning" : Instant.ofEpochMilli(fromMs),
                        toMs == Long.MAX_VALUE ? "its end" : Instant.ofEpochMilli(toMs),
                        requests);
    }

    @Override
    public void close() {
        consumer.close();
    }
}
