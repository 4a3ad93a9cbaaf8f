package io.plumbline.deployment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.plumbline.topology.broker.AccessRole;
import io.plumbline.topology.broker.Grant;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.config.MonitorConfig;
import io.strimzi.api.kafka.model.user.KafkaUser;
import io.strimzi.api.kafka.model.user.KafkaUserAuthorizationSimple;
import io.strimzi.api.kafka.model.user.acl.AclRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that Kubernetes and Plumbline take what the Helm chart renders. */
class ChartTest {

    private static final Path PROMETHEUS = Path.of("..", "prometheus");
    private static final Path GRAFANA = Path.of("..", "..", "grafana");

    static final String LEAST = """
            config:
              kafka: {bootstrap.servers: "kafka:9092"}
              limits: {requests_per_window: 1000000}
              sites:
                encoder.layer.2: {explainer: /explainers/sae, baseline: /explainers/b.safetensors, rank: 32}
            """;

    static final String EVERYTHING = LEAST + """
            image: {repository: registry.example/plumbline, digest: "sha256:%s", pullSecrets: [{name: registry}]}
            explainers: {volume: {persistentVolumeClaim: {claimName: explainers}}}
            secrets: {env: [{name: KAFKA_PASSWORD, secret: kafka, key: password}], files: kafka-tls}
            logLevel: info
            monitor:
              replicas: 3
              javaOptions: -XX:MaxRAMPercentage=60
              persistence: {storageClassName: fast}
              podAnnotations: {team: interpretability}
              nodeSelector: {disk: ssd}
              tolerations: [{key: dedicated, operator: Equal, value: kafka, effect: NoSchedule}]
            podMonitor: {enabled: true, labels: {release: prometheus}, endpoint: {honorLabels: true}}
            prometheusRule: {enabled: true, runbookUrl: "https://example.org/runbook.md"}
            dashboards: {enabled: true}
            serviceMonitor: {enabled: true}
            serviceAccount: {create: true, annotations: {role: reader}}
            priorityClassName: high
            extra:
              env: [{name: TZ, value: UTC}]
              volumes: [{name: fetched, emptyDir: {}}]
              volumeMounts: [{name: fetched, mountPath: /fetched, readOnly: true}]
              initContainers:
                - name: fetch
                  image: registry.example/fetch
                  args: [copy, "s3://models/explainers", /explainers]
                  volumeMounts: [{name: fetched, mountPath: /explainers}]
                  securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
            adapter: {affinity: {podAntiAffinity: {}}}
            autoscaling: {enabled: true, maxReplicas: 6, authentication: kafka-login}
            networkPolicy: {enabled: true, from: [{podSelector: {matchLabels: {app: prometheus}}}]}
            ingress: {enabled: true, className: nginx, host: plumbline.example, tls: [{secretName: plumbline-tls}]}
            kafkaTopic: {enabled: true, cluster: events}
            kafkaUser: {enabled: true, cluster: events, roles: [monitor, adapter, subscriber, operator, producer, admin]}
            """.formatted("a".repeat(64));

    static final List<String> VARIANTS = List.of(
            LEAST,
            EVERYTHING,
            EVERYTHING.replace("monitor:\n", "monitor:\n  kind: Deployment\n"),
            LEAST + "probes: {tcp: true}\nadapter: {enabled: false}\nmonitor: {persistence: {enabled: false}}\n");

    @TempDir
    private Path folder;

    @Test
    void helmFindsNothingWrongWithIt() {
        assertEquals(List.of(), new Chart(Chart.OURS).lint());
    }

    @Test
    void everyManifestHasOnlyFieldsThatItsTypeHas() throws IOException {
        for (String values : VARIANTS) {
            for (JsonNode manifest : render(values)) {
                assertEquals(
                        manifest.path("metadata").path("name").asText(),
                        new YAMLMapper()
                                .valueToTree(Chart.typed(manifest))
                                .path("metadata")
                                .path("name")
                                .asText());
            }
        }
        ObjectNode set = (ObjectNode) Chart.one(render(LEAST), "StatefulSet", "watch-monitor");
        set.withObject("/spec/template/spec").put("terminationGracePeriod", 60);
        assertThrows(IOException.class, () -> Chart.typed(set), "a misspelt field is seen");
    }

