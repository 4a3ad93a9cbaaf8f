package io.plumbline.topology;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.fixtures.EmbeddedBroker;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A real Alertmanager on loopback, alone, with the deployed configuration. */
public final class AlertmanagerServer implements AutoCloseable {

    /** The receiver as deployed, which tells nobody. */
    private static final String RECEIVER = "receivers:\n  - name: on-call\n";

    private final LoopbackProgram program;
    private final int port;

    private AlertmanagerServer(LoopbackProgram program, int port) {
        this.program = program;
        this.port = port;
    }

    /** The deployed configuration; an Alertmanager takes no other one. */
    public static Path configuration() {
        return Repository.path("deploy", "prometheus", "alertmanager.yml");
    }

    /** Starts it and waits until it answers; it sends to {@code webhook}, in groups as quick as a test wants them. */
    public static AlertmanagerServer start(Path folder, InetSocketAddress webhook) throws Exception {
        Path own = Files.createDirectories(folder);
        Files.copy(configuration().resolveSibling("plumbline.tmpl"), own.resolve("plumbline.tmpl"));
        Files.writeString(
                own.resolve("alertmanager.yml"),
                Files.readString(configuration())
                        .replace(RECEIVER, RECEIVER + """
                                    webhook_configs: [{url: "http://127.0.0.1:%1$d/"}]
                                    slack_configs:
                                      - api_url: "http://127.0.0.1:%1$d/"
                                        title: '{{ template "plumbline.title" . }}'
                                        text: '{{ template "plumbline.text" . }}'
                                """.formatted(webhook.getPort()))
                        .replace("group_wait: 30s", "group_wait: 5s")
                        .replace("group_interval: 1m", "group_interval: 5s"));
        int port = EmbeddedBroker.freePort();
        return new AlertmanagerServer(
                LoopbackProgram.start(
                        own,
                        port,
                        ExternalProgram.require("prometheus-alertmanager", "prometheus-alertmanager")
                                .toString(),
                        "--config.file=alertmanager.yml",
                        "--storage.path=data",
                        "--cluster.listen-address=",
                        "--web.listen-address=127.0.0.1:" + port,
                        "--log.level=warn"),
                port);
    }

    public InetSocketAddress address() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    /** Says that alerts with these labels fire; the summary of each names its site. */
    public void fire(List<Map<String, String>> alerts) throws IOException, InterruptedException {
        ObjectMapper json = new ObjectMapper();
        int status = program.post(
                "/api/v2/alerts",
                json.writeValueAsString(alerts.stream()
                        .map(labels -> Map.of(
                                "labels",
                                labels,
                                "annotations",
                                Map.of(
                                        "summary",
                                        labels.get("site") + " is meant",
                                        "runbook_url",
                                        "#" + labels.get("alertname"))))
                        .toList()));
        if (status != 200) {
            throw new IllegalStateException("Alertmanager answered %d to %s".formatted(status, alerts));
        }
    }

    /** Returns whether it knows an alert with these labels, and holds it back for another one. */
    public boolean inhibits(Map<String, String> labels) throws IOException, InterruptedException {
        return knows(labels, true);
    }

    /** Returns whether it knows an alert with these labels, and sends it. */
    public boolean sends(Map<String, String> labels) throws IOException, InterruptedException {
        return knows(labels, false);
    }

    private boolean knows(Map<String, String> labels, boolean inhibited) throws IOException, InterruptedException {
        for (JsonNode alert : program.get("/api/v2/alerts", Map.of())) {
            boolean isIt = labels.entrySet().stream()
                    .allMatch(label ->
                            alert.at("/labels/" + label.getKey()).asText().equals(label.getValue()));
            String state = alert.at("/status/state").asText();
            if (isIt && state.equals(inhibited ? "suppressed" : "active")) {
                return inhibited != alert.at("/status/inhibitedBy").isEmpty();
            }
        }
        return false;
    }

    @Override
    public void close() {
        program.close();
    }
}
