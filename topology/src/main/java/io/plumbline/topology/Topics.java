package io.plumbline.topology;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.TopicExistsException;

/**
 * The topics and their settings. The activations topic belongs to the user and must exist; the others are made where they
 * are missing.
 *
 * <p>Records of our own topics carry the broker's time: event time may lie years back (a replay) or ahead (a wrong clock),
 * and a broker would delete the one and refuse the other. The event time stands in the records.
 */
public final class Topics {

    private static final long WAIT_SECONDS = 15;

    /** Told to the client too: closing it waits for what it was asked. */
    private static final int WAIT_MS = (int) (WAIT_SECONDS * 1_000);

    private static final int DEFAULT_LARGEST_MESSAGE = 1_000_000;
    private static final String ONE_DAY_MS = "86400000";
    private static final String THIRTY_DAYS_MS = "2592000000";

    private Topics() {}

    /** Settings of the change-logs: they are rewritten at every commit, so compaction must keep up. */
    static Map<String, String> changelogSettings() {
        return Map.of(
                TopicConfig.MIN_CLEANABLE_DIRTY_RATIO_CONFIG, "0.1",
                TopicConfig.SEGMENT_BYTES_CONFIG, "67108864",
                TopicConfig.SEGMENT_MS_CONFIG, "600000",
                TopicConfig.MAX_COMPACTION_LAG_MS_CONFIG, "600000",
                TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, "LogAppendTime");
    }

    /** Bytes of the largest dead letter where we make the topic: what one fetch of the monitor takes. */
    static final int LARGEST_DEAD_LETTER = 16 * 1024 * 1024;

    /**
     * What the topology must know of the brokers.
     *
     * @param sourcePartitions partitions of the activations topic
     * @param largestDeadLetter bytes that the dead-letter topic and the monitor's producer take in one record
     */
    public record Prepared(int sourcePartitions, int largestDeadLetter) {}

    /**
     * Makes missing topics and looks at those there are.
     *
     * @throws StartException when the broker cannot be reached or the activations topic does not exist
     */
    public static Prepared prepare(MonitorConfig config) {
        try (Admin admin = admin(config)) {
            Map<String, TopicDescription> existing = describe(admin, config);
            TopicDescription activations = existing.get(config.topics().activations());
            if (activations == null) {
                throw new StartException(
                        "topic \"%s\" does not exist at %s: create it, or name another under topics.activations"
                                .formatted(config.topics().activations(), config.bootstrapServers()));
            }
            int partitions = activations.partitions().size();
            List<NewTopic> missing = new ArrayList<>();
            for (NewTopic topic : wanted(config, partitions)) {
                if (!existing.containsKey(topic.name())) {
                    missing.add(topic);
                }
            }
            create(admin, missing);
            return new Prepared(
                    partitions, Math.min(largestMessage(admin, config), StreamsSettings.largestRequest(config)));
        }
    }

    /** A topic made by someone else may take less than ours. */
    private static int largestMessage(Admin admin, MonitorConfig config) {
        ConfigResource topic =
                new ConfigResource(ConfigResource.Type.TOPIC, config.topics().deadLetters());
        try {
            Config settings = admin.describeConfigs(List.of(topic))
                    .all()
                    .get(WAIT_SECONDS, TimeUnit.SECONDS)
                    .get(topic);
            ConfigEntry limit = settings == null ? null : settings.get(TopicConfig.MAX_MESSAGE_BYTES_CONFIG);
            return limit == null || limit.value() == null ? DEFAULT_LARGEST_MESSAGE : Integer.parseInt(limit.value());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StartException("interrupted while asking the broker for the settings of " + topic.name());
        } catch (ExecutionException | TimeoutException e) {
            // Asking takes a right of its own. Every broker takes this much unless told otherwise.
            return DEFAULT_LARGEST_MESSAGE;
        }
    }

    private static Admin admin(MonitorConfig config) {
        try {
            return Admin.create(Map.<String, Object>copyOf(config.adminProperties()));
        } catch (KafkaException e) {
            throw new StartException("no client for kafka.bootstrap.servers = %s can be made: %s"
                    .formatted(config.bootstrapServers(), message(e)));
        }
    }

    private static List<NewTopic> wanted(MonitorConfig config, int partitions) {
        TopicNames names = config.topics();
        return List.of(
                pipe(names.moments(), partitions),
                pipe(names.adaptationRequests(), partitions),
                topic(names.windowReports(), partitions, Map.of(TopicConfig.RETENTION_MS_CONFIG, THIRTY_DAYS_MS)),
                topic(names.adaptationReports(), partitions, Map.of(TopicConfig.RETENTION_MS_CONFIG, THIRTY_DAYS_MS)),
                topic(
                        names.deadLetters(),
                        partitions,
                        Map.of(
                                TopicConfig.RETENTION_MS_CONFIG,
                                THIRTY_DAYS_MS,
                                TopicConfig.MAX_MESSAGE_BYTES_CONFIG,
                                Integer.toString(LARGEST_DEAD_LETTER))),
                topic(
                        names.decoders(),
                        1,
                        Map.of(TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.CLEANUP_POLICY_COMPACT)));
    }

    private static NewTopic pipe(String name, int partitions) {
        return topic(name, partitions, Map.of(TopicConfig.RETENTION_MS_CONFIG, ONE_DAY_MS));
    }

    private static NewTopic topic(String name, int partitions, Map<String, String> settings) {
        Map<String, String> all = new HashMap<>(settings);
        all.put(TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, "LogAppendTime");
        return new NewTopic(name, Optional.of(partitions), Optional.empty()).configs(all);
    }

    private static Map<String, TopicDescription> describe(Admin admin, MonitorConfig config) {
        Map<String, TopicDescription> found = new HashMap<>();
        try {
            var names = admin.listTopics(new ListTopicsOptions().timeoutMs(WAIT_MS))
                    .names()
                    .get(WAIT_SECONDS, TimeUnit.SECONDS);
            List<String> ours = new ArrayList<>();
            for (NewTopic topic : wanted(config, 1)) {
                ours.add(topic.name());
            }
            ours.add(config.topics().activations());
            ours.retainAll(names);
            found.putAll(admin.describeTopics(ours, new DescribeTopicsOptions().timeoutMs(WAIT_MS))
                    .allTopicNames()
                    .get(WAIT_SECONDS, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StartException("interrupted while asking the broker for its topics");
        } catch (ExecutionException | TimeoutException e) {
            throw unreachable(config, e);
        }
        return found;
    }

    private static void create(Admin admin, List<NewTopic> missing) {
        for (Map.Entry<String, org.apache.kafka.common.KafkaFuture<Void>> made : admin.createTopics(
                        missing, new CreateTopicsOptions().timeoutMs(WAIT_MS))
                .values()
                .entrySet()) {
            try {
                made.getValue().get(WAIT_SECONDS, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new StartException("interrupted while creating topic " + made.getKey());
            } catch (ExecutionException | TimeoutException e) {
                if (!(e.getCause() instanceof TopicExistsException)) {
                    throw new StartException("topic \"%s\" cannot be created: %s".formatted(made.getKey(), message(e)));
                }
            }
        }
    }

    private static StartException unreachable(MonitorConfig config, Exception e) {
        return new StartException("no answer from the broker at kafka.bootstrap.servers = %s within %d s: %s"
                .formatted(config.bootstrapServers(), WAIT_SECONDS, message(e)));
    }

    private static String message(Exception e) {
        Throwable cause = e.getCause() == null ? e : e.getCause();
        return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    }
}