    /** The names are those of the topology and of the services beside it. */
    @Test
    void whatStandsBesideThePodsPointsAtThem() throws IOException {
        List<JsonNode> all = render(EVERYTHING);
        JsonNode pod = Chart.one(all, "StatefulSet", "watch-monitor").at("/spec/template/spec");
        assertEquals("watch", pod.path("serviceAccountName").asText());
        assertEquals(
                "watch",
                Chart.one(all, "ServiceAccount", "watch").at("/metadata/name").asText());
        assertEquals("fetch", pod.at("/initContainers/0/name").asText());
        assertTrue(pod.path("volumes").findValuesAsText("name").contains("fetched"));
        JsonNode trigger = Chart.one(all, "ScaledObject", "watch-monitor").at("/spec/triggers/0/metadata");
        MonitorConfig config = parse(config(all));
        assertEquals(
                StreamsSettings.monitor(config).get("application.id"),
                trigger.path("consumerGroup").asText());
        assertEquals(config.topics().activations(), trigger.path("topic").asText());
        assertTrue(
                Chart.one(all, "StatefulSet", "watch-monitor")
                        .at("/spec/replicas")
                        .isMissingNode(),
                "an upgrade would set the number back");
        Chart.one(render(LEAST + "autoscaling: {enabled: true}\n"), "PodDisruptionBudget", "watch-monitor");
        JsonNode served = Chart.one(all, "Ingress", "watch").at("/spec/rules/0/http/paths/0");
        assertEquals("/", served.path("path").asText());
        assertEquals(
                "/plumbline",
                Chart.one(
                                render(EVERYTHING.replace("config:\n", "config:\n  http: {base_path: /plumbline}\n")),
                                "Ingress",
                                "watch")
                        .at("/spec/rules/0/http/paths/0/path")
                        .asText());
        JsonNode service = served.at("/backend/service");
        assertEquals(
                service.at("/port/name").asText(),
                Chart.one(all, "Service", service.path("name").asText())
                        .at("/spec/ports/0/name")
                        .asText());
        for (String role : List.of("monitor", "adapter")) {
            JsonNode labels = Chart.one(all, "Service", "watch-" + role).at("/metadata/labels");
            JsonNode wanted = Chart.one(all, "ServiceMonitor", "watch").at("/spec/selector/matchLabels");
            assertEquals(wanted, only(labels, wanted), role);
        }
        assertEquals(
                "default",
                Chart.one(render(LEAST), "StatefulSet", "watch-monitor")
                        .at("/spec/template/spec/serviceAccountName")
                        .asText());
    }

    @Test
    void theConfigurationIsOneThatTheProgramTakes() throws IOException {
        String yaml = config(render(EVERYTHING));
        MonitorConfig config = parse(yaml);
        assertEquals("0.0.0.0", config.http().bind());
        assertEquals(Path.of("/var/lib/plumbline/state"), config.stateDirectory());
        assertEquals(List.of("encoder.layer.2"), List.copyOf(config.sites().keySet()));
        assertEquals(List.of(), StreamsSettings.problems(config));
    }

    @Test
    void aStatefulSetIsAMemberWithANameAndADeploymentIsNot() throws IOException {
        String named = config(render(LEAST));
        assertTrue(named.contains("monitor.group.instance.id: ${env:POD_NAME}"), named);
        assertTrue(StreamsSettings.isStaticMember(StreamsSettings.monitor(parse(named))));
        assertFalse(StreamsSettings.isStaticMember(StreamsSettings.adapter(parse(named))), "an adapter has no name");
        JsonNode environment = container(Chart.one(render(LEAST), "StatefulSet", "watch-monitor"))
                .path("env");
        assertEquals("POD_NAME", environment.path(0).path("name").asText());
        assertEquals(
                "metadata.name",
                environment.path(0).at("/valueFrom/fieldRef/fieldPath").asText());
        for (String without : List.of("monitor: {kind: Deployment}", "monitor: {staticMembership: false}")) {
            MonitorConfig unnamed = MonitorConfig.parse(config(render(LEAST + without + "\n")), without, folder);
            assertFalse(StreamsSettings.isStaticMember(StreamsSettings.monitor(unnamed)), without);
        }
    }

