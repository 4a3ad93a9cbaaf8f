package io.plumbline.topology.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.streams.StreamsConfig;

/**
 * Passes the Kafka properties of the file through untouched, except that those which would break what Plumbline
 * promises are refused with a sentence.
 *
 * <p>A key may carry the prefix {@code monitor.} or {@code adapter.}: it is then for that application alone and wins
 * over the same key without. Kafka's own prefixes ({@code consumer.}, {@code producer.}, ...) follow after it.
 */
final class KafkaProperties {

    static final String MONITOR = "monitor.";
    static final String ADAPTER = "adapter.";

    private static final List<String> STREAMS_PREFIXES = List.of(
            MONITOR,
            ADAPTER,
            StreamsConfig.CONSUMER_PREFIX,
            StreamsConfig.MAIN_CONSUMER_PREFIX,
            StreamsConfig.RESTORE_CONSUMER_PREFIX,
            StreamsConfig.GLOBAL_CONSUMER_PREFIX,
            StreamsConfig.PRODUCER_PREFIX,
            StreamsConfig.ADMIN_CLIENT_PREFIX,
            StreamsConfig.TOPIC_PREFIX);

    private static final List<String> OF_CONSUMERS_AND_PRODUCERS = List.of(
            StreamsConfig.CONSUMER_PREFIX,
            StreamsConfig.MAIN_CONSUMER_PREFIX,
            StreamsConfig.RESTORE_CONSUMER_PREFIX,
            StreamsConfig.GLOBAL_CONSUMER_PREFIX,
            StreamsConfig.PRODUCER_PREFIX);

    private static final Set<String> GUARANTEES = Set.of("exactly_once_v2", "at_least_once");

    private KafkaProperties() {}

    /** Returns what {@code prefix}'s application gets: the common properties overlaid by its own. */
    static Map<String, String> of(Map<String, String> all, String prefix) {
        Map<String, String> properties = new TreeMap<>();
        all.forEach((key, value) -> {
            if (!key.startsWith(MONITOR) && !key.startsWith(ADAPTER)) {
                properties.put(key, value);
            }
        });
        all.forEach((key, value) -> {
            if (key.startsWith(prefix)) {
                properties.put(key.substring(prefix.length()), value);
            }
        });
        return properties;
    }

    /**
     * Returns what a client outside Kafka Streams gets: the common properties less those of Kafka Streams and of other
     * kinds of client, overlaid by those written for its kind. The group protocol is Kafka Streams' own: no other
     * client joins a group, and a consumer refuses {@code streams}.
     *
     * @param kindPrefix Kafka's prefix for its kind, such as {@code consumer.}
     * @param known names of its own properties
     */
    static Map<String, String> ofPlainClient(Map<String, String> all, String kindPrefix, Set<String> known) {
        Map<String, String> properties = new TreeMap<>();
        all.forEach((key, value) -> {
            // What no client knows may be read by a plug-in, such as a login callback.
            boolean isPrefixed = STREAMS_PREFIXES.stream().anyMatch(key::startsWith);
            if (!key.equals(StreamsConfig.GROUP_PROTOCOL_CONFIG)
                    && (known.contains(key) || (!isPrefixed && !isKafkas(key)))) {
                properties.put(key, value);
            }
        });
        all.forEach((key, value) -> {
            if (key.startsWith(kindPrefix)) {
                properties.put(key.substring(kindPrefix.length()), value);
            }
        });
        return properties;
    }

    private static boolean isKafkas(String key) {
        return StreamsConfig.configDef().names().contains(key)
                || ConsumerConfig.configNames().contains(key)
                || ProducerConfig.configNames().contains(key)
                || AdminClientConfig.configNames().contains(key);
    }

    /** Returns one sentence for each property that must not stand. */
    static List<String> problems(Map<String, String> all, Secrets secrets) {
        List<String> problems = new ArrayList<>();
        all.forEach((key, value) -> {
            String expected = refusal(withoutApplication(key), value.strip());
            if (!expected.isEmpty()) {
                problems.add("kafka.\"%s\" = %s: %s".formatted(key, secrets.shown(key, value), expected));
            }
        });
        if (all.getOrDefault("bootstrap.servers", "").isBlank()) {
            problems.add(
                    "kafka.bootstrap.servers is missing: expected host:port[,host:port...], such as localhost:9092");
        }
        return problems;
    }

