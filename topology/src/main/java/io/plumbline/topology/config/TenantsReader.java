package io.plumbline.topology.config;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** Reads which tenant each site belongs to, and holds that against the names of topics and against the models. */
final class TenantsReader {

    /** The rule of names of tenants, which become part of topics, state stores, labels and names of Kubernetes. */
    private static final Pattern NAME = Pattern.compile("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?");

    private final TopicNames topics;
    private final Map<String, String> bySite = new LinkedHashMap<>();

    TenantsReader(TopicNames topics) {
        this.topics = topics;
    }

    /** Reads the tenant of one site. */
    void read(String site, ConfigNode node) {
        String tenant = node.textOrNull("tenant");
        boolean shared = !topics.activations().contains(ActivationTopic.TENANT);
        if (tenant == null) {
            if (!shared) {
                node.problem(
                        "tenant",
                        "is missing: topics.activations has a topic for each, so every site names whose it is");
            }
        } else if (shared) {
            node.problem(
                    "tenant",
                    tenant,
                    "expected topics.activations such as activations-%s, which gives each tenant a topic of its own"
                            .formatted(ActivationTopic.TENANT));
        } else if (!NAME.matcher(tenant).matches()) {
            node.problem("tenant", tenant, "expected 1 to 63 small letters, digits and '-' between them");
        } else {
            requireOwnTopic(tenant, node);
            bySite.put(site, tenant);
        }
    }

    private void requireOwnTopic(String tenant, ConfigNode node) {
        String topic = topics.activationsOf(tenant);
        topics.byKey().forEach((key, other) -> {
            if (topic.equals(other)) {
                node.problem("tenant", tenant, "makes topic %s of it, which is topics.%s".formatted(topic, key));
            }
        });
        if (topic.length() > TopicNames.LONGEST) {
            node.problem(
                    "tenant",
                    tenant,
                    "makes a topic of %d characters of it, expected at most %d"
                            .formatted(topic.length(), TopicNames.LONGEST));
        }
    }

    /** Requires that the sites of a model are of one tenant, since one's rows decide the verdict on all of them. */
    void requireOneEach(ModelsReader models, ConfigNode root) {
        Map<String, Set<String>> byModel = new LinkedHashMap<>();
        bySite.forEach((site, tenant) -> {
            ModelsReader.Read model = models.of(site);
            if (model != null) {
                byModel.computeIfAbsent(model.model(), name -> new TreeSet<>()).add(tenant);
            }
        });
        byModel.forEach((model, tenants) -> {
            if (tenants.size() > 1) {
                root.problem(
                        "models",
                        "%s has sites of %s: expected those of one tenant"
                                .formatted(model, String.join(" and ", tenants)));
            }
        });
    }

    /** Returns the tenant of each site; empty where all share one topic. */
    Map<String, String> bySite() {
        return bySite;
    }
}
