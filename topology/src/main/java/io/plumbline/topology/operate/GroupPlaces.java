package io.plumbline.topology.operate;

import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.config.MonitorConfig;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnknownMemberIdException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * Reads where an application goes on reading a topic, and moves that place while the application is stopped.
 *
 * <p>Kafka Streams keeps its event time in the metadata of what it commits: it is written back as it was, unlike what
 * {@code kafka-consumer-groups.sh --reset-offsets} leaves.
 */
final class GroupPlaces implements AutoCloseable {

    /**
     * The place of the group in one partition.
     *
     * @param next the offset the group reads next
     * @param end the offset after the last record there
     * @param metadata what the group keeps beside {@code next}
     */
    record Place(TopicPartition partition, long next, long end, String metadata) {

        long waiting() {
            return Math.max(0, end - next);
        }
    }

    private final Admin admin;
    private final String group;
    private final String servers;

    private GroupPlaces(Admin admin, String group, String servers) {
        this.admin = admin;
        this.group = group;
        this.servers = servers;
    }

    static GroupPlaces of(MonitorConfig config, String group) {
        return new GroupPlaces(
                Admin.create(Map.<String, Object>copyOf(config.adminProperties())), group, config.bootstrapServers());
    }

    String group() {
        return group;
    }

    /** Returns the partitions of a topic, ascending; what was never committed is read from its first record on. */
    List<Place> places(String topic) {
        List<TopicPartition> partitions = partitions(topic);
        Map<TopicPartition, OffsetSpec> first = new HashMap<>();
        Map<TopicPartition, OffsetSpec> last = new HashMap<>();
        partitions.forEach(partition -> {
            first.put(partition, OffsetSpec.earliest());
            last.put(partition, OffsetSpec.latest());
        });
        Map<TopicPartition, ListOffsetsResultInfo> firsts =
                answer(admin.listOffsets(first).all());
        Map<TopicPartition, ListOffsetsResultInfo> ends =
                answer(admin.listOffsets(last).all());
        // Stable: an offset in a transaction that is not decided yet would later undo what is written here.
        Map<TopicPartition, OffsetAndMetadata> committed = answer(admin.listConsumerGroupOffsets(
                        Map.of(group, new ListConsumerGroupOffsetsSpec().topicPartitions(partitions)),
                        new ListConsumerGroupOffsetsOptions().requireStable(true))
                .partitionsToOffsetAndMetadata(group));
        List<Place> places = new ArrayList<>();
        for (TopicPartition partition : partitions) {
            OffsetAndMetadata stored = committed.get(partition);
            long beginning = offset(firsts, partition);
            places.add(new Place(
                    partition,
                    stored == null ? beginning : Math.max(beginning, stored.offset()),
                    offset(ends, partition),
                    stored == null ? "" : stored.metadata()));
        }
        return places;
    }

    private static long offset(Map<TopicPartition, ListOffsetsResultInfo> found, TopicPartition partition) {
        ListOffsetsResultInfo info = found.get(partition);
        return info == null ? 0 : info.offset();
    }

    private List<TopicPartition> partitions(String topic) {
        try {
            return answer(admin.describeTopics(List.of(topic)).allTopicNames()).values().stream()
                    .flatMap(found -> found.partitions().stream())
                    .map(info -> new TopicPartition(topic, info.partition()))
                    .sorted(Comparator.comparingInt(TopicPartition::partition))
                    .toList();
        } catch (KafkaException refused) {
            if (refused instanceof UnknownTopicOrPartitionException) {
                throw new UsageException("topic %s does not exist at %s".formatted(topic, servers));
            }
            throw refused;
        }
    }

    /** @throws UsageException while a member of the group lives, or one that died is not given up yet */
    void requireStopped() {
        for (GroupListing listing : answer(admin.listGroups().all())) {
            GroupState state = listing.groupState().orElse(GroupState.UNKNOWN);
            if (listing.groupId().equals(group) && state != GroupState.EMPTY && state != GroupState.DEAD) {
                throw running(state.toString());
            }
        }
    }

    private UsageException running(String state) {
        return new UsageException(
                ("group %s is %s: stop every instance of it first, one that was killed is given up after its session "
                                + "(45 s). Nothing was changed")
                        .formatted(group, state));
    }

    /** Moves one partition and nothing else. */
    void move(Place place, long next) {
        try {
            answer(admin.alterConsumerGroupOffsets(
                            group, Map.of(place.partition(), new OffsetAndMetadata(next, place.metadata())))
                    .all());
        } catch (UnknownMemberIdException started) {
            throw running("in use");
        }
    }

    private <T> T answer(KafkaFuture<T> future) {
        try {
            return future.get(Brokers.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException refused) {
            if (refused.getCause() instanceof KafkaException known) {
                throw known;
            }
            throw new IllegalStateException(String.valueOf(refused.getMessage()), refused);
        } catch (TimeoutException silent) {
            throw new NoBrokerException(
                    ("no answer from the broker at %s within %d s, or a transaction of group %s is not decided yet: "
                                    + "wait for its transaction.timeout.ms (60 s) and try again")
                            .formatted(servers, Brokers.PATIENCE.toSeconds(), group),
                    silent);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while asking the broker", interrupted);
        }
    }

    @Override
    public void close() {
        admin.close();
    }
}
