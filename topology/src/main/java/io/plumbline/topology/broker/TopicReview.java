package io.plumbline.topology.broker;

import io.plumbline.judgement.Amounts;
import io.plumbline.topology.config.ActivationTopic;
import io.plumbline.topology.config.MonitorConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.config.TopicConfig;
import org.jspecify.annotations.Nullable;

/**
 * Makes all topics ahead of time, and holds those there are against what Plumbline needs. Changes no topic that exists.
 */
public final class TopicReview {

    private enum Sense {
        SAME,
        AT_LEAST,
        AT_MOST
    }

    private record Rule(Sense sense, String otherwise) {}

    /** Bytes that Kafka's brokers take by default, for which records are made. */
    private static final String LARGEST_RECORD = "1000000";

    private static final String COMPACTION = "compaction falls behind what every commit rewrites, and the disk fills";

    private static final Map<String, Rule> RULES = Map.ofEntries(
            Map.entry(
                    TopicConfig.CLEANUP_POLICY_CONFIG,
                    new Rule(
                            Sense.SAME,
                            "with delete the newest record of a key is lost when it is old: state, or the decoder in"
                                    + " force; with compact a record is lost when another of its key follows, read or"
                                    + " not")),
            Map.entry(
                    TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG,
                    new Rule(
                            Sense.SAME,
                            "activations need the producer's time, which windows are cut by; the others the broker's,"
                                    + " or records of a replay are deleted at once")),
            Map.entry(
                    TopicConfig.RETENTION_MS_CONFIG,
                    new Rule(
                            Sense.AT_LEAST,
                            "records are deleted earlier than they are meant to be, read or not; give activations"
                                    + " more than the longest outage of the monitor")),
            Map.entry(
                    TopicConfig.RETENTION_BYTES_CONFIG,
                    new Rule(Sense.AT_LEAST, "records are deleted as soon as there are too many, read or not")),
            Map.entry(
                    TopicConfig.MAX_MESSAGE_BYTES_CONFIG,
                    new Rule(
                            Sense.AT_LEAST,
                            "larger dead letters keep reason and place, not their bytes, larger reports are left out,"
                                    + " larger moment records are refused, and without its tiles the monitor stops")),
            Map.entry(
                    TopicConfig.UNCLEAN_LEADER_ELECTION_ENABLE_CONFIG,
                    new Rule(Sense.SAME, "a copy that lags behind may become the leader, and what it lacks is lost")),
            Map.entry(
                    TopicConfig.MIN_IN_SYNC_REPLICAS_CONFIG,
                    new Rule(
                            Sense.AT_LEAST,
                            "a record is acknowledged while one copy has it, and lost with the disk of that one")),
            Map.entry(TopicConfig.MIN_CLEANABLE_DIRTY_RATIO_CONFIG, new Rule(Sense.AT_MOST, COMPACTION)),
            Map.entry(TopicConfig.SEGMENT_BYTES_CONFIG, new Rule(Sense.AT_MOST, COMPACTION)),
            Map.entry(TopicConfig.SEGMENT_MS_CONFIG, new Rule(Sense.AT_MOST, COMPACTION)),
            Map.entry(TopicConfig.MAX_COMPACTION_LAG_MS_CONFIG, new Rule(Sense.AT_MOST, COMPACTION)));

    private static final Rule DEFAULT_RULE = new Rule(Sense.SAME, "it was not made by Plumbline, or changed since");

    /**
     * The line of one topic.
     *
     * @param partitions partitions it has, or would be made with
     * @param replication copies of its least copied partition; 0 where it does not exist
     * @param problems one sentence for each difference that matters; none: it is fine
     */
    public record Line(
            String topic, String what, boolean exists, int partitions, int replication, List<String> problems) {

        public Line {
            problems = List.copyOf(problems);
        }
    }

    private TopicReview() {}

