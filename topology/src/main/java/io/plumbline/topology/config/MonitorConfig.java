package io.plumbline.topology.config;

import io.plumbline.topology.adaptation.AdaptationSettings;
import io.plumbline.topology.adaptation.SwapRules;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.ingest.Limits;
import io.plumbline.topology.ingest.SiteId;
import io.plumbline.topology.models.ModelSettings;
import io.plumbline.topology.panes.StoreKind;
import io.plumbline.topology.panes.WindowSettings;
import io.plumbline.wire.TextFile;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.streams.StreamsConfig;
import org.jspecify.annotations.Nullable;

/**
 * The whole configuration, checked: whoever holds one need not check again. It says nothing about files and brokers
 * being there; {@link ConfigCheck} does.
 *
 * @param applicationId the two applications are {@code <id>-monitor} and {@code <id>-adapter}
 * @param kafka properties for every Kafka client, what they refer to put in: passwords among them, so not to be shown
 * @param secrets what of them must not be shown
 * @param topics names of the topics
 * @param window how time is cut
 * @param sampleRows rows kept of each window for a refit
 * @param store what keeps the state between commits
 * @param stateDirectory folder of the state
 * @param waitingPanes panes of a site that may wait for a slower partition; null: as many as the heap has room for
 * @param from where a first start begins to read the activations
 * @param http where metrics, health checks and the page are served
 * @param signing whose signatures decoders carry
 * @param log how the log is written
 * @param otlp where metrics are pushed to; null: nowhere
 * @param limits what is taken at most
 * @param sites what is watched, by site, in the file's order
 * @param tenants whose each configured site is; empty where all share one topic of activations
 * @param models which sites are judged as one, by the name of the model
 * @param adaptations how the sites that adapt do it, by site; one with several targets by its configured name
 * @param swapRules how far that goes without a person, by site
 */
