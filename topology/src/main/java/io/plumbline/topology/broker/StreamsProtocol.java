package io.plumbline.topology.broker;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.streams.StreamsConfig;

/**
 * Checks the settings for the group protocol {@code streams}, under which the broker assigns tasks: what it ignores, or
 * cannot do, is refused here with what to write instead, since Kafka Streams passes over most of it without a word.
 */
final class StreamsProtocol {

    private static final String NAME = "streams";

    /** Settings of a client under {@code classic} that are settings of the group here. */
    private static final Map<String, String> OF_THE_GROUP = Map.of(
            StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, Standbys.GROUP_SETTING,
            ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, "streams.session.timeout.ms",
            ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG, "streams.heartbeat.interval.ms");

    /** Settings of Kafka Streams' own assignor, which is not asked here. */
    private static final List<String> OF_THE_ASSIGNOR = List.of(
            StreamsConfig.ACCEPTABLE_RECOVERY_LAG_CONFIG,
            StreamsConfig.MAX_WARMUP_REPLICAS_CONFIG,
            StreamsConfig.PROBING_REBALANCE_INTERVAL_MS_CONFIG,
            StreamsConfig.RACK_AWARE_ASSIGNMENT_NON_OVERLAP_COST_CONFIG,
            StreamsConfig.RACK_AWARE_ASSIGNMENT_STRATEGY_CONFIG,
            StreamsConfig.RACK_AWARE_ASSIGNMENT_TAGS_CONFIG,
            StreamsConfig.RACK_AWARE_ASSIGNMENT_TRAFFIC_COST_CONFIG,
            StreamsConfig.TASK_ASSIGNOR_CLASS_CONFIG);

    private static final List<String> CONSUMER_PREFIXES =
            List.of(StreamsConfig.CONSUMER_PREFIX, StreamsConfig.MAIN_CONSUMER_PREFIX);

    private StreamsProtocol() {}

    static boolean isUsed(Properties properties) {
        return NAME.equalsIgnoreCase(String.valueOf(properties.get(StreamsConfig.GROUP_PROTOCOL_CONFIG)));
    }

    /** Returns one sentence for each property that this protocol ignores or cannot carry out. */
    static List<String> problems(Application application, Properties properties) {
        List<String> problems = new ArrayList<>();
        if (!isUsed(properties)) {
            return problems;
        }
        new TreeMap<>(properties).forEach((key, value) -> {
            String expected = expected(withoutPrefix(String.valueOf(key)), value, properties);
            if (!expected.isEmpty()) {
                problems.add("kafka: %s = %s of the %s under group.protocol = %s: %s"
                        .formatted(key, value, application, NAME, expected));
            }
        });
        return problems;
    }

    private static String expected(String key, Object value, Properties properties) {
        String ofTheGroup = OF_THE_GROUP.get(key);
        if (ofTheGroup != null) {
            return ("it is ignored, since the group has it; remove it, and set it with kafka-configs.sh"
                            + " --bootstrap-server %s"
                            + " --alter --entity-type groups --entity-name %s --add-config %s=%s")
                    .formatted(
                            properties.get(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG),
                            properties.get(StreamsConfig.APPLICATION_ID_CONFIG),
                            ofTheGroup,
                            value);
        }
        if (OF_THE_ASSIGNOR.contains(key)) {
            return "it is ignored, since the broker assigns the tasks; remove it, or write group.protocol: classic";
        }
        if (key.equals(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG)) {
            return "a member keeps its name from Kafka 4.4 on, and with state.store: rocksdb only; remove it (in the"
                    + " chart"
                    + " monitor.staticMembership: false), or write group.protocol: classic";
        }
        return "";
    }

    private static String withoutPrefix(String key) {
        for (String prefix : CONSUMER_PREFIXES) {
            if (key.startsWith(prefix)) {
                return key.substring(prefix.length());
            }
        }
        return key;
    }
}
