package io.plumbline.topology.broker;

import io.plumbline.topology.config.MonitorConfig;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.AlterConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.clients.admin.DescribeConsumerGroupsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.DescribeTransactionsOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.apache.kafka.common.errors.UnknownMemberIdException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;

/** Asks Kafka's administration client what the topics need: every wait has an end, and every failure is a sentence. */
final class TopicClient implements AutoCloseable {

    private static final long WAIT_SECONDS = 15;

    /** The time limit of the client too: closing it waits for its open requests. */
    private static final int WAIT_MS = (int) (WAIT_SECONDS * 1_000);

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final MonitorConfig config;
    private final Admin admin;

    private TopicClient(MonitorConfig config, Admin admin) {
        this.config = config;
        this.admin = admin;
    }

    /** @throws StartException when no client can be made of the properties */
    static TopicClient connect(MonitorConfig config) {
        try {
            Map<String, Object> properties = new HashMap<>();
            // A group is asked for in two ways, the second after this pause.
            properties.put(AdminClientConfig.RETRY_BACKOFF_MS_CONFIG, "20");
            properties.putAll(config.adminProperties());
            return new TopicClient(config, Admin.create(properties));
        } catch (KafkaException | IllegalArgumentException e) {
            throw new StartException("no client for kafka.bootstrap.servers = %s can be made: %s"
                    .formatted(config.bootstrapServers(), config.withoutSecrets(message(e))));
        }
    }

    /**
     * Returns the topics of {@code names} that there are, each with what this principal may do on it. One that it may
     * not even describe is not among them.
     *
     * @throws StartException when the broker does not answer or refuses the login
     */
    Map<String, TopicDescription> describe(Collection<String> names) {
        List<String> there = new ArrayList<>(names);
        there.retainAll(answer(
                admin.listTopics(new ListTopicsOptions().timeoutMs(WAIT_MS)).names()));
        return answer(admin.describeTopics(
                        there, new DescribeTopicsOptions().timeoutMs(WAIT_MS).includeAuthorizedOperations(true))
                .allTopicNames());
    }

    /** Returns how many brokers the cluster has now; 0 where this principal may not ask. */
    int brokers() {
        return answerOr(
                        admin.describeCluster(new DescribeClusterOptions().timeoutMs(WAIT_MS))
                                .nodes(),
                        List.of())
                .size();
    }

    /**
     * Makes topics.
     *
     * @param replicationFactor null: the broker's default
     * @return one sentence for each that could not be made; one that was there already is no failure
     */
    List<String> create(List<TopicPlan.Planned> topics, @Nullable Short replicationFactor) {
        List<NewTopic> wanted = topics.stream()
                .map(topic -> new NewTopic(
                                topic.name(), Optional.of(topic.partitions()), Optional.ofNullable(replicationFactor))
                        .configs(topic.settings()))
                .toList();
        List<String> refused = new ArrayList<>();
        Map<String, KafkaFuture<Void>> made = admin.createTopics(wanted, new CreateTopicsOptions().timeoutMs(WAIT_MS))
                .values();
        for (NewTopic topic : wanted) {
            try {
                KafkaFuture<Void> one = made.get(topic.name());
                if (one != null) {
                    one.get(WAIT_SECONDS, TimeUnit.SECONDS);
                }
            } catch (InterruptedException e) {
                throw interrupted();
            } catch (ExecutionException | TimeoutException e) {
                String connection = BrokerRefusal.connection(config, e);
                if (connection != null) {
                    throw new StartException(connection);
                }
                if (e.getCause() instanceof AuthorizationException) {
                    refused.add(
                            ("topic \"%s\" does not exist or %s may not see it, and it may not make it: create it with"
                                            + " `plumbline topics --create`, then grant what `plumbline topics"
                                            + " --acl` prints")
                                    .formatted(topic.name(), BrokerRefusal.principal(config)));
                } else if (!(e.getCause() instanceof TopicExistsException)) {
                    refused.add("topic \"%s\" cannot be created: %s".formatted(topic.name(), message(e)));
                }
            }
        }
        return refused;
    }

