package io.plumbline.topology.operate;

import io.plumbline.topology.broker.BrokerRefusal;
import io.plumbline.topology.broker.StartException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.AuthenticationException;

/** Asks a cluster whether it is there, before anything is started that would only retry for ever. */
public final class Brokers {

    static final Duration PATIENCE = Duration.ofSeconds(10);

    private Brokers() {}

    /**
     * Returns the names of the cluster's topics.
     *
     * @throws NoBrokerException when no broker answers within {@link #PATIENCE}
     */
    static Set<String> topics(Map<String, String> kafkaProperties) {
        return ask(
                kafkaProperties,
                "asking the broker",
                admin -> admin.listTopics().names(),
                failure -> {
                    throw unreachable(kafkaProperties, failure);
                });
    }

    /** Returns the number of partitions of a topic; empty where the topic or the cluster does not answer. */
    static OptionalInt partitions(Map<String, String> kafkaProperties, String topic) {
        return ask(
                        kafkaProperties,
                        "asking the broker",
                        admin -> admin.describeTopics(List.of(topic)).allTopicNames(),
                        unknown -> Map.of())
                .values()
                .stream()
                .mapToInt(found -> found.partitions().size())
                .findFirst();
    }

    /** Returns the settings of a topic; empty where the topic or the cluster does not tell. */
    static Map<String, String> settings(Map<String, String> kafkaProperties, String topic) {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        Map<String, String> settings = new HashMap<>();
        ask(
                        kafkaProperties,
                        "asking the broker",
                        admin -> admin.describeConfigs(List.of(resource)).all(),
                        unknown -> Map.of())
                .values()
                .forEach(config -> config.entries().forEach(entry -> settings.put(entry.name(), entry.value())));
        return settings;
    }

    public static void createTopic(Map<String, String> kafkaProperties, String topic, int partitions) {
        NewTopic wanted = new NewTopic(topic, Optional.of(partitions), Optional.empty());
        ask(
                kafkaProperties,
                "creating topic " + topic,
                admin -> admin.createTopics(Set.of(wanted)).all(),
                refused -> {
                    throw new IllegalStateException(
                            "topic %s could not be created: %s".formatted(topic, reason(refused)), refused);
                });
    }

    private static <T> T ask(
            Map<String, String> kafkaProperties,
            String doing,
            Function<Admin, KafkaFuture<T>> question,
            Function<Exception, T> otherwise) {
        try (Admin admin = connect(kafkaProperties)) {
            return question.apply(admin).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException | KafkaException failure) {
            return otherwise.apply(failure);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while " + doing, interrupted);
        }
    }

    static Admin connect(Map<String, String> kafkaProperties) {
        Properties properties = new Properties();
        // Properties of producers, consumers or one application mean nothing here and would be warned about.
        kafkaProperties.forEach((key, value) -> {
            if (AdminClientConfig.configNames().contains(key)) {
                properties.put(key, value);
            }
        });
        properties.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, (int) PATIENCE.toMillis());
        properties.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, (int) PATIENCE.toMillis() / 2);
        try {
            return Admin.create(properties);
        } catch (KafkaException refused) {
            throw new StartException("no client for %s can be made: %s"
                    .formatted(kafkaProperties.get("bootstrap.servers"), BrokerRefusal.root(refused)));
        }
    }

    private static NoBrokerException unreachable(Map<String, String> kafkaProperties, Exception cause) {
        String brokers = kafkaProperties.get("bootstrap.servers");
        return new NoBrokerException(
                BrokerRefusal.causes(cause).anyMatch(AuthenticationException.class::isInstance)
                        ? ("the Kafka broker at %s answers and refuses the login or the TLS connection: %s; "
                                        + "check security.protocol, sasl.* and ssl.*")
                                .formatted(brokers, reason(cause))
                        : "no Kafka broker answered at %s within %d s (%s)"
                                .formatted(brokers, PATIENCE.toSeconds(), reason(cause)),
                cause);
    }

    private static String reason(Exception failure) {
        return failure instanceof TimeoutException ? "timed out" : BrokerRefusal.root(failure);
    }
}
