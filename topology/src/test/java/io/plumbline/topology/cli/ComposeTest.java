package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.plumbline.topology.Repository;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.operate.Plumbline;
import io.plumbline.topology.runtime.Role;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/**
 * Tests that compose files name files, services, commands and ports that there are. They were never started by a test.
 */
class ComposeTest {

    private static final Path FOLDER = Repository.path("deploy", "compose");
    private static final YAMLMapper YAML = new YAMLMapper();

    @Test
    void everyFileItMountsIsThere() throws IOException {
        int mounts = 0;
        for (JsonNode service : services().values()) {
            for (JsonNode volume : service.path("volumes")) {
                String source = volume.asText().split(":", -1)[0];
                if (source.startsWith(".")) {
                    assertTrue(Files.exists(FOLDER.resolve(source)), source);
                    mounts++;
                } else if (!source.startsWith("$")) {
                    assertTrue(compose().path("volumes").has(source), source);
                }
            }
        }
        assertTrue(mounts >= 8, "mounts: " + mounts);
    }

    @Test
    void whateverStaysUpSaysWhetherItIsWellAndWhoWaitsForItNamesIt() throws IOException {
        Map<String, JsonNode> services = services();
        Set<String> expected =
                new TreeSet<>(Set.of("kafka", "topics", "monitor", "adapter", "prometheus", "alertmanager", "grafana"));
        Set<String> ending = Set.of("topics", "traffic");
        assertEquals(
                expected,
                services.keySet().stream()
                        .filter(name -> !services.get(name).has("profiles"))
                        .collect(Collectors.toCollection(TreeSet::new)));
        services.forEach((name, service) -> {
            assertEquals(!ending.contains(name), service.path("healthcheck").has("test"), name);
            service.path("depends_on").properties().forEach(other -> {
                assertTrue(services.containsKey(other.getKey()), name + " waits for " + other.getKey());
                assertEquals(
                        other.getKey().equals("topics") ? "service_completed_successfully" : "service_healthy",
                        other.getValue().path("condition").asText());
            });
            service.path("ports").forEach(port -> assertTrue(port.asText().startsWith("127.0.0.1:"), name));
        });
    }

    @Test
    void monitorAndAdapterAreStartedByCommandsThatThereAreWithAConfigurationTheProgramTakes() throws IOException {
        for (String role : List.of("monitor", "adapter")) {
            JsonNode service = services().get(role);
            CommandLine.ParseResult run = Plumbline.commandLine().parseArgs(words(service.path("command")));
            assertEquals(
                    role,
                    run.subcommand().matchedOptionValue("--role", Role.ALL).toString());
            List<String> health = List.of(words(service.at("/healthcheck/test")));
            assertEquals(Plumbline.class.getName(), health.get(health.size() - 2));
            Plumbline.commandLine().parseArgs(health.get(health.size() - 1));
            assertTrue(service.path("read_only").asBoolean(), role);
        }
        Path file = FOLDER.resolve("plumbline.yaml");
        MonitorConfig config = MonitorConfig.parse(Files.readString(file), file.toString(), FOLDER);
        assertTrue(config.stateDirectory().startsWith("/var/lib/plumbline"));
        assertTrue(services()
                .get("kafka")
                .at("/environment/KAFKA_ADVERTISED_LISTENERS")
                .asText()
                .contains("//" + config.bootstrapServers()));
        assertTrue(words(services().get("topics").path("command"))[2].equals(config.bootstrapServers()));
    }

    @Test
    void theTourSendsRecordingsThatAreThereToTheSiteOfTheConfigurationAndFillsItsWindows() throws IOException {
        JsonNode traffic = services().get("traffic");
        assertEquals("[\"demo\"]", traffic.path("profiles").toString());
        CommandLine.ParseResult replay = Plumbline.commandLine()
                .parseArgs(words(traffic.path("command")))
                .subcommand();
        MonitorConfig config =
                MonitorConfig.parse(Files.readString(FOLDER.resolve("plumbline.yaml")), "plumbline.yaml", FOLDER);
        List<?> sites = replay.matchedOptionValue("--site", List.of());
        assertEquals(List.copyOf(config.sites().keySet()), sites);
        String[] mount = traffic.at("/volumes/0").asText().split(":", -1);
        List<Path> recordings = replay.matchedOptionValue("--activations", List.of());
        assertEquals(3, recordings.size());
        for (Path recording : recordings) {
            Path file = FOLDER.resolve(mount[0]).resolve(Path.of(mount[1]).relativize(recording));
            assertTrue(Files.exists(file), file.toString());
        }
        SiteSettings site = config.sites().get(String.valueOf(sites.get(0)));
        String explainers = services().get("monitor").at("/volumes/1").asText();
        assertEquals("${PLUMBLINE_EXPLAINERS:-%s}:/explainers:ro".formatted(mount[0]), explainers);
        for (Path named : List.of(
                site.explained().baseline(), site.explained().explainer().resolve("cfg.json"))) {
            Path file = FOLDER.resolve(mount[0]).resolve(Path.of("/explainers").relativize(named));
            assertTrue(Files.exists(file), file.toString());
        }
        double rows = Double.parseDouble(
                replay.matchedOption("--rate").originalStringValues().get(0));
        double window = config.window().size().toSeconds();
        assertTrue(rows * window > 1.5 * site.alarms().minimumRows(), "windows of " + rows * window + " rows");
    }

