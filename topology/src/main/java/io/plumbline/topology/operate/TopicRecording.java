package io.plumbline.topology.operate;

import io.plumbline.judgement.Amounts;
import io.plumbline.moments.RowMask;
import io.plumbline.records.ActivationBlob;
import io.plumbline.topology.cli.ActivationStream;
import io.plumbline.topology.cli.Progress;
import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.ingest.Ingested;
import io.plumbline.topology.ingest.RecordReader;
import io.plumbline.topology.ingest.RequestParts;
import io.plumbline.topology.ingest.SiteShape;
import io.plumbline.topology.kafka.MergedRecords;
import io.plumbline.topology.kafka.TopicReader;
import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * Reads the requests of one site in a time range, or several, of the activations topic, as often as they are asked for.
 *
 * <p><b>Order.</b> Event time over all partitions, then name of the request, partition and offset: the order they were
 * sent in, wherever they lie. Within a partition records come in the order of their offsets. So a recording spread over
 * partitions is cut into the same windows as one that is not, and read again it comes in the same order. Records of
 * one request are joined ({@link RequestParts}).
 *
 * <p><b>Range.</b> A partition is read from its first record at or after {@code from} to its first at or after {@code
 * to}, or to what was committed when it was opened. Records in between whose time lies outside are counted and left
 * out.
 *
 * <p><b>Memory.</b> {@value #AHEAD} records of every partition, those of {@link RequestParts}, and what the client
 * fetches ahead. Not thread-safe.
 */
final class TopicRecording implements Closeable {

    /** The reason of records inside the offsets of the range with a time outside of it. */
    static final String OUTSIDE_RANGE = "outside_range";

    /** The reason of requests that another site of the model lacks. */
    static final String NOT_AT_EVERY_SITE = "not_at_every_site";

    /** The reason of records that bring moments: a baseline is made of rows. */
    static final String MOMENT_RECORD = "moment_record";

    /** The reason of records that their request has already. */
    static final String REPEATED_RECORD = "repeated_record";

    private static final int AHEAD = 8;

    /** The earliest first, by name of the request and partition where times are the same. */
    private static final Comparator<ConsumerRecord<byte[], byte[]>> ORDER = Comparator.comparingLong(
                    (ConsumerRecord<byte[], byte[]> record) -> record.timestamp())
            .thenComparing(TopicRecording::name)
            .thenComparingInt(ConsumerRecord::partition);

    private final TopicReader topicReader;
    private final MergedRecords records;
    private final String topic;
    private final String site;
    private final List<Period> periods;
    private final long[] read;
    private final long fromMs;
    private final long toMs;
    private final RecordReader reader;
    private final RowMask mask;
    private final Map<String, Long> leftOut = new TreeMap<>();
    private final Predicate<String> wanted;
    private long requests;
    private long apart;

    private TopicRecording(
            MonitorConfig config,
            String topic,
            SiteShape shape,
            RowMask mask,
            List<Period> periods,
            Predicate<String> wanted) {
        this.topicReader =
                TopicReader.open(config.subscriberProperties(), Map.of("max.poll.records", Integer.toString(AHEAD)));
        this.records = new MergedRecords(topicReader, AHEAD, ORDER);
        this.topic = topic;
        this.site = shape.site();
        this.periods = List.copyOf(periods);
        this.read = new long[periods.size()];
        Instant from = periods.stream()
                .map(Period::begin)
                .min(Comparator.naturalOrder())
                .orElseThrow();
        Instant to =
                periods.stream().map(Period::end).max(Comparator.naturalOrder()).orElseThrow();
        this.fromMs = from.equals(Instant.MIN) ? Long.MIN_VALUE : from.toEpochMilli();
        this.toMs = to.equals(Instant.MAX) ? Long.MAX_VALUE : to.toEpochMilli();
        this.reader = new RecordReader(Map.of(shape.site(), shape), config.limits());
        this.mask = mask;
        this.wanted = wanted;
    }

    /**
     * Finds the range.
     *
     * @param mask a record without token ids is refused where it needs them
     * @param periods what is read, at least one; what lies between them is passed over
     * @param wanted which requests, by their {@link #sameAtEverySite}
     * @throws UsageException when broker, topic or range is not there
     */
    static TopicRecording open(
            MonitorConfig config, SiteShape shape, RowMask mask, List<Period> periods, Predicate<String> wanted) {
        String topic = config.activationTopicOf(shape.id());
        if (!Brokers.topics(config.adminProperties()).contains(topic)) {
            throw new UsageException("topic %s does not exist at %s".formatted(topic, config.bootstrapServers()));
        }
        TopicRecording recording = new TopicRecording(config, topic, shape, mask, periods, wanted);
        try {
            recording.findRange();
        } catch (RuntimeException notThere) {
            recording.close();
            throw notThere;
        }
        return recording;
    }

    private void findRange() {
        List<TopicPartition> partitions = topicReader.partitions(topic);
        topicReader.assign(partitions);
        Map<TopicPartition, Long> ends = topicReader.end();
        if (fromMs != Long.MIN_VALUE) {
            requireRetained();
            firstAtOrAfter(partitions, fromMs)
                    .forEach((partition, first) -> topicReader.beginAt(
                            partition, first == null ? ends.getOrDefault(partition, 0L) : first.offset()));
        }
        if (toMs != Long.MAX_VALUE) {
            firstAtOrAfter(partitions, toMs).forEach((partition, first) -> {
                if (first != null) {
                    topicReader.endAt(partition, first.offset());
                }
            });
        }
    }

    /**
     * Requires that all of the range is retained: one that begins before the oldest record of a partition that has lost
     * some would be of other traffic.
     */
    private void requireRetained() {
        Map<TopicPartition, Long> begin = topicReader.begin();
        List<TopicPartition> cut = begin.entrySet().stream()
                .filter(entry -> entry.getValue() > 0)
                .map(Map.Entry::getKey)
                .toList();
        firstAtOrAfter(cut, 0).forEach((partition, oldest) -> {
            if (oldest == null || oldest.timestamp() > fromMs) {
                throw new UsageException(
                        ("--from = %s: %s has deleted its records before offset %d%s; ask for a later range, "
                                        + "or raise retention.ms before the next recording")
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
        topicReader.consumer().offsetsForTimes(asked).forEach(found::put);
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
        Arrays.fill(read, 0);
        records.rewind();
        RequestParts parts = new RequestParts(request -> take(request, requestReader));
        try (Progress progress = Progress.of(task, topicReader.offsets(), " records")) {
            ConsumerRecord<byte[], byte[]> next;
            while ((next = records.next("no baseline was written, run it again")) != null) {
                take(next, parts);
                progress.advance(1);
            }
            parts.end();
            apart = parts.apart();
        } catch (OffsetOutOfRangeException deleted) {
            throw new IllegalStateException(
                    ("%s deleted records of the range while they were read (%s); no baseline was written, "
                                    + "ask for a later range")
                            .formatted(topic, deleted.getMessage()),
                    deleted);
        }
        if (requests == 0) {
            throw new UsageException("topic %s: no request of site %s in the range; left out: %s; the topic %s"
                    .formatted(topic, site, leftOut.isEmpty() ? "nothing" : leftOut, times()));
        }
        requireEvery();
    }

    /** Requires that none of several periods is empty: a window that was named wrongly would go unnoticed. */
    private void requireEvery() {
        for (int i = 0; i < read.length; i++) {
            if (read[i] == 0) {
                throw new UsageException("topic %s: no request of site %s from %s; left out: %s; the topic %s"
                        .formatted(
                                topic, site, text(periods.get(i)), leftOut.isEmpty() ? "nothing" : leftOut, times()));
            }
        }
    }

    private static String text(Period period) {
        return "%s to %s"
                .formatted(
                        period.begin().equals(Instant.MIN) ? "its beginning" : period.begin(),
                        period.end().equals(Instant.MAX) ? "its end" : period.end());
    }

    /** Returns the times that there are records of, of any site. */
    private String times() {
        List<TopicPartition> partitions = topicReader.partitions(topic);
        OptionalLong oldest = firstAtOrAfter(partitions, 0).values().stream()
                .filter(Objects::nonNull)
                .mapToLong(OffsetAndTimestamp::timestamp)
                .min();
        return oldest.isEmpty() ? "is empty" : "begins at " + Instant.ofEpochMilli(oldest.getAsLong());
    }

    private void take(ConsumerRecord<byte[], byte[]> record, RequestParts parts) throws IOException {
        if (periods.stream().noneMatch(period -> period.holds(record.timestamp()))) {
            leftOut.merge(OUTSIDE_RANGE, 1L, Long::sum);
            return;
        }
        try {
            Ingested ingested = reader.read(record.key(), record.value(), record.headers(), record.timestamp());
            if (ingested instanceof Ingested.Moment) {
                leftOut.merge(MOMENT_RECORD, 1L, Long::sum);
                return;
            }
            if (!(ingested instanceof Ingested.Rows rows)) {
                return; // word of tokens: nothing is left out
            }
            ActivationBlob kept = rows.summed();
            if (kept == null || (mask.needsTokenIds() && kept.tokenIds() == null)) {
                leftOut.merge(DeadLetter.Reason.MISSING_TOKEN_IDS.label(), 1L, Long::sum);
                return;
            }
            if (!parts.add(name(record), record.timestamp(), rows.record(), kept)) {
                leftOut.merge(REPEATED_RECORD, 1L, Long::sum);
            }
        } catch (RecordReader.Refused refused) {
            leftOut.merge(refused.deadLetter().reason().label(), 1L, Long::sum);
        }
    }

    private void take(RequestParts.Whole request, ActivationStream.RequestReader requestReader) throws IOException {
        if (!wanted.test(sameAtEverySite(request))) {
            leftOut.merge(NOT_AT_EVERY_SITE, (long) request.parts().size(), Long::sum);
            return;
        }
        requestReader.read(request.batch());
        requests++;
        for (int i = 0; i < read.length; i++) {
            read[i] += periods.get(i).holds(request.timestampMs()) ? 1 : 0;
        }
    }

    /** Returns what a request has in common at all sites of a model: its time, its rows and its name. */
    private static String sameAtEverySite(RequestParts.Whole request) {
        return "%d %d %s".formatted(request.timestampMs(), request.rows(), request.name());
    }

    private static String name(ConsumerRecord<byte[], byte[]> record) {
        Header request = record.headers().lastHeader("request");
        return request == null || request.value() == null ? "" : new String(request.value(), StandardCharsets.UTF_8);
    }

    /** Returns how many records of the last reading gave no request, by reason. */
    Map<String, Long> leftOut() {
        return Map.copyOf(leftOut);
    }

    /** Returns how many requests of the last reading have the name of an earlier one, {@link RequestParts#apart}. */
    long apart() {
        return apart;
    }

    /** Returns what a baseline of it says it was made of. */
    String describe() {
        return "topic %s, site %s, %s, %s"
                .formatted(
                        topic,
                        site,
                        periods.stream().map(TopicRecording::text).collect(Collectors.joining(", ")),
                        Amounts.count(requests, "request"));
    }

    @Override
    public void close() {
        topicReader.close();
    }
}
