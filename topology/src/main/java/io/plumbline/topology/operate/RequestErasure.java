package io.plumbline.topology.operate;

import io.plumbline.topology.broker.Application;
import io.plumbline.topology.broker.Topics;
import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.config.ActivationTopic;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.erasure.ErasedState;
import io.plumbline.topology.erasure.RequestTrace;
import io.plumbline.topology.kafka.TopicReader;
import io.plumbline.topology.windows.WindowStage;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;

/**
 * Finds the records that hold one request, and erases them while the applications are stopped.
 *
 * <p>Kafka deletes no single record, only all up to an offset. So of change-logs and dead letters what stays is written
 * once more behind the end, and all before it is deleted: nothing waits for compaction, and Kafka Streams restores from
 * the copies. Of topics that an application has read what lies before its place is deleted, up to the last record that
 * holds the request.
 *
 * <p>Every step can be repeated: one that was cut short leaves the copies of a state twice, which restore to the same,
 * or letters twice. One thread.
 */
final class RequestErasure implements AutoCloseable {

    /** The group whose memory of sent letters moves with the letters. */
    static final String REPLAY_GROUP = "plumbline-replay";

    private static final String LARGEST_REQUEST = Integer.toString(32 << 20);
    private static final String INSTEAD = "run it again";
    private static final Duration ALLOWED_WITHIN = Duration.ofSeconds(20);
    private static final Duration PAUSE = Duration.ofMillis(100);

    /** Says how a topic is erased. */
    enum Kind {
        /** Entries of a change-log, written anew without the request. */
        STATE,
        /** Dead letters; those of other requests are written anew. */
        LETTERS,
        /** Records that an application has read and nobody else needs. */
        PASSED_ON,
        /** Rows and reports for others: deleted where the caller says so. */
        FOR_OTHERS,
        /** Decoders and versions: only read, for they hold on, and a compacted topic takes no deletion. */
        PUBLISHED,
        /** A change-log of panes that a tenant who is gone left behind, or another application's: only read. */
        UNUSED_STATE
    }

    /**
     * A topic that may hold the request.
     *
     * @param group that reads it; null: no application does
     * @param settings that it is to have
     */
    record Place(String topic, Kind kind, @Nullable String group, Map<String, String> settings) {}

    /** The records of one partition that hold the request. */
    record Found(long records, long last, long newestMs) {
        private Found plus(Found other) {
            return new Found(records + other.records, Math.max(last, other.last), Math.max(newestMs, other.newestMs));
        }
    }

    private final MonitorConfig config;
    private final RequestTrace request;
    private final Set<String> truncated;
    private final Admin admin;

    /** @param truncated topics for others that are deleted up to the last record that holds the request */
    RequestErasure(MonitorConfig config, RequestTrace request, Set<String> truncated) {
        this.config = config;
        this.request = request;
        this.truncated = truncated;
        admin = Brokers.connect(config.adminProperties());
    }

    /** Returns the topics of this configuration that there are, in the order a record meets them. */
    List<Place> places() {
        Set<String> existing = Brokers.topics(config.adminProperties());
        List<Place> places = new ArrayList<>();
        for (ActivationTopic topic : config.activationTopics()) {
            places.add(new Place(topic.topic(), Kind.FOR_OTHERS, config.monitorApplicationId(), Map.of()));
        }
        for (Topics.Used used : Topics.used(config, EnumSet.allOf(Application.class))) {
            String group = group(used);
            places.add(new Place(used.name(), kind(used.name(), group), group, used.settings()));
        }
        Set<String> known = places.stream().map(Place::topic).collect(Collectors.toSet());
        existing.stream()
                .filter(topic -> topic.startsWith(config.monitorApplicationId() + "-")
                        && topic.endsWith("-" + WindowStage.PANES_STORE + "-changelog")
                        && !known.contains(topic))
                .sorted()
                .forEach(topic -> places.add(new Place(topic, Kind.UNUSED_STATE, null, Map.of())));
        return places.stream().filter(place -> existing.contains(place.topic())).toList();
    }

