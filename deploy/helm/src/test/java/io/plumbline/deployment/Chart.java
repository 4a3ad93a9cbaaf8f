package io.plumbline.deployment;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.marcnuri.helm.Helm;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscalerBehavior;
import io.fabric8.kubernetes.api.model.networking.v1.Ingress;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.openshift.api.model.monitoring.v1.PodMonitor;
import io.fabric8.openshift.api.model.monitoring.v1.PrometheusRule;
import io.fabric8.openshift.api.model.monitoring.v1.ServiceMonitor;
import io.strimzi.api.kafka.model.topic.KafkaTopic;
import io.strimzi.api.kafka.model.user.KafkaUser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A Helm chart, rendered by Helm itself and held to the types of Kubernetes. */
record Chart(Path folder) {

    static final Path OURS = Path.of("plumbline").toAbsolutePath();
    static final String RELEASE = "watch";

    private static final YAMLMapper YAML = new YAMLMapper();

    private static final YAMLMapper STRICT = (YAMLMapper) new YAMLMapper()
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .setAnnotationIntrospector(new WithoutAnySetters());

    /** The types of Kubernetes by apiVersion and kind. */
    private static final Map<String, Class<?>> TYPES = Map.ofEntries(
            Map.entry("kafka.strimzi.io/v1 KafkaTopic", KafkaTopic.class),
            Map.entry("kafka.strimzi.io/v1 KafkaUser", KafkaUser.class),
            Map.entry("v1 ConfigMap", ConfigMap.class),
            Map.entry("v1 Service", Service.class),
            Map.entry("v1 ServiceAccount", ServiceAccount.class),
            Map.entry("apps/v1 StatefulSet", StatefulSet.class),
            Map.entry("apps/v1 Deployment", Deployment.class),
            Map.entry("networking.k8s.io/v1 Ingress", Ingress.class),
            Map.entry("networking.k8s.io/v1 NetworkPolicy", NetworkPolicy.class),
            Map.entry("policy/v1 PodDisruptionBudget", PodDisruptionBudget.class),
            Map.entry("keda.sh/v1alpha1 ScaledObject", ScaledObject.class),
            Map.entry("monitoring.coreos.com/v1 PodMonitor", PodMonitor.class),
            Map.entry("monitoring.coreos.com/v1 PrometheusRule", PrometheusRule.class),
            Map.entry("monitoring.coreos.com/v1 ServiceMonitor", ServiceMonitor.class));

    /** Holds the fields of KEDA's ScaledObject that are used here, as its page has them: no library does. */
    record ScaledObject(String apiVersion, String kind, ObjectMeta metadata, Spec spec) {
        record Spec(
                Named scaleTargetRef,
                int minReplicaCount,
                int maxReplicaCount,
                Advanced advanced,
                List<Trigger> triggers) {}

        record Advanced(Autoscaler horizontalPodAutoscalerConfig) {}

        record Autoscaler(HorizontalPodAutoscalerBehavior behavior) {}

        record Named(String kind, String name) {}

        record Trigger(String type, Map<String, String> metadata, Named authenticationRef) {}
    }

    /** Turns off the setters that take unknown keys into a map: here an unknown key is a mistake. */
    private static final class WithoutAnySetters extends JacksonAnnotationIntrospector {

        private static final long serialVersionUID = 1L;

        @Override
        public Boolean hasAnySetter(Annotated annotated) {
            return Boolean.FALSE;
        }
    }

    /** Returns what {@code helm lint} says of the chart as it is delivered; empty when it finds nothing. */
    List<String> lint() {
        return new Helm(folder)
                .lint().strict().quiet().call().getMessages().stream()
                        .filter(message -> !message.contains("icon is recommended"))
                        .toList();
    }

    /** Returns the manifests for {@code values}; Helm's exceptions say what is wrong with those. */
    List<JsonNode> render(Path scratch, String values) throws IOException {
        Path file = Files.writeString(Files.createTempFile(scratch, "values", ".yaml"), values);
        String rendered = new Helm(folder)
                .template()
                .withName(RELEASE)
                .withNamespace("monitoring")
                .withKubeVersion("1.31.0")
                .withValuesFile(file)
                .call();
        List<JsonNode> manifests = new ArrayList<>();
        try (MappingIterator<JsonNode> documents =
                YAML.readerFor(JsonNode.class).readValues(rendered)) {
            documents.forEachRemaining(document -> {
                if (document.isObject() && !document.isEmpty()) {
                    manifests.add(document);
                }
            });
        }
        assertTrue(!manifests.isEmpty(), rendered);
        return manifests;
    }

    /** Reads a manifest as what it says it is. */
    static Object typed(JsonNode manifest) throws IOException {
        String name = manifest.path("apiVersion").asText() + " "
                + manifest.path("kind").asText();
        Class<?> type = TYPES.get(name);
        assertNotNull(type, name);
        return STRICT.treeToValue(manifest, type);
    }

    static JsonNode one(List<JsonNode> manifests, String kind, String name) {
        List<JsonNode> found = manifests.stream()
                .filter(manifest -> manifest.path("kind").asText().equals(kind)
                        && manifest.path("metadata").path("name").asText().equals(name))
                .toList();
        assertTrue(found.size() == 1, () -> "%d of %s %s in %s"
                .formatted(
                        found.size(),
                        kind,
                        name,
                        manifests.stream()
                                .map(manifest -> manifest.path("kind").asText() + " "
                                        + manifest.path("metadata").path("name").asText())
                                .toList()));
        return found.get(0);
    }
}