    @Test
    void podsRunAsNobodyInParticularOnARootTheyCannotWrite() throws IOException {
        List<JsonNode> manifests = render(EVERYTHING);
        for (JsonNode pods : List.of(
                Chart.one(manifests, "StatefulSet", "watch-monitor"),
                Chart.one(manifests, "Deployment", "watch-adapter"))) {
            JsonNode container = container(pods);
            assertTrue(
                    pods.at("/spec/template/spec/securityContext/runAsNonRoot").asBoolean());
            assertTrue(container.at("/securityContext/readOnlyRootFilesystem").asBoolean());
            assertFalse(
                    container.at("/securityContext/allowPrivilegeEscalation").asBoolean(true));
            assertEquals(
                    "registry.example/plumbline@sha256:" + "a".repeat(64),
                    container.path("image").asText());
            Map<String, String> mounts = new TreeMap<>();
            container
                    .path("volumeMounts")
                    .forEach(mount -> mounts.put(
                            mount.path("mountPath").asText(), mount.path("name").asText()));
            assertEquals(
                    Map.of(
                            "/etc/plumbline", "config",
                            "/var/lib/plumbline", "state",
                            "/tmp", "tmp",
                            "/explainers", "explainers",
                            "/fetched", "fetched",
                            "/run/secrets/plumbline", "secrets"),
                    mounts);
            assertEquals("/healthz", container.at("/livenessProbe/httpGet/path").asText());
            assertEquals("/healthz", container.at("/startupProbe/httpGet/path").asText());
            assertEquals("/readyz", container.at("/readinessProbe/httpGet/path").asText());
            assertEquals(
                    pods.at("/spec/selector/matchLabels"),
                    only(pods.at("/spec/template/metadata/labels"), pods.at("/spec/selector/matchLabels")));
        }
    }

    @Test
    void rulesAndDashboardsAreTheOnesOfThisRepository() throws IOException {
        List<JsonNode> manifests = render(EVERYTHING);
        YAMLMapper yaml = new YAMLMapper();
        int rules = 0;
        for (Path file : files(PROMETHEUS, "-rules.yml")) {
            String name = file.getFileName().toString().replace(".yml", "");
            String text = Files.readString(file);
            JsonNode expected =
                    yaml.readTree(text.replace("docs/operate/runbook.md#", "https://example.org/runbook.md#"));
            assertEquals(
                    expected,
                    Chart.one(manifests, "PrometheusRule", "watch-" + name).path("spec"));
            rules++;
        }
        assertTrue(rules > 0, "no rules in " + PROMETHEUS);
        Map<String, String> expected = new TreeMap<>();
        for (Path file : files(GRAFANA, ".json")) {
            expected.put(file.getFileName().toString(), Files.readString(file).strip());
        }
        assertFalse(expected.isEmpty());
        Map<String, String> rendered = new TreeMap<>();
        Chart.one(manifests, "ConfigMap", "watch-dashboards")
                .path("data")
                .properties()
                .forEach(entry ->
                        rendered.put(entry.getKey(), entry.getValue().asText().strip()));
        assertEquals(expected, rendered);
    }

    @Test
    void theScraperFindsThePods() throws IOException {
        List<JsonNode> manifests = render(EVERYTHING);
        JsonNode monitor = Chart.one(manifests, "PodMonitor", "watch").path("spec");
        JsonNode set = Chart.one(manifests, "StatefulSet", "watch-monitor");
        JsonNode wanted = monitor.at("/selector/matchLabels");
        assertEquals(wanted, only(set.at("/spec/template/metadata/labels"), wanted));
        assertEquals(
                container(set).at("/ports/0/name").asText(),
                monitor.at("/podMetricsEndpoints/0/port").asText());
        assertEquals("watch", wanted.path(monitor.path("jobLabel").asText()).asText(), "two releases are two jobs");
    }