    /** Returns the group that reads a topic; null where none does: decoders and versions are followed without one. */
    private @Nullable String group(Topics.Used used) {
        if (used.readers().size() != 1 || used.name().equals(config.topics().baselines())) {
            return null;
        }
        return used.readers().contains(Application.MONITOR)
                ? config.monitorApplicationId()
                : config.adapterApplicationId();
    }

    private Kind kind(String topic, @Nullable String group) {
        if (topic.equals(config.topics().deadLetters())) {
            return Kind.LETTERS;
        }
        if (group == null) {
            return isOfReports(topic) ? Kind.FOR_OTHERS : Kind.PUBLISHED;
        }
        return topic.endsWith("-changelog") ? Kind.STATE : Kind.PASSED_ON;
    }

    /**
     * Reads topics as they lie on the brokers, records of given-up transactions among them.
     *
     * @return the partitions that hold the request, for each topic
     */
    Map<Place, Map<TopicPartition, Found>> find(List<Place> places) {
        Map<Place, Map<TopicPartition, Found>> found = new LinkedHashMap<>();
        Map<String, Place> byTopic = new HashMap<>();
        places.forEach(place -> {
            found.put(place, new HashMap<>());
            byTopic.put(place.topic(), place);
        });
        Map<String, String> raw = Map.of("isolation.level", "read_uncommitted", "auto.offset.reset", "earliest");
        try (TopicReader reader = TopicReader.open(config.subscriberProperties(), raw)) {
            reader.assign(byTopic.keySet().stream()
                    .flatMap(topic -> reader.partitions(topic).stream())
                    .toList());
            reader.toEnd(INSTEAD, record -> {
                Place place = Objects.requireNonNull(byTopic.get(record.topic()));
                if (isIn(place, record)) {
                    found.getOrDefault(place, new HashMap<>())
                            .merge(
                                    new TopicPartition(record.topic(), record.partition()),
                                    new Found(1, record.offset(), record.timestamp()),
                                    Found::plus);
                }
            });
        }
        return found;
    }

    private boolean isIn(Place place, ConsumerRecord<byte[], byte[]> record) {
        if (place.kind() == Kind.UNUSED_STATE) {
            return request.isHashedIn(record.value()); // an entry of another version too
        }
        if (place.kind() == Kind.STATE) {
            return request.isHashedIn(record.value()) || (record.value() != null && without(record) != record.value());
        }
        return request.isIn(record) || (isOfReports(place.topic()) && request.isNamedIn(record.value()));
    }

    private boolean isOfReports(String topic) {
        return topic.equals(config.topics().windowReports())
                || topic.equals(config.topics().adaptationReports());
    }

    private byte[] without(ConsumerRecord<byte[], byte[]> record) {
        return ErasedState.without(record.topic(), record.key(), record.value(), request);
    }

    /** @throws UsageException while an instance of either application runs */
    void requireStopped() {
        for (String group : List.of(config.monitorApplicationId(), config.adapterApplicationId())) {
            try (GroupPlaces places = GroupPlaces.of(config, group)) {
                places.requireStopped();
            }
        }
    }

    /** Erases what was found, as far as it may be. */
    void erase(Place place, Map<TopicPartition, Found> found) {
        switch (place.kind()) {
            case STATE -> rewrite(place, found.keySet());
            case LETTERS -> rewrite(place, found.keySet());
            case PASSED_ON -> truncate(place, found);
            case FOR_OTHERS -> {
                if (truncated.contains(place.topic())) {
                    truncate(place, found);
                }
            }
            case PUBLISHED, UNUSED_STATE -> {} // who keeps the latter may be running
        }
    }

