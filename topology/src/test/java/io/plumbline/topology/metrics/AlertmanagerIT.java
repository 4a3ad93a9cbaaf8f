package io.plumbline.topology.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.plumbline.topology.AlertmanagerServer;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.ExternalProgram;
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
            // NoProgress of the monitor names no site: what it holds back has no other place.
            sent.removeIf(alert -> alert.get("alertname").equals("PlumblineNoWindows"));
            await(() -> all(sent, alertmanager::sends), () -> "held back, of " + sent);

            alertmanager.fire(List.of(Map.of("alertname", "PlumblineMonitorAbsent", "severity", "critical")));
            await(() -> all(sent, alertmanager::inhibits), () -> "sent though nothing is scraped, of " + sent);
            assertTrue(alertmanager.sends(Map.of("alertname", "PlumblineMonitorAbsent")));
        }
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