    @Test
    void severalMonitorsAreSpreadAndGoOneAtATime() throws IOException {
        List<JsonNode> several = render(EVERYTHING);
        JsonNode budget = Chart.one(several, "PodDisruptionBudget", "watch-monitor");
        JsonNode set = Chart.one(several, "StatefulSet", "watch-monitor");
        assertEquals(set.at("/spec/selector"), budget.at("/spec/selector"));
        JsonNode spread = set.at("/spec/template/spec/topologySpreadConstraints");
        assertEquals(2, spread.size());
        spread.forEach(one -> assertEquals(set.at("/spec/selector"), one.path("labelSelector")));
        assertTrue(render(LEAST).stream()
                .noneMatch(manifest -> manifest.path("kind").asText().equals("PodDisruptionBudget")));
    }

    @Test
    void theTopicIsTheOneTheConfigurationNames() throws IOException {
        JsonNode topic = Chart.one(
                render(EVERYTHING.replace("  sites:", "  topics: {activations: hidden-states}\n  sites:")),
                "KafkaTopic",
                "watch-activations");
        assertEquals("hidden-states", topic.at("/spec/topicName").asText());
        assertEquals(
                "events",
                topic.path("metadata").path("labels").path("strimzi.io/cluster").asText());
        assertTrue(topic.at("/spec/config/retention.ms").isIntegralNumber(), topic.toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "config: {application_id: watcher, topics: {activations: hidden-states, decoders: refits}}",
                "config: {http: {console: false}, kafka: {processing.guarantee: at_least_once}}",
                "config: {kafka: {adapter.processing.guarantee: at_least_once}}"
            })
    void usersHaveTheRightsThatTheProgramPrintsAndNoMore(String values) throws IOException {
        String merged = merged(values + "\n"
                + "kafkaUser: {enabled: true, cluster: events, roles: %s}\n".formatted(List.of(AccessRole.values())));
        List<JsonNode> manifests = render(merged);
        MonitorConfig config = parse(config(manifests));
        for (AccessRole role : AccessRole.values()) {
            KafkaUser user = (KafkaUser) Chart.typed(Chart.one(manifests, "KafkaUser", "watch-" + role));
            assertEquals("events", user.getMetadata().getLabels().get("strimzi.io/cluster"));
            assertEquals("scram-sha-512", user.getSpec().getAuthentication().getType());
            assertEquals(
                    sorted(role.grants(config).stream().map(ChartTest::text)),
                    rights(manifests, "watch-" + role),
                    role.toString());
        }
    }

    @Test
    void eachTenantHasATopicAndAUserThatMayWriteToNoOther() throws IOException {
        String merged = merged("""
                config:
                  topics: {activations: "rows-{tenant}"}
                  sites:
                    encoder.layer.2: {tenant: acme}
                    blocks.7: {tenant: acme, explainer: a, baseline: a, rank: 4, threshold: 1.0}
                    blocks.8: {tenant: globex, explainer: a, baseline: a, rank: 4, threshold: 1.0}
                    blocks.9: {tenant: acme, explainer: a, baseline: a, rank: 4, threshold: 1.0}
                autoscaling: {enabled: true}
                kafkaTopic: {enabled: true, cluster: events}
                kafkaUser: {enabled: true, cluster: events, roles: [monitor, producer, admin]}
                """);
        List<JsonNode> manifests = render(merged);
        MonitorConfig config = parse(config(manifests));
        for (String role : List.of("monitor", "admin")) {
            assertEquals(
                    sorted(AccessRole.valueOf(role.toUpperCase(Locale.ROOT)).grants(config).stream()
                            .map(ChartTest::text)),
                    rights(manifests, "watch-" + role),
                    role);
        }
        assertEquals(
                sorted(config.activationTopics().stream()
                        .skip(1)
                        .map(AccessRole::writing)
                        .map(ChartTest::text)),
                rights(manifests, "watch-producer-globex"));
        assertEquals(1, rights(manifests, "watch-producer-acme").size());
        assertEquals(
                "rows-globex",
                Chart.one(manifests, "KafkaTopic", "watch-activations-globex")
                        .at("/spec/topicName")
                        .asText());
        assertEquals(
                List.of("rows-acme", "rows-globex"),
                Chart.one(manifests, "ScaledObject", "watch-monitor")
                        .at("/spec/triggers")
                        .findValuesAsText("topic"));
    }