    @Test
    void prometheusScrapesWhatIsStartedAndHasTheRules() throws IOException {
        JsonNode prometheus = YAML.readTree(FOLDER.resolve("prometheus.yml").toFile());
        for (JsonNode target : prometheus.at("/scrape_configs/0/static_configs/0/targets")) {
            String[] place = target.asText().split(":", -1);
            assertTrue(services().containsKey(place[0]), target.asText());
            assertEquals("9464", place[1]);
        }
        assertEquals("plumbline/*-rules.yml", prometheus.at("/rule_files/0").asText());
        boolean isMounted = false;
        for (JsonNode volume : services().get("prometheus").path("volumes")) {
            isMounted |= volume.asText().equals("../prometheus:/etc/prometheus/plumbline:ro");
        }
        assertTrue(isMounted, "the folder of the rules");
        try (var rules = Files.newDirectoryStream(FOLDER.resolve("../prometheus"), "*-rules.yml")) {
            assertTrue(rules.iterator().hasNext(), "no rules");
        }
        assertFalse(prometheus.at("/alerting/alertmanagers").isEmpty());
    }

    @Test
    void vllmSendsTheSitesOfTheMonitorToTheBrokerOfTheOtherFile() throws IOException {
        JsonNode added = YAML.readTree(FOLDER.resolve("vllm.yaml").toFile());
        assertEquals(Set.of("vllm"), names(added.path("services")));
        JsonNode vllm = added.at("/services/vllm");
        Map<String, JsonNode> others = services();
        vllm.path("depends_on").fieldNames().forEachRemaining(other -> assertTrue(others.containsKey(other), other));
        vllm.path("ports").forEach(port -> assertTrue(port.asText().startsWith("127.0.0.1:")));
        assertTrue(vllm.path("healthcheck").has("test"));
        String settings = null;
        for (JsonNode volume : vllm.path("volumes")) {
            String[] place = volume.asText().split(":", -1);
            if (place[0].startsWith(".")) {
                assertTrue(Files.exists(FOLDER.resolve(place[0])), place[0]);
                settings = vllm.at("/environment/PLUMBLINE_VLLM").asText().equals(place[1]) ? place[0] : settings;
            } else if (!place[0].startsWith("$")) {
                assertTrue(added.path("volumes").has(place[0]), place[0]);
            }
        }
        assertNotNull(settings, "the file that PLUMBLINE_VLLM names is mounted");
        JsonNode worker = YAML.readTree(FOLDER.resolve(settings).toFile());
        Path file = FOLDER.resolve("plumbline.yaml");
        MonitorConfig config = MonitorConfig.parse(Files.readString(file), file.toString(), FOLDER);
        assertEquals(
                config.bootstrapServers(),
                worker.at("/kafka").path("bootstrap.servers").asText());
        assertEquals(names(YAML.readTree(file.toFile()).path("sites")), names(worker.path("sites")));

        Path context = FOLDER.resolve(vllm.at("/build/context").asText());
        assertTrue(Files.exists(context.resolve("pyproject.toml")), context.toString());
        assertTrue(Files.exists(context.resolve(vllm.at("/build/dockerfile").asText())));
    }

    private static Set<String> names(JsonNode object) {
        Set<String> names = new TreeSet<>();
        object.fieldNames().forEachRemaining(names::add);
        return names;
    }

    private static JsonNode compose() throws IOException {
        return YAML.readTree(FOLDER.resolve("compose.yaml").toFile());
    }

    /** Returns the services with what they take over from an anchor; Jackson knows aliases of values only. */
    private static Map<String, JsonNode> services() throws IOException {
        String text = Files.readString(FOLDER.resolve("compose.yaml"));
        JsonNode compose = YAML.readTree(text.replace("x-plumbline: &plumbline", "x-plumbline:")
                .replace("    <<: *plumbline", "    inherits: true"));
        Map<String, JsonNode> services = new TreeMap<>();
        compose.path("services").properties().forEach(service -> {
            ObjectNode whole = YAML.createObjectNode();
            if (service.getValue().path("inherits").asBoolean()) {
                whole.setAll((ObjectNode) compose.path("x-plumbline"));
            }
            whole.setAll((ObjectNode) service.getValue());
            services.put(service.getKey(), whole);
        });
        return services;
    }

    private static String[] words(JsonNode list) {
        List<String> words = new ArrayList<>();
        list.forEach(word -> words.add(word.asText()));
        return words.toArray(new String[0]);
    }
}
