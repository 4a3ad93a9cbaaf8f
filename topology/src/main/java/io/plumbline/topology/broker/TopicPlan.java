package io.plumbline.topology.broker;

import io.plumbline.topology.adaptation.AdapterTask;
import io.plumbline.topology.assessment.WindowAssessor;
import io.plumbline.topology.config.ActivationTopic;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.config.TopicNames;
import io.plumbline.topology.emission.DecoderEmitter;
import io.plumbline.topology.kafka.NextOffsets.Input;
import io.plumbline.topology.models.ModelStage;
import io.plumbline.topology.windows.WindowStage;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.streams.StreamsConfig;
import org.jspecify.annotations.Nullable;

/**
 * Plans every topic Plumbline uses, with partitions and settings, and says which application reads and writes it. Tests
 * hold the list to the two topologies, and to the topics that Kafka Streams makes by itself.
 */
final class TopicPlan {

    private static final String ONE_DAY_MS = "86400000";
    private static final String THIRTY_DAYS_MS = "2592000000";

    /** Stores with a change-log, by the topic that their sub-topology reads; the order is that of the plan. */
    static List<String> storesOf(ActivationTopic topic) {
        return List.of(topic.named(WindowStage.PANES_STORE), new Input(topic.named(Input.ACTIVATIONS.label())).store());
    }

    static final List<String> STORES_OF_MOMENTS =
            List.of(WindowAssessor.DECISIONS_STORE, WindowStage.WINDOWS_STORE, Input.MOMENTS.store());
    static final List<String> STORES_OF_MODELS = List.of(ModelStage.MODELS_STORE, Input.MODEL_WINDOWS.store());
    static final List<String> STORES_OF_REQUESTS = List.of(
            DecoderEmitter.VERSIONS_STORE,
            AdapterTask.PARTS_STORE,
            AdapterTask.POOLS_STORE,
            AdapterTask.SWAPS_STORE,
            Input.ADAPTATION_REQUESTS.store());

    /**
     * A topic of the plan.
     *
     * @param what what is on it, for people
     * @param settings topic settings that differ from a broker's defaults
     * @param readers applications that read it
     * @param writers applications that write it
     * @param source of a change-log, the topic whose records its state is made of; null of any other
     */
    record Planned(
            String name,
            String what,
            int partitions,
            Map<String, String> settings,
            Set<Application> readers,
            Set<Application> writers,
            @Nullable String source) {

        boolean isUsedBy(Application application) {
            return readers.contains(application) || writers.contains(application);
        }
    }

    private final Map<String, Planned> byName = new LinkedHashMap<>();
    private final MonitorConfig config;
    private final Map<String, Integer> existing;
    private final int activations;
    private final int most;
    private final @Nullable Long largestRecord;

    private TopicPlan(
            MonitorConfig config,
            Map<String, Integer> existing,
            int activations,
            int most,
            @Nullable Long largestRecord) {
        this.config = config;
        this.existing = existing;
        this.activations = activations;
        this.most = most;
        this.largestRecord = largestRecord;
    }

    /** The plan's names, readers and writers, which no broker is needed for. */
    static TopicPlan ofNames(MonitorConfig config) {
        return of(config, Map.of(), 1);
    }

    /**
     * The whole plan.
     *
     * @param existing partitions of the topics that there are: a topic keeps what it has, and change-logs follow it
     * @param activations partitions of a topic of activations that is not among them
     */
    static TopicPlan of(MonitorConfig config, Map<String, Integer> existing, int activations) {
        return of(config, existing, activations, null);
    }

    /**
     * The whole plan of a monitor that takes moment records.
     *
     * @param largestRecord bytes of the largest record of activations; null: as many as the broker takes by default
     */
    static TopicPlan of(
            MonitorConfig config, Map<String, Integer> existing, int activations, @Nullable Long largestRecord) {
        int most = config.activationTopics().stream()
                .mapToInt(topic -> existing.getOrDefault(topic.topic(), activations))
                .max()
                .orElse(activations);
        TopicPlan plan = new TopicPlan(config, existing, activations, most, largestRecord);
        plan.named();
        plan.changelogs();
        return plan;
    }

    /** Returns the topics in the order a record meets them, the change-logs last. */
    List<Planned> topics() {
        return List.copyOf(byName.values());
    }

    /** Returns the topics that any of {@code applications} reads or writes. */
    List<Planned> usedBy(Set<Application> applications) {
        return topics().stream()
                .filter(topic -> applications.stream().anyMatch(topic::isUsedBy))
                .toList();
    }

