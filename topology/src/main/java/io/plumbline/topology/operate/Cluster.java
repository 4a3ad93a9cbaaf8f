package io.plumbline.topology.operate;

import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.config.TopicNames;
import io.plumbline.topology.ingest.SiteId;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A Kafka cluster as a command's clients reach it.
 *
 * @param topics what the topics are called there
 * @param tenants whose each configured site is, where each tenant has a topic of activations
 * @param admin properties of a client that asks about topics
 * @param consumer properties of a reader, which is no member of the monitor's group
 * @param producer properties of a writer, without a transactional id
 * @param adapter the group of the adapter; null where no file says what it is called
 * @param observed the sites that do not adapt, as the file has them
 */
record Cluster(
        TopicNames topics,
        Map<String, String> tenants,
        Map<String, String> admin,
        Map<String, String> consumer,
        Map<String, String> producer,
        @Nullable String adapter,
        Set<String> observed) {

    /** The settings that name one member: two clients under one name throw each other out. */
    private static final List<String> OF_ONE_MEMBER = List.of("group.id", "group.instance.id", "transactional.id");

    /** A cluster with the default topics. */
    static Cluster at(Map<String, String> client) {
        return new Cluster(TopicNames.DEFAULT, Map.of(), client, client, client, null, Set.of());
    }

    /** @param more properties that win over those of the file */
    static Cluster of(MonitorConfig config, Map<String, String> more) {
        return new Cluster(
                config.topics(),
                config.tenants(),
                with(config.adminProperties(), more),
                with(config.subscriberProperties(), more),
                with(config.producerProperties(), more),
                config.adapterApplicationId(),
                observed(config));
    }

    /** Returns the configured names of the sites that do not adapt: one with several targets counts once. */
    private static Set<String> observed(MonitorConfig config) {
        Set<String> sites = config.sites().values().stream()
                .map(site -> site.id().group())
                .collect(Collectors.toCollection(TreeSet::new));
        sites.removeAll(config.adaptations().keySet());
        return sites;
    }

    private static Map<String, String> with(Map<String, String> file, Map<String, String> more) {
        Map<String, String> client = new TreeMap<>(file);
        OF_ONE_MEMBER.forEach(client::remove);
        client.putAll(more);
        return client;
    }

    /**
     * Returns the topic by which the rows of a site come.
     *
     * @throws UsageException when each tenant has a topic and the file does not name the site
     */
    String activationsOf(String site) {
        String tenant = tenants.get(SiteId.parse(site).group());
        if (tenant == null && !tenants.isEmpty()) {
            throw new UsageException(
                    "--site %s: expected one of the file, whose tenant tells the topic, or --topic".formatted(site));
        }
        return topics.activationsOf(tenant);
    }

    String bootstrapServers() {
        return String.valueOf(admin.get("bootstrap.servers"));
    }

    /** @throws UsageException when the topic, or a broker that tells, is not there */
    void require(String topic) {
        if (!Brokers.topics(admin).contains(topic)) {
            throw new UsageException("topic %s does not exist at %s".formatted(topic, bootstrapServers()));
        }
    }
}