    /** Waits until the broker that answers knows all of them: a topic made a moment ago may not be listed yet. */
    void awaitSeen(Collection<String> names) {
        if (names.isEmpty()) {
            return;
        }
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
        while (!describe(names).keySet().containsAll(names) && System.nanoTime() < deadline) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /**
     * The settings in force of some topics.
     *
     * @return null where this principal may not ask
     */
    @Nullable
    Map<String, Config> settings(Collection<String> topics) {
        List<ConfigResource> resources = topics.stream()
                .map(name -> new ConfigResource(ConfigResource.Type.TOPIC, name))
                .toList();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
        while (true) {
            try {
                Map<String, Config> settings = new HashMap<>();
                admin.describeConfigs(resources, new DescribeConfigsOptions().timeoutMs(WAIT_MS))
                        .all()
                        .get(WAIT_SECONDS, TimeUnit.SECONDS)
                        .forEach((resource, found) -> settings.put(resource.name(), found));
                return settings;
            } catch (InterruptedException e) {
                throw interrupted();
            } catch (ExecutionException | TimeoutException e) {
                if (e.getCause() instanceof AuthorizationException) {
                    return null;
                }
                // A topic made a moment ago is not yet known to every broker.
                boolean isNew = e.getCause() instanceof UnknownTopicOrPartitionException;
                if (!isNew || System.nanoTime() > deadline) {
                    throw unreachable(e);
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    /**
     * Returns the committed offsets of a group; none where it has none, or where this principal may not ask.
     *
     * @throws StartException when the broker does not answer
     */
    Map<TopicPartition, OffsetAndMetadata> committed(String group) {
        Map<TopicPartition, OffsetAndMetadata> found = new HashMap<>();
        answerOr(
                        admin.listConsumerGroupOffsets(group, new ListConsumerGroupOffsetsOptions().timeoutMs(WAIT_MS))
                                .partitionsToOffsetAndMetadata(),
                        Map.of())
                .forEach((partition, offset) -> {
                    if (offset != null) {
                        found.put(partition, offset);
                    }
                });
        return found;
    }

    /**
     * Commits places of a group that has no member.
     *
     * @return whether they are committed; false: it has members
     * @throws StartException when the broker does not answer or refuses
     */
    boolean commit(String group, Map<TopicPartition, OffsetAndMetadata> places) {
        KafkaFuture<Boolean> committed = admin.alterConsumerGroupOffsets(
                        group, places, new AlterConsumerGroupOffsetsOptions().timeoutMs(WAIT_MS))
                .all()
                .thenApply(done -> true);
        return answer(committed, failure -> {
            if (failure.getCause() instanceof UnknownMemberIdException) {
                return false;
            }
            throw unreachable(failure);
        });
    }

    /**
     * Returns how many records each topic was ever given, markers of transactions included; a topic that this principal
     * may not ask about is left out.
     *
     * @throws StartException when the broker does not answer
     */
    Map<String, Long> ends(Collection<TopicDescription> topics) {
        Map<String, Long> ends = new HashMap<>();
        offsets(topics, OffsetSpec.latest())
                .forEach((partition, offset) -> ends.merge(partition.topic(), offset, Long::sum));
        return ends;
    }

    /** Returns an offset of each partition; those that this principal may not ask about are left out. */
    Map<TopicPartition, Long> offsets(Collection<TopicDescription> topics, OffsetSpec which) {
        Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
        topics.forEach(topic -> topic.partitions()
                .forEach(partition -> asked.put(new TopicPartition(topic.name(), partition.partition()), which)));
        ListOffsetsResult answers = admin.listOffsets(asked, new ListOffsetsOptions().timeoutMs(WAIT_MS));
        Map<TopicPartition, Long> offsets = new HashMap<>();
        for (TopicPartition partition : asked.keySet()) {
            KafkaFuture<List<Long>> found = answers.partitionResult(partition).thenApply(one -> List.of(one.offset()));
            answerOr(found, List.of()).forEach(offset -> offsets.put(partition, offset));
        }
        return offsets;
    }

    /**
     * Asks whether this principal may see the group; reading and writing in it include that. What is returned waits for
     * the answer.
     */
    BooleanSupplier mayUseGroup(String group) {
        return isNotRefused(
                admin.describeConsumerGroups(List.of(group), new DescribeConsumerGroupsOptions().timeoutMs(WAIT_MS))
                        .all(),
                GroupAuthorizationException.class);
    }

    /** Asks the same of the transactional id; writing with it includes that. */
    BooleanSupplier mayUseTransactionalId(String id) {
        return isNotRefused(
                admin.describeTransactions(Set.of(id), new DescribeTransactionsOptions().timeoutMs(WAIT_MS))
                        .all(),
                TransactionalIdAuthorizationException.class);
    }

    /** Returns whether a call was not refused: that there is no such group or id yet is an answer like any other. */
    private static BooleanSupplier isNotRefused(
            KafkaFuture<?> answer, Class<? extends AuthorizationException> refusal) {
        return () -> answer(answer.thenApply(any -> true), failure -> !refusal.isInstance(failure.getCause()));
    }

    private <T> T answer(KafkaFuture<T> asked) {
        return answer(asked, failure -> {
            throw unreachable(failure);
        });
    }

    /** Waits for an answer; returns {@code none} where this principal may not ask, or where there is no such group. */
    private <T> T answerOr(KafkaFuture<T> asked, T none) {
        return answer(asked, failure -> {
            Throwable cause = failure.getCause();
            if (cause instanceof AuthorizationException || cause instanceof GroupIdNotFoundException) {
                return none;
            }
            throw unreachable(failure);
        });
    }

    private static <T> T answer(KafkaFuture<T> asked, Function<Exception, T> otherwise) {
        try {
            return asked.get(WAIT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw interrupted();
        } catch (ExecutionException | TimeoutException e) {
            return otherwise.apply(e);
        }
    }

    private static StartException interrupted() {
        Thread.currentThread().interrupt();
        return new StartException("interrupted while asking the broker about topics");
    }

    private StartException unreachable(Exception e) {
        String connection = BrokerRefusal.connection(config, e);
        if (connection != null) {
            return new StartException(connection);
        }
        return StartException.passing(
                ("no answer from the broker at kafka.bootstrap.servers = %s (kafka.\"security.protocol\" = %s) within "
                                + "%d s: %s")
                        .formatted(
                                config.bootstrapServers(),
                                config.adminProperties().getOrDefault("security.protocol", "PLAINTEXT"),
                                WAIT_SECONDS,
                                config.withoutSecrets(message(e))));
    }

    private static String message(Exception e) {
        return BrokerRefusal.root(e);
    }

    @Override
    public void close() {
        admin.close();
    }
}