public record MonitorConfig(
        String applicationId,
        Map<String, String> kafka,
        Secrets secrets,
        TopicNames topics,
        WindowSettings window,
        int sampleRows,
        StoreKind store,
        Path stateDirectory,
        @Nullable Integer waitingPanes,
        BeginFrom from,
        HttpSettings http,
        Signing signing,
        LogSettings log,
        @Nullable OtlpSettings otlp,
        Limits limits,
        Map<String, SiteSettings> sites,
        Map<String, String> tenants,
        Map<String, ModelSettings> models,
        Map<String, AdaptationSettings> adaptations,
        Map<String, SwapRules> swapRules) {

    private static final String DEFAULT_FILE = "default-config.yaml";

    /**
     * The size of the largest file, room for a thousand sites. What is larger is no configuration, and is not read into
     * memory to find that out.
     */
    private static final long LARGEST_FILE = 1 << 20;

    public MonitorConfig {
        // Copies that keep the order of the file, which is the order of every table.
        kafka = Collections.unmodifiableMap(new LinkedHashMap<>(kafka));
        sites = Collections.unmodifiableMap(new LinkedHashMap<>(sites));
        tenants = Map.copyOf(tenants);
        models = Collections.unmodifiableMap(new LinkedHashMap<>(models));
        adaptations = Collections.unmodifiableMap(new LinkedHashMap<>(adaptations));
        swapRules = Collections.unmodifiableMap(new LinkedHashMap<>(swapRules));
    }

    /** Returns this configuration with a number of panes that may wait. */
    public MonitorConfig withWaitingPanes(int panes) {
        return new MonitorConfig(
                applicationId,
                kafka,
                secrets,
                topics,
                window,
                sampleRows,
                store,
                stateDirectory,
                panes,
                from,
                http,
                signing,
                log,
                otlp,
                limits,
                sites,
                tenants,
                models,
                adaptations,
                swapRules);
    }

    /** Returns the topics of activations with the sites of each, in the order of the tenants. */
    public List<ActivationTopic> activationTopics() {
        if (tenants.isEmpty()) {
            return List.of(new ActivationTopic(topics.activations(), null, sites.keySet()));
        }
        Map<String, Set<String>> byTenant = new TreeMap<>();
        sites.values().forEach(site -> byTenant.computeIfAbsent(
                        tenants.getOrDefault(site.id().group(), ""), tenant -> new LinkedHashSet<>())
                .add(site.site()));
        return byTenant.entrySet().stream()
                .map(of -> new ActivationTopic(topics.activationsOf(of.getKey()), of.getKey(), of.getValue()))
                .toList();
    }

    /** Returns the topic by which the rows of a site come. */
    public String activationTopicOf(SiteId site) {
        return topics.activationsOf(tenants.get(site.group()));
    }

    /** Returns whether rows are read from a topic. */
    public boolean isActivationTopic(String topic) {
        return activationTopics().stream().anyMatch(one -> one.topic().equals(topic));
    }

    /** Returns how a watched site adapts, which for the block of a target is as all of them; null where it does not. */
    public @Nullable AdaptationSettings adaptationOf(SiteSettings site) {
        return adaptations.get(site.id().group());
    }

    /**
     * Reads a file; paths in it are relative to its folder.
     *
     * @throws ConfigException listing every mistake in it
     * @throws IOException when it cannot be read
     */
    public static MonitorConfig load(Path file) throws IOException {
        return ReadConfig.of(file).config();
    }

    static String content(Path file) throws IOException {
        if (Files.isDirectory(file)) {
            throw new ConfigException(file.toString(), List.of("is a folder, not a configuration file"));
        }
        long bytes = Files.size(file);
        if (bytes > LARGEST_FILE) {
            throw new ConfigException(
                    file.toString(),
                    List.of("%d bytes: expected a configuration of at most %d".formatted(bytes, LARGEST_FILE)));
        }
        try {
            return TextFile.read(file);
        } catch (IllegalArgumentException noText) {
            throw new ConfigException(file.toString(), List.of(String.valueOf(noText.getMessage())));
        }
    }

    /**
     * Reads YAML.
     *
     * @param source what messages call it
     * @param folder what paths in it are relative to
     * @throws ConfigException listing every mistake in it
     */
    public static MonitorConfig parse(String yaml, String source, Path folder) {
        return ConfigReader.read(yaml, source, folder).config();
    }

    /** A commented file to start from. It loads as it stands. */
    public static String defaultFile() {
        try (InputStream file = MonitorConfig.class.getResourceAsStream(DEFAULT_FILE)) {
            if (file == null) {
                throw new IllegalStateException(DEFAULT_FILE + " is missing from the jar");
            }
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    public String monitorApplicationId() {
        return applicationId + "-monitor";
    }

    public String adapterApplicationId() {
        return applicationId + "-adapter";
    }

    /** Returns the Kafka properties of the monitor, its own prefix taken off. */
    public Map<String, String> monitorProperties() {
        return KafkaProperties.of(kafka, KafkaProperties.MONITOR);
    }

    /** Returns the Kafka properties of the adapter, its own prefix taken off. */
    public Map<String, String> adapterProperties() {
        return KafkaProperties.of(kafka, KafkaProperties.ADAPTER);
    }

    /** Returns the Kafka properties of a client that asks about topics, {@code admin.} taken off. */
    public Map<String, String> adminProperties() {
        return KafkaProperties.ofPlainClient(kafka, StreamsConfig.ADMIN_CLIENT_PREFIX, AdminClientConfig.configNames());
    }

    /** Returns the Kafka properties of the subscriber of decoders, {@code consumer.} taken off. */
    public Map<String, String> subscriberProperties() {
        return KafkaProperties.ofPlainClient(kafka, StreamsConfig.CONSUMER_PREFIX, ConsumerConfig.configNames());
    }

    /** Returns the Kafka properties of a writer outside Kafka Streams, {@code producer.} taken off. */
    public Map<String, String> producerProperties() {
        return KafkaProperties.ofPlainClient(kafka, StreamsConfig.PRODUCER_PREFIX, ProducerConfig.configNames());
    }

    /** A message of a client with every secret in it blotted out. */
    public String withoutSecrets(String message) {
        return secrets.hideIn(message);
    }

    /** Leaves out the Kafka properties, which hold passwords. */
    @Override
    public String toString() {
        return "MonitorConfig[%s, %d sites at %s]".formatted(applicationId, sites.size(), bootstrapServers());
    }

    public String bootstrapServers() {
        return kafka.getOrDefault("bootstrap.servers", "");
    }
}
