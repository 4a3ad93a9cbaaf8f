package io.plumbline.topology.broker;

import io.plumbline.topology.config.ActivationTopic;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.wire.Printable;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.resource.ResourceType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prepares the topics and their settings. The topics of activations belong to the user and must exist; the others
 * are made where they are missing, those of Kafka Streams included.
 *
 * <p>Records of our own topics carry the broker's time: event time may lie years back (a replay) or ahead (a wrong
 * clock), and a broker would delete the one and refuse the other. The event time stands in the records.
 *
 * <p>Where all topics are there, nothing more is asked than what {@link AccessRole} lists: no right on the cluster,
 * none to create, and of other applications' topics not even that they can be seen.
 */
public final class Topics {

    private static final Logger LOG = LoggerFactory.getLogger(Topics.class);
    private static final int DEFAULT_LARGEST_MESSAGE = 1_000_000;

    private Topics() {}

    /** Settings of the change-logs: they are rewritten at every commit, so compaction must keep up. */
    public static Map<String, String> changelogSettings() {
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
     * The facts about the brokers that the topology must know.
     *
     * @param sourcePartitions partitions of each topic of activations that is seen: the adapter need not see any
     * @param largestDeadLetter bytes that the dead-letter topic and the monitor's producer take in one record
     * @param lostChangelogs change-logs that are gone, or hold nothing, although their group has read what they are of
     */
    public record Prepared(Map<String, Integer> sourcePartitions, int largestDeadLetter, int lostChangelogs) {

        public Prepared {
            sourcePartitions = Map.copyOf(sourcePartitions);
        }

        /** The facts of one topic of activations where every change-log is there, or nothing was read yet. */
        public static Prepared of(String activations, int partitions, int largestDeadLetter) {
            return new Prepared(Map.of(activations, partitions), largestDeadLetter, 0);
        }

        /** Returns the partitions of a topic of activations. */
        public int partitionsOf(String topic) {
            return sourcePartitions.getOrDefault(topic, 0);
        }

        /** Returns the partitions of all topics of activations together. */
        public int allPartitions() {
            return sourcePartitions.values().stream()
                    .mapToInt(Integer::intValue)
                    .sum();
        }
    }

    /**
     * A topic of Plumbline's own that a process reads or writes.
     *
     * @param what what is on it, for people
     * @param readers applications of the process that read it, or whose state it holds
     * @param settings topic settings that differ from a broker's defaults
     */
    public record Used(String name, String what, Set<Application> readers, Map<String, String> settings) {}

    /** Returns the topics that these applications use, change-logs included, without the user's own. */
    public static List<Used> used(MonitorConfig config, Set<Application> applications) {
        return TopicPlan.ofNames(config).usedBy(applications).stream()
                .filter(topic -> !config.isActivationTopic(topic.name()))
                .map(topic -> {
                    Set<Application> readers = new HashSet<>(topic.readers());
                    readers.retainAll(applications);
                    if (topic.name().equals(config.topics().baselines())) {
                        readers.clear(); // no state hangs on it: one that is made anew stops nothing
                    }
                    return new Used(topic.name(), topic.what(), Set.copyOf(readers), topic.settings());
                })
                .toList();
    }

    /** Prepares as {@link #prepare(MonitorConfig, Set)} does, for both applications. */
    public static Prepared prepare(MonitorConfig config) {
        return prepare(config, EnumSet.allOf(Application.class));
    }

    /**
     * Makes missing topics, looks at those there are, and asks whether this principal has the rights the applications
     * need.
     *
     * @throws StartException when the broker cannot be reached, a topic of activations does not exist, a topic is
     *     missing and may not be made, or a right is missing
     */
    public static Prepared prepare(MonitorConfig config, Set<Application> applications) {
        boolean monitors = applications.contains(Application.MONITOR);
        try (TopicClient client = TopicClient.connect(config)) {
            Map<String, TopicDescription> existing = existing(client, config);
            Map<String, Integer> sources = new HashMap<>(partitions(existing));
            sources.keySet().removeIf(topic -> !config.isActivationTopic(topic));
            for (ActivationTopic topic : config.activationTopics()) {
                if (monitors && !sources.containsKey(topic.topic())) {
                    throw new StartException(missingActivations(config, topic.topic()));
                }
            }
            List<TopicPlan.Planned> planned =
                    TopicPlan.of(config, partitions(existing), 1).usedBy(applications);
            List<TopicPlan.Planned> missing = new ArrayList<>(planned);
            missing.removeIf(topic -> existing.containsKey(topic.name()));
            if (sources.isEmpty() && !missing.isEmpty()) {
                throw new StartException(
                        ("topic \"%s\" does not exist or %s may not see it, and how many partitions it gets is"
                                        + " decided by the"
                                        + " activations topic, which it may not see either: create the topics with"
                                        + " `plumbline"
                                        + " topics --create`, or start the monitor first")
                                .formatted(missing.get(0).name(), BrokerRefusal.principal(config)));
            }
            List<LostState.Lost> lost = LostState.find(client, config, planned, existing);
            List<String> refused = client.create(missing, null);
            if (!refused.isEmpty()) {
                throw new StartException(String.join("; ", refused));
            }
            for (LostState.Lost one : lost) {
                LOG.error(
                        "a change-log {}, although its group has read records: the {} is lost. {}: "
                                + "topic={} group={} source={} records={}\nsee PlumblineStateLost in the runbook",
                        one.gone() ? "does not exist" : "holds nothing",
                        one.what(),
                        one.consequence(),
                        one.changelog(),
                        one.group(),
                        one.source(),
                        one.records());
            }
            // Else the first assignment of tasks can lack one, and Kafka Streams warns of it.
            client.awaitSeen(missing.stream().map(TopicPlan.Planned::name).toList());
            requireRights(client, config, applications, existing);
            // Last: of a topic that may not be seen the number of partitions is not known either.
            requirePartitions(planned, existing);
            if (monitors) {
                StartingOffsets.write(
                        client,
                        config,
                        sources.keySet().stream().map(existing::get).toList());
                for (String topic : sources.keySet()) {
                    lossWarnings(client, config, topic).forEach(one -> one.log(topic));
                }
                String baselines = config.topics().baselines();
                historyWarnings(client, baselines).forEach(one -> one.log(baselines));
            }
            return new Prepared(
                    sources,
                    monitors ? Math.min(largestMessage(client, config), StreamsSettings.largestRequest(config)) : 0,
                    lost.size());
        }
    }

    /**
     * Requires as many partitions as before: Kafka Streams would stop with advice that does not fit: its tool for
     * resetting knows nothing of open windows.
     */
    private static void requirePartitions(List<TopicPlan.Planned> planned, Map<String, TopicDescription> existing) {
        List<String> problems = new ArrayList<>();
        for (TopicPlan.Planned topic : planned) {
            TopicDescription found = existing.get(topic.name());
            String problem = found == null ? null : TopicReview.otherPartitions(topic, found);
            if (problem != null) {
                problems.add(problem);
            }
        }
        if (!problems.isEmpty()) {
            throw new StartException(String.join("; ", problems));
        }
    }

    static String missingActivations(MonitorConfig config, String topic) {
        return ("topic \"%s\" does not exist at %s, or %s may not see it: create it (`plumbline topics --create"
                        + " --partitions N`"
                        + " makes all), name another under topics.activations, or grant READ on it")
                .formatted(topic, config.bootstrapServers(), BrokerRefusal.principal(config));
    }

    /** The topics of the plan that there are. */
    static Map<String, TopicDescription> existing(TopicClient client, MonitorConfig config) {
        return client.describe(TopicPlan.ofNames(config).topics().stream()
                .map(TopicPlan.Planned::name)
                .toList());
    }

    static Map<String, Integer> partitions(Map<String, TopicDescription> existing) {
        Map<String, Integer> partitions = new HashMap<>();
        existing.forEach(
                (name, topic) -> partitions.put(name, topic.partitions().size()));
        return partitions;
    }

    /**
     * Asks for the rights before anything starts: Kafka Streams would find out later, one right at a time, and stop.
     */
    private static void requireRights(
            TopicClient client,
            MonitorConfig config,
            Set<Application> applications,
            Map<String, TopicDescription> existing) {
        // All are asked before the first answer is waited for: a new broker takes half a second for some.
        Map<Application, Map<Grant, BooleanSupplier>> asked = new EnumMap<>(Application.class);
        for (Application application : applications) {
            Map<Grant, BooleanSupplier> answers = new LinkedHashMap<>();
            AccessRole.of(config, application).forEach(grant -> answers.put(grant, has(client, grant, existing)));
            asked.put(application, answers);
        }
        List<String> problems = new ArrayList<>();
        asked.forEach((application, answers) -> {
            List<Grant> missing = answers.entrySet().stream()
                    .filter(answer -> !answer.getValue().getAsBoolean())
                    .map(Map.Entry::getKey)
                    .toList();
            if (!missing.isEmpty()) {
                problems.add(BrokerRefusal.missing(config, application, missing));
            }
        });
        if (!problems.isEmpty()) {
            throw new StartException(String.join("; ", problems));
        }
    }

    private static BooleanSupplier has(TopicClient client, Grant grant, Map<String, TopicDescription> existing) {
        if (grant.type() == ResourceType.GROUP) {
            return client.mayUseGroup(grant.name());
        }
        if (grant.type() == ResourceType.TRANSACTIONAL_ID) {
            return client.mayUseTransactionalId(grant.name() + "0");
        }
        TopicDescription topic = existing.get(grant.name());
        if (topic == null || topic.authorizedOperations() == null) {
            return () -> true; // made a moment ago, or by a broker that does not tell
        }
        Set<AclOperation> needed = new HashSet<>(grant.operations());
        needed.remove(AclOperation.DESCRIBE_CONFIGS); // without it large dead letters lose their bytes, and that is all
        return () -> topic.authorizedOperations().containsAll(needed);
    }

    /** Holds what a setting of a topic of activations does to rows, and what to set instead. */
    record LossWarning(String setting, String sentence, String advice) {

        private LossWarning(ConfigEntry setting, String sentence, String advice) {
            this(setting.name() + "=" + setting.value(), sentence, advice);
        }

        private void log(String topic) {
            LOG.warn("{}: topic={} setting={}\n{}", sentence, topic, Printable.value(setting), advice);
        }
    }

    /**
     * Says what will happen to rows and event times that a user may not have meant, and refuses nothing: it may be
     * meant. But it shows in no number later on. Without the right to ask, nothing is said.
     */
    static List<LossWarning> lossWarnings(TopicClient client, MonitorConfig config, String topic) {
        Map<String, Config> settings = client.settings(List.of(topic));
        Config found = settings == null ? null : settings.get(topic);
        List<LossWarning> warnings = new ArrayList<>();
        if (found == null) {
            return warnings;
        }
        ConfigEntry type = found.get(TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG);
        if (type != null && "LogAppendTime".equals(type.value())) {
            warnings.add(new LossWarning(
                    type,
                    "windows are cut by the time of arrival, not by the producer's",
                    "set it to CreateTime to have the latter"));
        }
        ConfigEntry cleanup = found.get(TopicConfig.CLEANUP_POLICY_CONFIG);
        if (cleanup != null && !TopicConfig.CLEANUP_POLICY_DELETE.equals(cleanup.value())) {
            warnings.add(new LossWarning(
                    cleanup,
                    "a row is lost when another of its key follows, read or not, and no counter sees it",
                    "set it to delete"));
        }
        ConfigEntry retention = found.get(TopicConfig.RETENTION_MS_CONFIG);
        if (config.window().idleClose() == null && retention != null && !"-1".equals(retention.value())) {
            warnings.add(new LossWarning(
                    retention,
                    "window.idle_close is off, as for a replay of history, "
                            + "and the broker deletes records whose event time is older than the retention, "
                            + "read or not",
                    "set it to -1 for a replay"));
        }
        return warnings;
    }

    /** Says that a topic of baselines, made by somebody else, forgets. Without the right to ask, nothing is said. */
    static List<LossWarning> historyWarnings(TopicClient client, String topic) {
        Map<String, Config> settings = client.settings(List.of(topic));
        Config found = settings == null ? null : settings.get(topic);
        ConfigEntry cleanup = found == null ? null : found.get(TopicConfig.CLEANUP_POLICY_CONFIG);
        return cleanup == null || TopicConfig.CLEANUP_POLICY_COMPACT.equals(cleanup.value())
                ? List.of()
                : List.of(new LossWarning(
                        cleanup,
                        "the broker deletes which baselines the sites have had when that is old",
                        "set it to compact"));
    }

    /** Returns the largest message of a topic: one made by someone else may take less than ours. */
    private static int largestMessage(TopicClient client, MonitorConfig config) {
        String topic = config.topics().deadLetters();
        Map<String, Config> settings = client.settings(List.of(topic));
        if (settings == null) {
            LOG.warn(
                    "how large a record the topic takes may not be asked, "
                            + "so dead letters above some bytes keep reason and place, not their bytes: "
                            + "principal={} topic={} bytes={}\n"
                            + "grant DESCRIBE_CONFIGS on the topic to keep them",
                    Printable.value(BrokerRefusal.principal(config)),
                    topic,
                    DEFAULT_LARGEST_MESSAGE);
            return DEFAULT_LARGEST_MESSAGE;
        }
        Config found = settings.get(topic);
        ConfigEntry limit = found == null ? null : found.get(TopicConfig.MAX_MESSAGE_BYTES_CONFIG);
        return limit == null || limit.value() == null ? DEFAULT_LARGEST_MESSAGE : Integer.parseInt(limit.value());
    }
}
