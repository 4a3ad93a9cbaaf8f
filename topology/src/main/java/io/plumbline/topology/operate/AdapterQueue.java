package io.plumbline.topology.operate;

import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.kafka.TopicReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Describes what lies between the adapter and a command that it has not answered yet: who reads the partition, and
 * which requests to refit it has not committed. Reads and describes; never fails for what it may not see.
 */
final class AdapterQueue {

    private static final Duration LONGEST = Duration.ofSeconds(3);
    private static final Duration POLL = Duration.ofMillis(100);

    private final Cluster cluster;
    private final TopicPartition partition;
    private final long offset;

    /** A request to refit: its site, and when it was asked for. */
    private record Request(String site, long timestampMs) {

        @Override
        public String toString() {
            return "%s, asked for at %s".formatted(site, Instant.ofEpochMilli(timestampMs));
        }
    }

    /** @param offset of the command */
    AdapterQueue(Cluster cluster, TopicPartition partition, long offset) {
        this.cluster = cluster;
        this.partition = partition;
        this.offset = offset;
    }

    /** Returns one sentence. */
    String describe() {
        String group = cluster.adapter();
        if (group == null) {
            return ("the command is at offset %d of %s; give --config instead of --bootstrap-servers to see what the "
                            + "adapter does")
                    .formatted(offset, partition);
        }
        try {
            return members(group) + "; " + requests(group);
        } catch (KafkaException | IllegalStateException hidden) {
            return "what the adapter does cannot be seen (DESCRIBE on group %s and READ on topic %s show it): %s"
                    .formatted(group, partition.topic(), hidden.getMessage());
        }
    }

    private String members(String group) {
        try (Admin admin = Brokers.connect(cluster.admin())) {
            List<MemberDescription> members = admin
                    .describeConsumerGroups(List.of(group))
                    .all()
                    .get(LONGEST.toSeconds(), TimeUnit.SECONDS)
                    .values()
                    .stream()
                    .flatMap(found -> found.members().stream())
                    .toList();
            String owners = members.stream()
                    .filter(member -> member.assignment().topicPartitions().contains(partition))
                    .map(member -> " (%s at %s)".formatted(member.clientId(), member.host()))
                    .findFirst()
                    .orElse("");
            return members.isEmpty()
                    ? "no adapter %s runs; the next that starts carries the command out".formatted(group)
                    : "adapter %s%s".formatted(group, owners);
        } catch (ExecutionException | TimeoutException unknown) {
            return "adapter %s".formatted(group); // of another group protocol, or the brokers are slow
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    private String requests(String group) {
        List<Request> before = new ArrayList<>();
        Map<String, Object> reading = Map.of(
                ConsumerConfig.GROUP_ID_CONFIG,
                group, // its committed offsets are read; nobody joins
                ConsumerConfig.GROUP_PROTOCOL_CONFIG,
                "classic",
                ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG,
                (int) LONGEST.toMillis());
        boolean whole;
        try (TopicReader reader = TopicReader.open(cluster.consumer(), reading)) {
            reader.assign(List.of(partition));
            OffsetAndMetadata stored =
                    reader.consumer().committed(Set.of(partition)).get(partition);
            reader.beginAt(
                    partition,
                    Math.max(
                            reader.begin().getOrDefault(partition, 0L),
                            stored == null ? 0 : Math.min(stored.offset(), offset)));
            reader.endAt(partition, offset);
            long deadline = System.nanoTime() + LONGEST.toNanos();
            while (!reader.isAtEnd() && System.nanoTime() < deadline) {
                reader.poll(POLL).forEach(record -> take(record, before));
            }
            whole = reader.isAtEnd();
        }
        if (before.isEmpty()) {
            return "no refit lies before the command";
        }
        return ("it works on a refit of %s, and %s%d more lie before the command, which overtakes them: "
                        + "it waits for the refit that runs")
                .formatted(before.get(0), whole ? "" : "at least ", before.size() - 1);
    }

    private void take(ConsumerRecord<byte[], byte[]> record, List<Request> before) {
        if (record.offset() >= offset || record.key() == null || record.value() == null) {
            return;
        }
        AdaptationMessage message = message(record.value());
        if (message instanceof AdaptationMessage.Adapt) {
            before.add(new Request(new String(record.key(), StandardCharsets.UTF_8), record.timestamp()));
        }
    }

    private static @Nullable AdaptationMessage message(byte[] bytes) {
        try {
            return AdaptationMessage.decode(bytes);
        } catch (IllegalArgumentException foreign) {
            return null;
        }
    }
}
