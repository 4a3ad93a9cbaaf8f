package io.plumbline.topology.broker;

import io.plumbline.topology.config.MonitorConfig;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.metrics.MetricsReporter;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.StreamsConfig;

/**
 * The properties of one client, which Kafka itself would look at when the client is made: after the topics were, and
 * with a message that keeps the reason to itself.
 *
 * @param what which client, for a sentence
 * @param properties without serializers, which the program gives
 */
record ClientSettings(String what, Kind kind, Map<String, Object> properties) {

    /** The kinds of Kafka's clients. */
    enum Kind {
        CONSUMER,
        PRODUCER,
        ADMIN
    }

    /** Returns the clients that Kafka Streams makes. */
    static List<ClientSettings> ofStreams(StreamsConfig streams) {
        return List.of(
                new ClientSettings("the consumer", Kind.CONSUMER, streams.getMainConsumerConfigs("group", "client", 0)),
                new ClientSettings(
                        "the consumer of change-logs", Kind.CONSUMER, streams.getRestoreConsumerConfigs("client")),
                new ClientSettings("the producer", Kind.PRODUCER, streams.getProducerConfigs("client")),
                new ClientSettings("the admin client", Kind.ADMIN, streams.getAdminConfigs("client")));
    }

    /** Returns the clients that are made beside Kafka Streams. */
    static List<ClientSettings> ofPlainClients(MonitorConfig config) {
        return List.of(
                new ClientSettings("the admin client", Kind.ADMIN, Map.copyOf(config.adminProperties())),
                new ClientSettings("the readers", Kind.CONSUMER, Map.copyOf(config.subscriberProperties())),
                new ClientSettings("the writers", Kind.PRODUCER, Map.copyOf(config.producerProperties())));
    }

    /**
     * Reads the properties as the client would, and makes the plug-ins that they name.
     *
     * @throws KafkaException when Kafka refuses a value, or a class cannot be found or made
     */
    void require() {
        Map<String, Object> read = new HashMap<>(properties);
        AbstractConfig config =
                switch (kind) {
                    case CONSUMER -> {
                        read.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
                        read.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
                        yield new ConsumerConfig(read);
                    }
                    case PRODUCER -> {
                        read.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
                        read.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
                        yield new ProducerConfig(read);
                    }
                    case ADMIN -> new AdminClientConfig(read);
                };
        config.getConfiguredInstances(AdminClientConfig.METRIC_REPORTER_CLASSES_CONFIG, MetricsReporter.class)
                .forEach(MetricsReporter::close);
    }
}