    private void named() {
        TopicNames names = config.topics();
        Set<Application> monitor = Set.of(Application.MONITOR);
        Set<Application> adapter = Set.of(Application.ADAPTER);
        Set<Application> nobody = Set.of();
        Map<String, String> eventTime = new HashMap<>();
        eventTime.put(TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, "CreateTime");
        // Said of every topic that is not compacted: a broker's own default may be another.
        eventTime.put(TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.CLEANUP_POLICY_DELETE);
        if (largestRecord != null) {
            eventTime.put(TopicConfig.MAX_MESSAGE_BYTES_CONFIG, Long.toString(largestRecord));
        }
        Map<String, String> oneDay = ours(TopicConfig.RETENTION_MS_CONFIG, ONE_DAY_MS);
        Map<String, String> thirtyDays = ours(TopicConfig.RETENTION_MS_CONFIG, THIRTY_DAYS_MS);
        Map<String, String> letters = new HashMap<>(thirtyDays);
        letters.put(TopicConfig.MAX_MESSAGE_BYTES_CONFIG, Integer.toString(Topics.LARGEST_DEAD_LETTER));
        for (ActivationTopic topic : config.activationTopics()) {
            add(topic.topic(), "rows from the model servers", activations, eventTime, monitor, nobody);
        }
        add(names.moments(), "tiles of closed panes", most, oneDay, monitor, monitor);
        add(names.windowReports(), "one report a site and window", most, thirtyDays, nobody, monitor);
        if (!config.models().isEmpty()) {
            add(names.modelWindows(), "how the sites of a model stand", most, oneDay, monitor, monitor);
        }
        add(names.adaptationRequests(), "drifted windows, to be refitted", most, oneDay, adapter, monitor);
        add(names.adaptationReports(), "what was fitted, published or refused", most, thirtyDays, nobody, adapter);
        add(names.deadLetters(), "records that could not be used", most, letters, nobody, monitor);
        // Both applications follow what was published, outside Kafka Streams.
        add(
                names.decoders(),
                "published decoders",
                1,
                ours(TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.CLEANUP_POLICY_COMPACT),
                EnumSet.allOf(Application.class),
                adapter);
        // FollowedTopic reads these two, of one partition, whatever there is. The first is kept for ever: some hundred
        // bytes a change.
        put(
                names.configuration(),
                "versions of the configuration",
                1,
                ours(TopicConfig.RETENTION_MS_CONFIG, "-1"),
                EnumSet.allOf(Application.class),
                monitor);
        put(
                names.baselines(),
                "versions of the sites' baselines",
                1,
                ours(TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.CLEANUP_POLICY_COMPACT),
                monitor,
                monitor);
    }

    private static Map<String, String> ours(String key, String value) {
        Map<String, String> settings = new HashMap<>();
        settings.put(TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.CLEANUP_POLICY_DELETE);
        settings.put(TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, "LogAppendTime");
        settings.put(key, value);
        return settings;
    }

    private void add(
            String name,
            String what,
            int partitions,
            Map<String, String> settings,
            Set<Application> readers,
            Set<Application> writers) {
        put(name, what, existing.getOrDefault(name, partitions), settings, readers, writers);
    }

    private void put(
            String name,
            String what,
            int partitions,
            Map<String, String> settings,
            Set<Application> readers,
            Set<Application> writers) {
        byName.put(
                name,
                new Planned(
                        name, what, partitions, Map.copyOf(settings), Set.copyOf(readers), Set.copyOf(writers), null));
    }

    /** Plans a change-log with one partition a task: as many as the topic has that the store's sub-topology reads. */
    private void changelogs() {
        TopicNames names = config.topics();
        for (ActivationTopic topic : config.activationTopics()) {
            storesOf(topic).forEach(store -> changelog(Application.MONITOR, store, topic.topic()));
        }
        STORES_OF_MOMENTS.forEach(store -> changelog(Application.MONITOR, store, names.moments()));
        if (!config.models().isEmpty()) {
            STORES_OF_MODELS.forEach(store -> changelog(Application.MONITOR, store, names.modelWindows()));
        }
        STORES_OF_REQUESTS.forEach(store -> changelog(Application.ADAPTER, store, names.adaptationRequests()));
    }

    private void changelog(Application application, String store, String source) {
        String name = "%s-%s-changelog".formatted(application.id(config), store);
        Map<String, String> settings = common(application);
        settings.putAll(Topics.changelogSettings());
        Planned read = byName.get(source);
        if (read == null) {
            throw new IllegalStateException("topic \"%s\" is not planned".formatted(source));
        }
        Set<Application> owner = Set.of(application);
        // What a change-log has cannot be right by itself: it has to fit the tasks.
        byName.put(
                name,
                new Planned(
                        name,
                        "state of the " + application,
                        read.partitions(),
                        Map.copyOf(settings),
                        owner,
                        owner,
                        source));
    }

    /**
     * Returns what Kafka Streams would set: compaction, overlaid by {@code topic.} properties, overlaid by the store's
     * own.
     */
    private Map<String, String> common(Application application) {
        Map<String, String> settings = new HashMap<>();
        settings.put(TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.CLEANUP_POLICY_COMPACT);
        Map<String, String> properties =
                application == Application.MONITOR ? config.monitorProperties() : config.adapterProperties();
        properties.forEach((key, value) -> {
            if (key.startsWith(StreamsConfig.TOPIC_PREFIX)) {
                settings.put(key.substring(StreamsConfig.TOPIC_PREFIX.length()), value);
            }
        });
        return settings;
    }
}