    private static String withoutApplication(String key) {
        for (String prefix : List.of(MONITOR, ADAPTER)) {
            if (key.startsWith(prefix)) {
                return key.substring(prefix.length());
            }
        }
        return key;
    }

    private static String refusal(String key, String value) {
        return switch (key) {
            case "processing.guarantee" ->
                GUARANTEES.contains(value)
                        ? ""
                        : "expected exactly_once_v2 (no row lost, none counted twice) or at_least_once (none lost)";
            case "statestore.cache.max.bytes", "cache.max.bytes.buffering" ->
                atLeast(value, 1_048_576)
                        ? ""
                        : "expected at least 1048576; below that every record writes its whole window to the"
                                + " change-log";
            case "application.id" ->
                "expected it absent: application_id names the applications, as <id>-monitor and" + " <id>-adapter";
            case "state.dir" -> "expected it absent: state.directory names the folder";
            case "key.serializer",
                    "value.serializer",
                    "key.deserializer",
                    "value.deserializer",
                    "default.key.serde",
                    "default.value.serde" -> "expected it absent: the formats of keys and values are Plumbline's own";
            case "isolation.level",
                    "consumer.isolation.level",
                    "main.consumer.isolation.level",
                    "restore.consumer.isolation.level" ->
                value.toLowerCase(Locale.ROOT).equals("read_committed")
                        ? ""
                        : "expected read_committed; otherwise windows of aborted transactions and torn decoders are"
                                + " read";
            case "enable.auto.commit",
                    "consumer.enable.auto.commit",
                    "main.consumer.enable.auto.commit",
                    "restore.consumer.enable.auto.commit" ->
                value.equals("false")
                        ? ""
                        : "expected it absent or false: offsets are committed together with the state they belong to";
            case "acks", "producer.acks" ->
                value.equals("all") || value.equals("-1")
                        ? ""
                        : "expected all: with fewer an acknowledged record can be lost with its broker";
            case "auto.offset.reset",
                    "consumer.auto.offset.reset",
                    "main.consumer.auto.offset.reset",
                    "global.consumer.auto.offset.reset",
                    "restore.consumer.auto.offset.reset" ->
                "expected it absent: the key from says where a first start begins, such as from: %s"
                        .formatted(value.equals("latest") ? "latest" : "earliest");
            case "enable.idempotence", "producer.enable.idempotence" ->
                value.equals("true") ? "" : "expected it absent or true: without it a retry writes a record twice";
            case "topic.cleanup.policy" ->
                value.equals("compact") ? "" : "expected it absent: state that is deleted when it is old is lost";
            default -> refusalOfPlugIn(withoutClient(key), key, value);
        };
    }

    /**
     * Returns what is expected in place of a plug-in or switch that would leave out records, or bring them elsewhere,
     * without a count.
     */
    private static String refusalOfPlugIn(String name, String key, String value) {
        return switch (name) {
            case "deserialization.exception.handler",
                    "default.deserialization.exception.handler",
                    "processing.exception.handler",
                    "production.exception.handler",
                    "default.production.exception.handler" ->
                "expected it absent: Plumbline's own keeps what cannot be used as a dead letter and counts what is left"
                        + " out; another may skip records without a word";
            case "default.timestamp.extractor" ->
                "expected it absent: windows are cut by the time of the record, as docs/concepts/time.md says";
            case "partition.assignment.strategy" ->
                "expected it absent: Kafka Streams assigns a site's state together with its records";
            case "interceptor.classes" ->
                key.startsWith(StreamsConfig.PRODUCER_PREFIX)
                        ? ""
                        : "expected producer.interceptor.classes: of a consumer it may change or leave out records"
                                + " before they are counted";
            case "partitioner.class" ->
                "expected it absent: all records of a site must lie in one partition, or its windows are torn";
            case "partitioner.ignore.keys" ->
                value.equals("false")
                        ? ""
                        : "expected it absent or false: all records of a site must lie in one partition, or its windows"
                                + " are torn";
            case "check.crcs" ->
                value.equals("true") ? "" : "expected it absent or true: else a damaged record is taken for a good one";
            default -> "";
        };
    }

    private static String withoutClient(String key) {
        return OF_CONSUMERS_AND_PRODUCERS.stream()
                .filter(key::startsWith)
                .map(prefix -> key.substring(prefix.length()))
                .findFirst()
                .orElse(key);
    }

    private static boolean atLeast(String value, long least) {
        try {
            return Long.parseLong(value) >= least;
        } catch (NumberFormatException notWhole) {
            return false;
        }
    }
}