    private static List<String> rights(List<JsonNode> manifests, String user) throws IOException {
        KafkaUser typed = (KafkaUser) Chart.typed(Chart.one(manifests, "KafkaUser", user));
        KafkaUserAuthorizationSimple rights =
                (KafkaUserAuthorizationSimple) typed.getSpec().getAuthorization();
        return sorted(rights.getAcls().stream().map(ChartTest::text));
    }

    private static List<String> sorted(Stream<String> rights) {
        return rights.sorted().toList();
    }

    private static String text(Grant grant) {
        return "%s %s %s %s"
                .formatted(
                        grant.type(),
                        grant.pattern(),
                        grant.name(),
                        sorted(grant.operations().stream().map(Enum::name)));
    }

    /** Returns a rule in Kafka's words; Strimzi's types leave out a pattern that is literal. */
    private static String text(AclRule rule) {
        Map<String, Object> resource = new YAMLMapper().convertValue(rule.getResource(), new TypeReference<>() {});
        return "%s %s %s %s"
                .formatted(
                        resource.get("type")
                                .toString()
                                .replace("transactionalId", "TRANSACTIONAL_ID")
                                .toUpperCase(Locale.ROOT),
                        "prefix".equals(resource.get("patternType")) ? "PREFIXED" : "LITERAL",
                        resource.get("name"),
                        sorted(rule.getOperations().stream()
                                .map(operation -> operation.toValue().replace("DescribeConfigs", "DESCRIBE_CONFIGS"))
                                .map(operation -> operation.toUpperCase(Locale.ROOT))));
    }

    @Test
    void aPodSpeaksToTheBrokerAsTheUserOfItsRole() throws IOException {
        List<JsonNode> manifests = render(EVERYTHING);
        for (JsonNode pods : List.of(
                Chart.one(manifests, "StatefulSet", "watch-monitor"),
                Chart.one(manifests, "Deployment", "watch-adapter"))) {
            JsonNode login = StreamSupport.stream(container(pods).path("env").spliterator(), false)
                    .filter(one -> one.path("name").asText().equals("PLUMBLINE_KAFKA_JAAS"))
                    .findFirst()
                    .orElseThrow();
            assertEquals(
                    pods.at("/metadata/name"),
                    login.at("/valueFrom/secretKeyRef/name"),
                    "Strimzi names it after the user");
            assertEquals(
                    "sasl.jaas.config", login.at("/valueFrom/secretKeyRef/key").asText());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "kafkaUser: {roles: [monitors]}",
                "monitr: {replicas: 2}",
                "monitor: {replica: 2}",
                "monitor: {kind: DaemonSet}",
                "monitor: {replicas: 0}",
                "image: {digest: latest}",
                "config: {http: {bind: 127.0.0.1}}",
                "config: {state: {directory: /elsewhere}}",
                "secrets: {env: [{name: A, secret: b}]}",
                "config: {sites: null}"
            })
    void valuesThatMeanNothingAreRefused(String values) {
        Exception refused = assertThrows(Exception.class, () -> render(merged(values)));
        assertTrue(refused.getMessage().contains("don't meet the specifications of the schema"), refused.getMessage());
    }

    /** YAML has its own mind about stars and digits, and Helm reads numbers as floats. */
    @Test
    void oddValuesArriveAsTheyWereWritten() throws IOException {
        List<JsonNode> all = render(EVERYTHING
                .replace("host: plumbline.example", "host: '*.example'")
                .replace("key: password", "key: '1'")
                .replace("replicas: 3", "replicas: 3\n  sessionTimeoutMs: 1800000")
                .replace("maxReplicas: 6", "maxReplicas: 6, lagThreshold: 2000000")
                .replace("  kafka: {boot", "  http: {base_path: ''}\n  topics: {activations: '2024'}\n  kafka: {boot"));
        for (JsonNode manifest : all) {
            assertEquals(
                    manifest.path("kind").asText(),
                    new YAMLMapper()
                            .valueToTree(Chart.typed(manifest))
                            .path("kind")
                            .asText());
        }
        JsonNode rule = Chart.one(all, "Ingress", "watch").at("/spec/rules/0");
        assertEquals("*.example", rule.path("host").asText());
        assertEquals("/", rule.at("/http/paths/0/path").asText());
        JsonNode trigger = Chart.one(all, "ScaledObject", "watch-monitor").at("/spec/triggers/0/metadata");
        assertEquals("2000000", trigger.path("lagThreshold").textValue());
        assertEquals("2024", trigger.path("topic").textValue());
        assertEquals(
                "2024",
                Chart.one(all, "KafkaTopic", "watch-activations")
                        .at("/spec/topicName")
                        .textValue());
        JsonNode environment =
                Chart.one(all, "StatefulSet", "watch-monitor").at("/spec/template/spec/containers/0/env");
        assertTrue(environment.toString().contains("\"key\":\"1\""), environment.toString());
        assertTrue(config(all).contains("1800000"), config(all));
    }