    /** Deletes up to the last record that holds the request, and nothing that the application has yet to read. */
    private void truncate(Place place, Map<TopicPartition, Found> found) {
        Map<TopicPartition, Long> read = place.group() == null ? Map.of() : next(place.group(), place.topic());
        found.forEach((partition, records) ->
                delete(partition, Math.min(records.last() + 1, read.getOrDefault(partition, Long.MAX_VALUE))));
    }

    /** Returns whether an application has yet to read one of the records. */
    boolean isUnread(Place place, Map<TopicPartition, Found> found) {
        if (place.group() == null || place.kind() == Kind.STATE) {
            return false;
        }
        Map<TopicPartition, Long> read = next(place.group(), place.topic());
        return found.entrySet().stream()
                .anyMatch(one -> one.getValue().last() >= read.getOrDefault(one.getKey(), Long.MAX_VALUE));
    }

    private Map<TopicPartition, Long> next(String group, String topic) {
        Map<TopicPartition, Long> next = new HashMap<>();
        try (GroupPlaces places = GroupPlaces.of(config, group)) {
            places.places(topic).forEach(place -> next.put(place.partition(), place.next()));
        }
        return next;
    }

    private void delete(TopicPartition partition, long before) {
        allowed(
                () -> admin.deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(before)))
                        .all(),
                Instant.now().plus(ALLOWED_WITHIN));
    }

    /** Asks again while the policy of a topic forbids it: the leader takes a new one after the broker has answered. */
    static <T> T allowed(Supplier<Future<T>> step, Instant until) {
        while (true) {
            try {
                return answer(step.get());
            } catch (IllegalStateException refused) {
                boolean forbidden = refused.getCause() instanceof ExecutionException cause
                        && cause.getCause() instanceof PolicyViolationException;
                if (!forbidden || Instant.now().isAfter(until)) {
                    throw refused;
                }
                LockSupport.parkNanos(PAUSE.toNanos());
            }
        }
    }

    /** Writes what stays of these partitions behind their ends, and deletes everything before. */
    private void rewrite(Place place, Collection<TopicPartition> partitions) {
        Map<TopicPartition, Long> ends = new HashMap<>();
        for (TopicPartition partition : partitions) {
            ends.put(partition, copy(place, partition));
        }
        if (place.kind() == Kind.LETTERS) {
            ends.forEach(this::delete);
            return;
        }
        // The broker deletes no records of a topic that is only compacted. None is to age meanwhile.
        alter(
                place.topic(),
                Map.of(
                        TopicConfig.CLEANUP_POLICY_CONFIG, "compact,delete",
                        TopicConfig.RETENTION_MS_CONFIG, "-1",
                        TopicConfig.RETENTION_BYTES_CONFIG, "-1"));
        try {
            ends.forEach(this::delete);
        } finally {
            // Not what was read before: a run that was killed here left its own.
            Map<String, @Nullable String> back = new LinkedHashMap<>();
            for (String name : List.of(
                    TopicConfig.CLEANUP_POLICY_CONFIG,
                    TopicConfig.RETENTION_MS_CONFIG,
                    TopicConfig.RETENTION_BYTES_CONFIG)) {
                back.put(name, place.settings().get(name));
            }
            alter(place.topic(), back);
        }
    }

    /** Copies what stays of one partition behind its end, and returns where it ended. */
    private long copy(Place place, TopicPartition partition) {
        try (TopicReader reader = TopicReader.open(config.subscriberProperties(), Map.of());
                Producer<byte[], byte[]> producer = producer()) {
            reader.assign(List.of(partition));
            long end = reader.end().getOrDefault(partition, 0L);
            Map<Bytes, Long> newest = new HashMap<>();
            if (place.kind() == Kind.STATE) {
                reader.toEnd(INSTEAD, record -> {
                    if (record.value() == null) {
                        newest.remove(Bytes.wrap(record.key()));
                    } else {
                        newest.put(Bytes.wrap(record.key()), record.offset());
                    }
                });
                reader.rewind();
            }
            TreeMap<Long, Future<RecordMetadata>> copies = new TreeMap<>();
            reader.toEnd(INSTEAD, record -> {
                byte[] kept = record.value();
                boolean stays = !isIn(place, record);
                if (place.kind() == Kind.STATE) {
                    stays = Long.valueOf(record.offset()).equals(newest.get(Bytes.wrap(record.key())));
                    kept = stays ? without(record) : kept;
                    if (stays && request.isHashedIn(kept)) {
                        throw new IllegalStateException(
                                "%s@%d still holds the request after its rows were taken out; nothing was deleted of it"
                                        .formatted(partition, record.offset()));
                    }
                }
                if (stays) {
                    copies.put(
                            record.offset(),
                            producer.send(new ProducerRecord<>(
                                    partition.topic(),
                                    partition.partition(),
                                    record.timestamp(),
                                    record.key(),
                                    kept,
                                    record.headers())));
                }
            });
            producer.flush();
            Map<Long, Long> moved = new TreeMap<>();
            for (Map.Entry<Long, Future<RecordMetadata>> one : copies.entrySet()) {
                long offset = answer(one.getValue()).offset();
                if (offset != end + moved.size()) {
                    throw new IllegalStateException(
                            ("%s got a record at %d from somebody else while it was copied, or holds a transaction that"
                                            + " is not decided; nothing was deleted of it. Stop everything that writes"
                                            + " it and erase again")
                                    .formatted(partition, end + moved.size()));
                }
                moved.put(one.getKey(), offset);
            }
            if (place.kind() == Kind.LETTERS) {
                moveSent(partition, end, moved);
            }
            return end;
        }
    }

    /** Has the group of the replay remember the copies of the letters it has sent. */
    private void moveSent(TopicPartition partition, long end, Map<Long, Long> moved) {
        OffsetAndMetadata committed = answer(
                        admin.listConsumerGroupOffsets(REPLAY_GROUP).partitionsToOffsetAndMetadata())
                .get(partition);
        if (committed != null) {
            SentOffsets before = SentOffsets.of(committed);
            SentOffsets after = SentOffsets.none(end);
            moved.forEach((old, now) -> {
                if (before.contains(old)) {
                    after.add(now, now + 1);
                }
            });
            answer(admin.alterConsumerGroupOffsets(REPLAY_GROUP, Map.of(partition, after.committed()))
                    .all());
        }
    }

    private Producer<byte[], byte[]> producer() {
        Map<String, Object> properties = new TreeMap<>(Map.of("max.request.size", LARGEST_REQUEST));
        properties.putAll(config.producerProperties());
        properties.remove("transactional.id");
        properties.put("acks", "all");
        properties.put("enable.idempotence", "true");
        return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** @param settings null: the broker's default */
    private void alter(String topic, Map<String, ? extends @Nullable String> settings) {
        List<AlterConfigOp> changes = new ArrayList<>();
        settings.forEach((name, value) -> changes.add(new AlterConfigOp(
                new ConfigEntry(name, value == null ? "" : value), value == null ? OpType.DELETE : OpType.SET)));
        answer(admin.incrementalAlterConfigs(Map.of(new ConfigResource(ConfigResource.Type.TOPIC, topic), changes))
                .all());
    }

    private static <T> T answer(Future<T> future) {
        try {
            return future.get(3 * Brokers.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException refused) {
            throw new IllegalStateException(
                    "the broker refused a step of the erasure: %s; erase again"
                            .formatted(
                                    refused.getCause() == null
                                            ? refused
                                            : refused.getCause().getMessage()),
                    refused);
        } catch (TimeoutException silent) {
            throw new IllegalStateException("no answer from the broker; erase again", silent);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while erasing; erase again", interrupted);
        }
    }

    @Override
    public void close() {
        admin.close();
    }
}
