package io.plumbline.topology;

import io.plumbline.topology.adaptation.AdaptationListener;
import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.config.TopicNames;
import io.plumbline.topology.ingest.IngestListener;
import io.plumbline.topology.windows.WindowListener;
import java.lang.reflect.Proxy;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.streams.StreamsConfig;

/**
 * Every topic Plumbline uses, with partitions and settings, and which application reads and writes it. Which change-logs
 * there are is asked of the two topologies, so that the list cannot fall behind them; that Kafka Streams is content with
 * topics made by this plan is tested on a broker that lets it make none.
 */
final class TopicPlan {

    private static final String ONE_DAY_MS = "86400000";
    private static final String THIRTY_DAYS_MS = "2592000000";

    /**
     * One topic.
     *
     * @param what what is on it, for people
     * @param settings topic settings that differ from a broker's defaults
     * @param readers applications that read it
     * @param writers applications that write it
     */
    record Planned(
            String name,
            String what,
            int partitions,
            Map<String, String> settings,
            Set<Application> readers,
            Set<Application> writers) {

        boolean isUsedBy(Application application) {
            return readers.contains(application) || writers.contains(application);
        }
    }

    private final Map<String, Planned> byName = new LinkedHashMap<>();
    private final MonitorConfig config;
    private final Map<String, Integer> existing;
    private final int activations;

    private TopicPlan(MonitorConfig config, Map<String, Integer> existing, int activations) {
        this.config = config;
        this.existing = existing;
        this.activations = activations;
    }

    /** The plan's names, readers and writers, which no broker is needed for. */
    static TopicPlan ofNames(MonitorConfig config) {
        return of(config, Map.of(), 1);
    }

    /**
     * The whole plan.
     *
     * @param existing partitions of the topics that there are: a topic keeps what it has, and change-logs follow it
     * @param activations partitions of the activations topic where it is not among them
     */
    static TopicPlan of(MonitorConfig config, Map<String, Integer> existing, int activations) {
        TopicPlan plan = new TopicPlan(
                config, existing, existing.getOrDefault(config.topics().activations(), activations));
        plan.named();
        plan.used(
                Application.MONITOR,
                MonitorTopology.describe(
                        config,
                        new MonitorTopology.Listeners(
                                silent(IngestListener.class),
                                silent(WindowListener.class),
                                silent(DriftListener.class))));
        plan.used(Application.ADAPTER, AdapterTopology.describe(config, silent(AdaptationListener.class)));
        // Both follow what was published, outside Kafka Streams.
        Planned decoders = plan.get(config.topics().decoders());
        decoders.readers().addAll(EnumSet.allOf(Application.class));
        return plan;
    }

    /** In the order a record meets them, the change-logs last. */
    List<Planned> topics() {
        return List.copyOf(byName.values());
    }

    /** Those that any of {@code applications} reads or writes. */
    List<Planned> usedBy(Set<Application> applications) {
        return topics().stream()
                .filter(topic -> applications.stream().anyMatch(topic::isUsedBy))
                .toList();
    }

    private void named() {
        TopicNames names = config.topics();
        Map<String, String> eventTime = Map.of(TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, "CreateTime");
        add(names.activations(), "rows from the model servers", activations, eventTime);
        add(names.moments(), "tiles of closed panes", activations, ours(TopicConfig.RETENTION_MS_CONFIG, ONE_DAY_MS));
        add(
                names.windowReports(),
                "one report a site and window",
                activations,
                ours(TopicConfig.RETENTION_MS_CONFIG, THIRTY_DAYS_MS));
        add(
                names.adaptationRequests(),
                "drifted windows, to be refitted",
                activations,
                ours(TopicConfig.RETENTION_MS_CONFIG, ONE_DAY_MS));
        add(
                names.adaptationReports(),
                "what was fitted, published or refused",
                activations,
                ours(TopicConfig.RETENTION_MS_CONFIG, THIRTY_DAYS_MS));
        Map<String, String> letters = new HashMap<>(ours(TopicConfig.RETENTION_MS_CONFIG, THIRTY_DAYS_MS));
        letters.put(TopicConfig.MAX_MESSAGE_BYTES_CONFIG, Integer.toString(Topics.LARGEST_DEAD_LETTER));
        add(names.deadLetters(), "records that could not be used", activations, letters);
        add(
                names.decoders(),
                "published decoders",
                1,
                ours(TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.CLEANUP_POLICY_COMPACT));
    }

    private static Map<String, String> ours(String key, String value) {
        return Map.of(key, value, TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, "LogAppendTime");
    }

    private void add(String name, String what, int partitions, Map<String, String> settings) {
        byName.put(
                name,
                new Planned(
                        name,
                        what,
                        existing.getOrDefault(name, partitions),
                        Map.copyOf(settings),
                        EnumSet.noneOf(Application.class),
                        EnumSet.noneOf(Application.class)));
    }

    private Planned get(String name) {
        Planned planned = byName.get(name);
        if (planned == null) {
            throw new IllegalStateException(
                    "the topologies use topic \"%s\", which has no name of its own".formatted(name));
        }
        return planned;
    }

    private void used(Application application, DescribedTopology topology) {
        topology.reads().forEach(topic -> get(topic).readers().add(application));
        topology.writes().forEach(topic -> get(topic).writers().add(application));
        Map<String, String> common = common(application);
        topology.changelogs(topic -> get(topic).partitions()).forEach((store, changelog) -> {
            String name = "%s-%s-changelog".formatted(application.id(config), store);
            Map<String, String> settings = new HashMap<>(common);
            settings.putAll(changelog.settings());
            add(name, "state of the " + application, changelog.partitions(), settings);
            // What a change-log has cannot be right by itself: it has to fit the tasks.
            byName.put(name, withPartitions(get(name), changelog.partitions()));
            get(name).readers().add(application);
            get(name).writers().add(application);
        });
    }

    private static Planned withPartitions(Planned topic, int partitions) {
        return new Planned(topic.name(), topic.what(), partitions, topic.settings(), topic.readers(), topic.writers());
    }

    /** What Kafka Streams would set: compaction, overlaid by {@code topic.} properties, overlaid by the store's own. */
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

    /** Of a topology that is only looked at: nothing runs, so nothing is told. */
    private static <T> T silent(Class<T> listener) {
        return listener.cast(Proxy.newProxyInstance(
                listener.getClassLoader(), new Class<?>[] {listener}, (proxy, method, arguments) -> {
                    throw new IllegalStateException(method + " was called on a topology that does not run");
                }));
    }
}