    @Test
    void fewerMonitorsAtMostThanAtLeastAreASentence() {
        Exception refused =
                assertThrows(Exception.class, () -> render(EVERYTHING.replace("maxReplicas: 6", "maxReplicas: 2")));
        assertTrue(
                refused.getMessage()
                        .contains("autoscaling.maxReplicas = 2: expected at least monitor.replicas = 3, the fewest"),
                refused.getMessage());
    }

    @Test
    void aReleaseWithoutSitesIsASentence() {
        Exception refused = assertThrows(
                Exception.class, () -> render("config: {kafka: {bootstrap.servers: \"kafka:9092\"}, sites: {}}\n"));
        assertTrue(refused.getMessage().contains("config.sites is empty: expected at least one"), refused.getMessage());
    }

    @Test
    void aBrokenTemplateFails() throws IOException {
        Path copy = folder.resolve("chart");
        try (Stream<Path> files = Files.walk(Chart.OURS)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path target = copy.resolve(Chart.OURS.relativize(file).toString());
                Files.createDirectories(target.getParent());
                Files.copy(file, target);
            }
        }
        Chart chart = new Chart(copy);
        assertFalse(chart.render(folder, LEAST).isEmpty());
        Path template = copy.resolve("templates").resolve("adapter.yaml");
        Files.writeString(template, Files.readString(template).replace("{{- end }}", ""));
        assertThrows(Exception.class, () -> chart.render(folder, LEAST));
        assertFalse(chart.lint().isEmpty());
    }

    private List<JsonNode> render(String values) throws IOException {
        return new Chart(Chart.OURS).render(folder, values);
    }

    /** Returns {@link #LEAST} with one more key, which may lie in {@code config} too. */
    private static String merged(String values) throws IOException {
        YAMLMapper yaml = new YAMLMapper();
        JsonNode least = yaml.readTree(LEAST);
        return yaml.writeValueAsString(merge((ObjectNode) least, (ObjectNode) yaml.readTree(values)));
    }

    private static ObjectNode merge(ObjectNode into, ObjectNode more) {
        more.properties().forEach(entry -> {
            JsonNode there = into.get(entry.getKey());
            if (there instanceof ObjectNode object && entry.getValue() instanceof ObjectNode its) {
                merge(object, its);
            } else {
                into.set(entry.getKey(), entry.getValue());
            }
        });
        return into;
    }

    private MonitorConfig parse(String yaml) {
        return MonitorConfig.parse(yaml.replace("${env:POD_NAME}", "watch-monitor-0"), "plumbline.yaml", folder);
    }

    private static String config(List<JsonNode> manifests) {
        return Chart.one(manifests, "ConfigMap", "watch")
                .at("/data/plumbline.yaml")
                .asText();
    }

    private static JsonNode container(JsonNode pods) {
        return pods.at("/spec/template/spec/containers/0");
    }

    /** Returns those labels of {@code labels} that {@code wanted} asks for. */
    private static JsonNode only(JsonNode labels, JsonNode wanted) {
        ObjectNode found = ((ObjectNode) labels).deepCopy();
        List<String> names = new ArrayList<>();
        wanted.fieldNames().forEachRemaining(names::add);
        return found.retain(names);
    }

    private static List<Path> files(Path directory, String end) throws IOException {
        try (var stream = Files.newDirectoryStream(directory, "*" + end)) {
            return StreamSupport.stream(stream.spliterator(), false).sorted().toList();
        }
    }
}
