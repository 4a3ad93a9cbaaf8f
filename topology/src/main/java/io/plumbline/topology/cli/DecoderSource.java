package io.plumbline.topology.cli;

import io.plumbline.topology.emission.DecoderSubscription;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import picocli.CommandLine.Option;

/** Where the topic of decoders is. */
final class DecoderSource {

    @Option(
            names = "--bootstrap-servers",
            required = true,
            paramLabel = "HOST:PORT",
            description = "Where the Kafka cluster is.")
    String bootstrapServers;

    @Option(names = "--topic", defaultValue = "decoders", description = "Default: ${DEFAULT-VALUE}.")
    String topic;

    @Option(
            names = "--kafka-property",
            paramLabel = "KEY=VALUE",
            description = "A property for the consumer, such as security.protocol=SSL. May be repeated.")
    Map<String, String> kafkaProperties = new TreeMap<>();

    /** Reads the topic; what is found is handed to the calling thread in order. */
    DecoderReading read(DecoderSubscription subscription) {
        Map<String, String> properties = new TreeMap<>(kafkaProperties);
        properties.put("bootstrap.servers", bootstrapServers);
        if (!Brokers.topics(properties).contains(topic)) {
            throw new UsageException("topic %s does not exist at %s".formatted(topic, bootstrapServers));
        }
        Properties client = new Properties();
        client.putAll(properties);
        return new DecoderReading(client, topic, subscription);
    }
}