    /**
     * Makes the topics that are missing.
     *
     * @param partitions of a topic of activations that is missing; null: all must exist
     * @param replicationFactor null: the broker's default
     * @param largestRecord bytes of the largest record of activations; null: what the broker takes by default
     * @return what was made
     * @throws StartException when the broker cannot be reached or refuses, or a topic of activations is missing and no
     *     number of partitions was given
     */
    public static List<String> create(
            MonitorConfig config,
            @Nullable Integer partitions,
            @Nullable Short replicationFactor,
            @Nullable Long largestRecord) {
        try (TopicClient client = TopicClient.connect(config)) {
            Map<String, TopicDescription> existing = Topics.existing(client, config);
            for (ActivationTopic topic : config.activationTopics()) {
                if (partitions == null && !existing.containsKey(topic.topic())) {
                    throw new StartException(
                            ("topic \"%s\" does not exist at %s: give the number of its partitions with --partitions, "
                                            + "which the others follow")
                                    .formatted(topic.topic(), config.bootstrapServers()));
                }
            }
            List<TopicPlan.Planned> missing = new ArrayList<>(TopicPlan.of(
                            config, Topics.partitions(existing), partitions == null ? 1 : partitions, largestRecord)
                    .topics());
            missing.removeIf(topic -> existing.containsKey(topic.name()));
            List<String> refused = client.create(missing, replicationFactor);
            if (!refused.isEmpty()) {
                throw new StartException(String.join(System.lineSeparator(), refused));
            }
            List<String> names = missing.stream().map(TopicPlan.Planned::name).toList();
            client.awaitSeen(names);
            return names;
        }
    }

    /**
     * Holds every topic against the plan.
     *
     * @param replicationFactor least number of copies; null: any
     * @param largestRecord bytes of the largest record of activations; null: any
     * @throws StartException when the broker cannot be reached or does not tell
     */
    public static List<Line> of(MonitorConfig config, @Nullable Short replicationFactor, @Nullable Long largestRecord) {
        try (TopicClient client = TopicClient.connect(config)) {
            Map<String, TopicDescription> existing = Topics.existing(client, config);
            Map<String, Config> settings = client.settings(existing.keySet());
            if (settings == null) {
                throw new StartException("%s may not ask for the settings of the topics: %s"
                        .formatted(
                                BrokerRefusal.principal(config),
                                "`plumbline topics --acl --role admin` prints the commands that grant what it needs"));
            }
            int brokers = client.brokers();
            List<Line> lines = new ArrayList<>();
            for (TopicPlan.Planned topic : TopicPlan.of(config, Topics.partitions(existing), 1, largestRecord)
                    .topics()) {
                TopicDescription found = existing.get(topic.name());
                lines.add(
                        found == null
                                ? missing(config, topic)
                                : line(config, topic, found, settings.get(topic.name()), replicationFactor, brokers));
            }
            return lines;
        }
    }

    private static Line missing(MonitorConfig config, TopicPlan.Planned topic) {
        return new Line(
                topic.name(),
                topic.what(),
                false,
                topic.partitions(),
                0,
                List.of("topic \"%s\" does not exist at %s, or %s may not see it: `plumbline topics --create` makes it"
                        .formatted(topic.name(), config.bootstrapServers(), BrokerRefusal.principal(config))));
    }

    private static Line line(
            MonitorConfig config,
            TopicPlan.Planned topic,
            TopicDescription found,
            @Nullable Config settings,
            @Nullable Short replicationFactor,
            int brokers) {
        List<String> problems = new ArrayList<>();
        int partitions = found.partitions().size();
        String otherPartitions = otherPartitions(topic, found);
        if (otherPartitions != null) {
            problems.add(otherPartitions);
        }
        int replication = found.partitions().stream()
                .mapToInt(partition -> partition.replicas().size())
                .min()
                .orElse(0);
        if (replicationFactor != null && replication < replicationFactor) {
            problems.add("topic \"%s\" has %d copies, expected %d: kafka-reassign-partitions.sh adds them"
                    .formatted(topic.name(), replication, replicationFactor));
        } else if (replicationFactor == null && replication == 1 && brokers > 1) {
            problems.add(("topic \"%s\" has 1 copy on a cluster of %d brokers: "
                            + "what is on it is lost with the disk of one of them; "
                            + "kafka-reassign-partitions.sh adds copies")
                    .formatted(topic.name(), brokers));
        }
        expected(config, topic, replication).forEach((key, expected) -> {
            ConfigEntry entry = settings == null ? null : settings.get(key);
            String value = entry == null ? null : entry.value();
            Rule rule = RULES.getOrDefault(key, DEFAULT_RULE);
            if (value != null && !satisfies(rule.sense(), value, expected)) {
                problems.add(("topic \"%s\": %s = %s, expected %s%s: %s; kafka-configs.sh --alter --entity-type topics "
                                + "--entity-name %s --add-config %s=%s")
                        .formatted(
                                topic.name(),
                                key,
                                value,
                                words(rule.sense(), expected),
                                expected,
                                rule.otherwise(),
                                topic.name(),
                                key,
                                expected));
            }
        });
        return new Line(topic.name(), topic.what(), true, partitions, replication, problems);
    }

