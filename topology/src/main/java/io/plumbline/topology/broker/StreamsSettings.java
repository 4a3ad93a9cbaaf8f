package io.plumbline.topology.broker;

import io.plumbline.topology.config.MonitorConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.streams.StreamsConfig;

/** Makes the Kafka Streams properties of the two applications: our defaults, overridden by what the user wrote. */
public final class StreamsSettings {

    /** The name of a setting whose constant in Kafka is deprecated, since the next release will know no other way. */
    private static final String HANDLED_GLOBALLY = "processing.exception.handler.global.enabled";

    private StreamsSettings() {}

    public static Properties monitor(MonitorConfig config) {
        Properties properties = common(config, config.monitorApplicationId());
        properties.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, "2");
        properties.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, "5000");
        properties.put(StreamsConfig.producerPrefix(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG), "60000");
        properties.put(
                StreamsConfig.producerPrefix(ProducerConfig.MAX_REQUEST_SIZE_CONFIG),
                Integer.toString(Topics.LARGEST_DEAD_LETTER));
        // Kafka Streams bounds what waits by records, not bytes: its default of 1,000 records of a megabyte each
        // would be a gigabyte per partition after an outage.
        properties.put(StreamsConfig.BUFFERED_RECORDS_PER_PARTITION_CONFIG, "32");
        properties.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.MAX_POLL_RECORDS_CONFIG), "64");
        // The thread that sums records is the one that reads the socket. So a fetch must fit into the socket's
        // buffer, as large as the system makes it and not Kafka's 64 KiB, and be asked for early: it is, once the
        // one before has been handed over whole. Then it arrives while records are summed, and nobody waits for it.
        // Its buffer stays below half of a region of G1's as the launcher sets it: above that, every fetch would be
        // a piece of the old generation, and each of them a reason to mark all of it.
        properties.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.RECEIVE_BUFFER_CONFIG), "-1");
        properties.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG), "4128768");
        // No task reads two partitions whose order could matter; told so, Kafka Streams does not look for it at every
        // record.
        properties.put(StreamsConfig.MAX_TASK_IDLE_MS_CONFIG, "-1");
        properties.putAll(config.monitorProperties());
        return properties;
    }

    /** Returns properties with which outputs that a topic does not take are left out, logged and counted. */
    public static Properties guarded(Properties properties, OutputGuard outputs) {
        Properties guarded = new Properties();
        guarded.put(StreamsConfig.PRODUCTION_EXCEPTION_HANDLER_CLASS_CONFIG, OutputGuard.Handler.class);
        guarded.putAll(properties);
        guarded.put(OutputGuard.CONFIG, outputs);
        return guarded;
    }

    /** Has the consumer of the group protocol {@code streams}, which Kafka Streams makes itself, hold topics back. */
    public static void holdBack(Properties properties, HeldBackTopics topics) {
        if (StreamsProtocol.isUsed(properties)) {
            properties.put(
                    StreamsConfig.mainConsumerPrefix(HeldBackStreamsConsumer.WRAPPER), HeldBackStreamsConsumer.class);
            properties.put(StreamsConfig.mainConsumerPrefix(HeldBackStreamsConsumer.TOPICS), topics);
        }
    }

    static Properties of(MonitorConfig config, Application application) {
        return application == Application.MONITOR ? monitor(config) : adapter(config);
    }

    /** The largest request the monitor's producer sends, in bytes. */
    static int largestRequest(MonitorConfig config) {
        Properties properties = monitor(config);
        Object own = properties.get(StreamsConfig.producerPrefix(ProducerConfig.MAX_REQUEST_SIZE_CONFIG));
        return Integer.parseInt(String.valueOf(own));
    }

    public static Properties adapter(MonitorConfig config) {
        Properties properties = common(config, config.adapterApplicationId());
        properties.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, "1");
        properties.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, "1000");
        // A refit of a large dictionary may take minutes: longer than the defaults, or it would be repeated for ever.
        properties.put(StreamsConfig.producerPrefix(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG), "300000");
        properties.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG), "900000");
        // Kafka's 9 minutes are fewer: the connection to the group's coordinator would be closed in a long refit.
        properties.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.CONNECTIONS_MAX_IDLE_MS_CONFIG), "960000");
        properties.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.MAX_POLL_RECORDS_CONFIG), "1");
        // A request is megabytes of rows and codes, and a refit waits for the last of them.
        properties.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.RECEIVE_BUFFER_CONFIG), "-1");
        properties.putAll(config.adapterProperties());
        return properties;
    }

    /**
     * The longest time that may pass between two commits of one application while it works: what the group waits for a
     * member that does not ask for more ({@code max.poll.interval.ms}), and a commit interval.
     */
    public static Duration longestBetweenCommits(Properties properties) {
        StreamsConfig config = new StreamsConfig(properties);
        Object poll = config.getMainConsumerConfigs("", "", 0).get(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG);
        Object wait = poll == null
                ? ConsumerConfig.configDef().defaultValues().get(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG)
                : poll;
        return Duration.ofMillis(
                Long.parseLong(String.valueOf(wait)) + config.getLong(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG));
    }

    /**
     * Returns whether the instance has a name of its own in its group ({@code group.instance.id}), under which it comes
     * back to its tasks.
     */
    public static boolean isStaticMember(Properties properties) {
        return new StreamsConfig(properties)
                .getMainConsumerConfigs("", "", 0)
                .containsKey(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG);
    }

    /**
     * Returns one sentence for each application or client whose properties Kafka refuses, and for each property that it
     * would ignore under its group protocol; none: all can be made. Asks no broker.
     */
    public static List<String> problems(MonitorConfig config) {
        List<String> problems = new ArrayList<>();
        for (Application application : Application.values()) {
            Properties properties = of(config, application);
            List<String> ignored = StreamsProtocol.problems(application, properties);
            ignored.forEach(problem -> problems.add(config.withoutSecrets(problem)));
            String refusal = ignored.isEmpty() ? refusal(properties) : "";
            if (!refusal.isEmpty()) {
                problems.add("kafka: Kafka Streams refuses the properties of the %s: %s"
                        .formatted(application, config.withoutSecrets(refusal)));
            }
        }
        if (problems.isEmpty()) { // else one value would be named once for each kind of client
            problems.addAll(problemsOfPlainClients(config));
        }
        return problems.stream().sorted().toList();
    }

    private static String refusal(Properties properties) {
        try {
            StreamsConfig streams = new StreamsConfig(properties);
            ClientSettings.ofStreams(streams).forEach(ClientSettings::require);
            int threads = streams.getInt(StreamsConfig.NUM_STREAM_THREADS_CONFIG);
            return threads >= 1
                    ? ""
                    : "%s = %d: expected at least 1, or nothing is read"
                            .formatted(StreamsConfig.NUM_STREAM_THREADS_CONFIG, threads);
        } catch (KafkaException | IllegalArgumentException refused) {
            return BrokerRefusal.root(refused);
        }
    }

    /** Returns one sentence for each kind of client outside Kafka Streams whose properties Kafka refuses. */
    private static List<String> problemsOfPlainClients(MonitorConfig config) {
        List<String> problems = new ArrayList<>();
        for (ClientSettings client : ClientSettings.ofPlainClients(config)) {
            try {
                client.require();
            } catch (KafkaException | IllegalArgumentException refused) {
                problems.add("kafka: Kafka refuses the properties of %s: %s"
                        .formatted(client.what(), config.withoutSecrets(BrokerRefusal.root(refused))));
            }
        }
        return problems;
    }

    private static Properties common(MonitorConfig config, String applicationId) {
        Properties properties = new Properties();
        properties.putAll(Map.of(
                StreamsConfig.APPLICATION_ID_CONFIG,
                applicationId,
                StreamsConfig.STATE_DIR_CONFIG,
                config.stateDirectory().toString(),
                StreamsConfig.PROCESSING_GUARANTEE_CONFIG,
                StreamsConfig.EXACTLY_ONCE_V2,
                StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG,
                "10485760",
                StreamsConfig.mainConsumerPrefix(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG),
                "16777216",
                HANDLED_GLOBALLY,
                "true",
                // Each thread's assignor reads it from its consumer's properties, and warns where it is missing.
                StreamsConfig.mainConsumerPrefix(HANDLED_GLOBALLY),
                "true"));
        // By default Kafka waits a tenth and half a second, several times between a start and its first record. A fetch
        // of change-logs that hold nothing lasts as long as it may, and whoever asks where the next ones end waits
        // behind it. A producer asks again for a coordinator that is not there yet.
        properties.put(StreamsConfig.restoreConsumerPrefix(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG), "20");
        properties.put(StreamsConfig.producerPrefix(ProducerConfig.RETRY_BACKOFF_MS_CONFIG), "20");
        return properties;
    }
}
