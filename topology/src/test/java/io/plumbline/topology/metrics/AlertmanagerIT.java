package io.plumbline.topology.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.plumbline.topology.AlertmanagerServer;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.ExternalProgram;
import io.plumbline.topology.Webhook;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the deployed inhibitions, as a real Alertmanager carries them out. */
class AlertmanagerIT {

    @TempDir
    private Path folder;

    @Test
    void itsOwnToolFindsNothingWrongWithTheConfiguration() throws Exception {
        Path output = folder.resolve("amtool.txt");
        Process amtool = new ProcessBuilder(
                        ExternalProgram.require("amtool", "prometheus-alertmanager")
                                .toString(),
                        "check-config",
                        AlertmanagerServer.configuration().toString())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        assertTrue(amtool.waitFor(60, TimeUnit.SECONDS), "amtool does not end");
        assertEquals(0, amtool.exitValue(), Files.readString(output));
    }

    @Test
    void allSitesOfAnAlertAreOneNotificationWithALineForEachAndAnotherInstallationIsAnotherOne() throws Exception {
        List<Map<String, String>> drifted = new ArrayList<>();
        for (int site = 0; site < 8; site++) {
            drifted.add(drifted("production", "layer." + site));
        }
        drifted.add(drifted("staging", "layer.0"));
        try (Webhook webhook = Webhook.start();
                AlertmanagerServer alertmanager = AlertmanagerServer.start(folder.resolve("am"), webhook.address())) {
            alertmanager.fire(drifted);
            await(
                    () -> webhook.alerts().size() >= drifted.size()
                            && webhook.notices().size() >= 4,
                    () -> "came: " + webhook.notices());
            List<Integer> sizes = new ArrayList<>();
            List<String> titles = new ArrayList<>();
            List<String> texts = new ArrayList<>();
            for (JsonNode notice : webhook.notices()) {
                if (notice.has("alerts")) {
                    sizes.add(notice.get("alerts").size());
                } else {
                    titles.add(notice.at("/attachments/0/title").asText());
                    texts.add(notice.at("/attachments/0/text").asText());
                }
            }
            assertEquals(List.of(1, 8), sizes.stream().sorted().toList());
            titles.sort(null);
            assertEquals("[FIRING:1] PlumblineSiteDrifted staging plumbline: layer.0", titles.get(0));
            assertTrue(
                    titles.get(1)
                            .matches("\\[FIRING:8] PlumblineSiteDrifted production plumbline:"
                                    + "( layer\\.\\d,){2} layer\\.\\d and more"),
                    titles::toString);
            String eight = texts.stream()
                    .filter(text -> text.contains("layer.7"))
                    .findFirst()
                    .orElseThrow();
            for (int site = 0; site < 8; site++) {
                assertTrue(eight.contains("layer.%d is meant\n".formatted(site)), eight);
            }
            assertTrue(eight.endsWith("#PlumblineSiteDrifted"), eight);
        }
    }

    private static Map<String, String> drifted(String namespace, String site) {
        return Map.of(
                "alertname",
                "PlumblineSiteDrifted",
                "severity",
                "critical",
                "namespace",
                namespace,
                "job",
                "plumbline",
                "site",
                site);
    }

    /** Tests each inhibition by the alerts it names: on the same site (or process) held back, on another one sent. */
    @Test
    void everyInhibitedAlertIsHeldBackWhereItsCauseIsTheSameAndOnlyThere() throws Exception {
        JsonNode rules =
                new YAMLMapper().readTree(AlertmanagerServer.configuration().toFile());
        InetSocketAddress nobody = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
        int rule = 0;
        try (AlertmanagerServer alertmanager = AlertmanagerServer.start(folder.resolve("am"), nobody)) {
            List<Map<String, String>> fired = new ArrayList<>();
            List<Map<String, String>> held = new ArrayList<>();
            List<Map<String, String>> sent = new ArrayList<>();
            for (JsonNode inhibition : rules.get("inhibit_rules")) {
                if (inhibition.toString().contains("PlumblineMonitorAbsent")) {
                    continue; // it holds everything back, see below
                }
                String place = "place-" + ++rule;
                Map<String, String> source = labels(inhibition.get("source_matchers"), inhibition, place);
                fired.add(source);
                held.addAll(targets(inhibition, place));
                for (Map<String, String> target : targets(inhibition, place)) {
                    Map<String, String> elsewhere = new TreeMap<>(target);
                    inhibition.path("equal").forEach(label -> elsewhere.put(label.asText(), "not " + target));
                    if (!elsewhere.equals(target)) {
                        sent.add(elsewhere);
                    }
                }
            }
            assertTrue(held.size() >= 8 && sent.size() >= 7, "inhibitions: " + held);
            fired.addAll(held);
            fired.addAll(sent);
            alertmanager.fire(fired);
            await(() -> all(held, alertmanager::inhibits), () -> "not held back, of " + held);
            await(() -> all(sent, alertmanager::sends), () -> "held back, of " + sent);

            List<Map<String, String>> absent = sent.stream()
                    .map(alert -> installation(alert, "PlumblineMonitorAbsent"))
                    .distinct()
                    .toList();
            List<Map<String, String>> elsewhere = List.of(Map.of("alertname", "PlumblineNoWindows", "job", "another"));
            alertmanager.fire(absent);
            alertmanager.fire(elsewhere);
            await(() -> all(sent, alertmanager::inhibits), () -> "sent though nothing is scraped, of " + sent);
            assertTrue(all(absent, alertmanager::sends));
            await(() -> all(elsewhere, alertmanager::sends), () -> "held back for another installation");
        }
    }

    /** An alert of the installation that another one is of. */
    private static Map<String, String> installation(Map<String, String> other, String name) {
        Map<String, String> labels = new TreeMap<>(Map.of("alertname", name, "severity", "critical"));
        List.of("cluster", "namespace", "job").forEach(label -> labels.put(label, other.getOrDefault(label, "")));
        return labels;
    }

    private interface Question {
        boolean holds() throws Exception;
    }

    private interface Asked {
        boolean of(Map<String, String> alert) throws Exception;
    }

    private static boolean all(List<Map<String, String>> alerts, Asked asked) throws Exception {
        for (Map<String, String> alert : alerts) {
            if (!asked.of(alert)) {
                return false;
            }
        }
        return !alerts.isEmpty();
    }

    private static void await(Question question, Supplier<String> otherwise) throws InterruptedException {
        BrokerClient.awaitThat(
                () -> {
                    try {
                        return question.holds();
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                },
                otherwise);
    }

    /** An alert for each name that the matchers of what is held back take. */
    private static List<Map<String, String>> targets(JsonNode inhibition, String place) {
        Map<String, String> one = labels(inhibition.get("target_matchers"), inhibition, place);
        List<Map<String, String>> all = new ArrayList<>();
        for (String name : one.get("alertname").split("\\|", -1)) {
            Map<String, String> target = new TreeMap<>(one);
            target.put("alertname", name);
            all.add(target);
        }
        return all;
    }

    private static Map<String, String> labels(JsonNode matchers, JsonNode inhibition, String place) {
        Map<String, String> labels = new TreeMap<>();
        for (JsonNode matcher : matchers) {
            String[] words = matcher.asText().split(" ", 3);
            labels.put(words[0], words[2].replace("\"", ""));
        }
        inhibition.path("equal").forEach(label -> labels.put(label.asText(), place));
        return labels;
    }
}