    /**
     * Returns the settings of a topic that can lose something, and what they are to be. Where the topic is made, those
     * that the plan does not name are left to the broker.
     */
    private static Map<String, String> expected(MonitorConfig config, TopicPlan.Planned topic, int replication) {
        Map<String, String> expected = new TreeMap<>();
        boolean isUsers = config.isActivationTopic(topic.name());
        if (TopicConfig.CLEANUP_POLICY_DELETE.equals(topic.settings().get(TopicConfig.CLEANUP_POLICY_CONFIG))) {
            expected.put(TopicConfig.RETENTION_BYTES_CONFIG, "-1");
        }
        if (isUsers) {
            Duration open = config.window().size().plus(config.window().grace());
            expected.put(TopicConfig.RETENTION_MS_CONFIG, Long.toString(open.toMillis()));
        } else {
            expected.put(TopicConfig.MAX_MESSAGE_BYTES_CONFIG, LARGEST_RECORD);
        }
        expected.put(TopicConfig.UNCLEAN_LEADER_ELECTION_ENABLE_CONFIG, "false");
        expected.put(TopicConfig.MIN_IN_SYNC_REPLICAS_CONFIG, replication >= 3 ? "2" : "1");
        expected.putAll(topic.settings());
        return expected;
    }

    /**
     * Returns the sentence for a change-log whose number of partitions is not that of its tasks any more, or for a
     * topic of one partition that has several; null: it is as planned.
     */
    static @Nullable String otherPartitions(TopicPlan.Planned topic, TopicDescription found) {
        int partitions = found.partitions().size();
        if (partitions == topic.partitions()) {
            return null;
        }
        return topic.source() == null
                ? ("topic \"%s\" has %s, expected %d: every instance reads partition 0 alone, and what lies on another "
                                + "is heard by none; it was not made by Plumbline: stop all instances, delete it (%s"
                                + " are lost), and make it by `plumbline topics --create`; "
                                + "kafka-topics.sh --delete --topic %s")
                        .formatted(
                                topic.name(),
                                Amounts.count(partitions, "partition"),
                                topic.partitions(),
                                topic.what(),
                                topic.name())
                : ("topic \"%s\" has %s, expected %d: a change-log has one a task, "
                                + "and with another number the application does not start; "
                                + "stop all instances and delete it (open windows are lost), "
                                + "or write another application_id; kafka-topics.sh --delete --topic %s")
                        .formatted(
                                topic.name(), Amounts.count(partitions, "partition"), topic.partitions(), topic.name());
    }

    private static String words(Sense sense, String expected) {
        return switch (sense) {
            case SAME -> "";
            case AT_LEAST -> limit(expected) == Double.POSITIVE_INFINITY ? "" : "at least ";
            case AT_MOST -> "at most ";
        };
    }

    private static boolean satisfies(Sense sense, String value, String expected) {
        if (value.equals(expected) || sense == Sense.SAME) {
            return value.equals(expected);
        }
        double have = limit(value);
        double want = limit(expected);
        return sense == Sense.AT_LEAST ? have >= want : have <= want;
    }

    /** Returns a limit that Kafka writes as a number, where "for ever" is -1. */
    private static double limit(String value) {
        double number = Double.parseDouble(value);
        return number < 0 ? Double.POSITIVE_INFINITY : number;
    }
}
