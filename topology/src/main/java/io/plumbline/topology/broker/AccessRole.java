package io.plumbline.topology.broker;

import io.plumbline.topology.config.ActivationTopic;
import io.plumbline.topology.config.MonitorConfig;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.streams.StreamsConfig;

/** The roles that speak to the broker, and the rights each needs and no more, once the topics are there. */
public enum AccessRole {
    /** {@code plumbline run --role monitor}. */
    MONITOR("reads activations, writes reports, requests and dead letters"),
    /** {@code plumbline run --role adapter}. */
    ADAPTER("reads requests, publishes decoders"),
    /**
     * A program with a {@code DecoderSubscriber}, and {@code plumbline decoders list}, {@code fetch} and {@code
     * follow}.
     */
    SUBSCRIBER("reads published decoders"),
    /**
     * {@code plumbline decoders approve}, {@code pin}, {@code unpin}, {@code rollback} and {@code list}, {@code
     * plumbline baselines} and {@code plumbline baseline --propose}.
     */
    OPERATOR("decides which decoder serves, proposes baselines"),
    /** A model server. */
    PRODUCER("writes activations"),
    /** {@code plumbline topics --create} and {@code --describe}. */
    ADMIN("makes the topics and looks at them");

    private final String what;

    AccessRole(String what) {
        this.what = what;
    }

    public String what() {
        return what;
    }

    /** Everything the role needs on the topics, groups and transactional ids of {@code config}. */
    public List<Grant> grants(MonitorConfig config) {
        return switch (this) {
            case MONITOR -> withConsole(config, of(config, Application.MONITOR));
            case ADAPTER -> withConsole(config, of(config, Application.ADAPTER));
            case SUBSCRIBER ->
                List.of(Grant.on(ResourceType.TOPIC, config.topics().decoders(), AclOperation.READ));
            case OPERATOR ->
                List.of(
                        Grant.on(
                                ResourceType.TOPIC,
                                config.topics().adaptationRequests(),
                                AclOperation.READ,
                                AclOperation.WRITE),
                        Grant.on(ResourceType.TOPIC, config.topics().adaptationReports(), AclOperation.READ),
                        Grant.on(ResourceType.TOPIC, config.topics().decoders(), AclOperation.READ),
                        Grant.on(
                                ResourceType.TOPIC, config.topics().baselines(), AclOperation.READ, AclOperation.WRITE),
                        // Shows what a command waits for.
                        Grant.on(ResourceType.GROUP, config.adapterApplicationId(), AclOperation.DESCRIBE));
            case PRODUCER ->
                config.activationTopics().stream().map(AccessRole::writing).toList();
            case ADMIN ->
                TopicPlan.ofNames(config).topics().stream()
                        .map(topic -> Grant.on(
                                ResourceType.TOPIC,
                                topic.name(),
                                AclOperation.CREATE,
                                AclOperation.DESCRIBE,
                                AclOperation.DESCRIBE_CONFIGS))
                        .toList();
        };
    }

    /** Returns what a model server needs whose sites are those of one topic. */
    public static Grant writing(ActivationTopic topic) {
        return Grant.on(ResourceType.TOPIC, topic.topic(), AclOperation.WRITE);
    }

    /**
     * Adds the rights of the console: the page tells what happened before the process started, and elsewhere; an
     * application starts without these rights.
     */
    private static List<Grant> withConsole(MonitorConfig config, List<Grant> grants) {
        if (!config.http().console()) {
            return grants;
        }
        List<Grant> all = new ArrayList<>(grants);
        all.add(Grant.on(ResourceType.TOPIC, config.topics().windowReports(), AclOperation.READ));
        all.add(Grant.on(ResourceType.TOPIC, config.topics().adaptationReports(), AclOperation.READ));
        return List.copyOf(all);
    }

    /**
     * Returns what an application needs: its topics, its group, and its transactional ids where it writes exactly once.
     */
    static List<Grant> of(MonitorConfig config, Application application) {
        List<Grant> grants = new ArrayList<>();
        for (TopicPlan.Planned topic : TopicPlan.ofNames(config).usedBy(Set.of(application))) {
            Set<AclOperation> operations = EnumSet.noneOf(AclOperation.class);
            if (topic.readers().contains(application)) {
                operations.add(AclOperation.READ);
            }
            if (topic.writers().contains(application)) {
                operations.add(AclOperation.WRITE);
            }
            if (topic.name().equals(config.topics().deadLetters())) {
                // How large a record it takes decides whether a dead letter keeps its bytes.
                operations.add(AclOperation.DESCRIBE_CONFIGS);
            }
            grants.add(new Grant(ResourceType.TOPIC, topic.name(), PatternType.LITERAL, operations));
        }
        grants.add(Grant.on(ResourceType.GROUP, application.id(config), AclOperation.READ));
        if (isTransactional(config, application)) {
            grants.add(new Grant(
                    ResourceType.TRANSACTIONAL_ID,
                    application.id(config) + "-",
                    PatternType.PREFIXED,
                    Set.of(AclOperation.WRITE)));
        }
        return grants;
    }

    static boolean isTransactional(MonitorConfig config, Application application) {
        return StreamsConfig.EXACTLY_ONCE_V2.equals(
                StreamsSettings.of(config, application).get(StreamsConfig.PROCESSING_GUARANTEE_CONFIG));
    }

    /** Returns the name as it is typed and completed. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
