package io.plumbline.topology.security;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.TenantsFolder;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.cli.Shell;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.config.TopicNames;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests two tenants, each with a topic and a login of its own, on a broker with an authorizer. */
class TenantsIT {

    private static final long T0 = 1_700_000_000_000L;
    private static final long DAY_MS = 86_400_000;
    private static final int PARTITIONS = 2;
    private static final String MONITOR = "the-monitor";
    private static final String OF_ACME = "activations-acme";
    private static final String OF_GLOBEX = "activations-globex";

    @TempDir
    private static Path folder;

    private static SecureBroker broker;

    @BeforeAll
    static void start() throws Exception {
        broker = SecureBroker.start(folder.resolve("broker"), List.of(MONITOR, "acme", "globex"));
        TenantsFolder.create(folder.resolve("site"), broker.bootstrapServers());
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    @Test
    void aTenantWritesItsOwnSitesAloneAndNeitherItsClockNorItsSilenceReachesAnother() throws Exception {
        Path config = config(SecureBroker.ADMIN);
        Shell made = Shell.run("topics", "--config", config, "--create", "--partitions", PARTITIONS);
        assertEquals(0, made.exitCode(), made.err());
        assertTrue(made.out().contains("made " + OF_GLOBEX), made.out());
        assertTrue(made.out().contains("made small-monitor-globex-panes-changelog"), made.out());
        Shell refused =
                Shell.run("topics", "--config", config, "--acl", "--role", "producer", "--principal", "User:acme");
        assertEquals(2, refused.exitCode(), refused.out());
        assertTrue(refused.err().contains("--tenant"), refused.err());
        try (Admin admin = Admin.create(Map.<String, Object>copyOf(broker.client(SecureBroker.ADMIN)))) {
            admin.createAcls(PrintedRights.of(config, "monitor", "User:" + MONITOR))
                    .all()
                    .get();
            for (String tenant : List.of("acme", "globex")) {
                admin.createAcls(PrintedRights.of(config, "producer", "User:" + tenant, "--tenant", tenant))
                        .all()
                        .get();
            }
        }
        ExecutionException stranger =
                assertThrows(ExecutionException.class, () -> send("acme", OF_GLOBEX, TenantsFolder.GLOBEX, T0));
        assertInstanceOf(TopicAuthorizationException.class, stranger.getCause());

        BrokerClient client = new BrokerClient(broker.client(SecureBroker.ADMIN));
        try (PlumblineRuntime monitor = PlumblineRuntime.start(load(), Role.MONITOR)) {
            send("acme", OF_ACME, TenantsFolder.ACME, T0);
            send("acme", OF_ACME, TenantsFolder.ACME, T0 + 10_000);
            send("acme", OF_ACME, TenantsFolder.GLOBEX, T0);
            awaitReports(client, 1);
            send("globex", OF_GLOBEX, TenantsFolder.GLOBEX, T0 - DAY_MS);
            List<ConsumerRecord<byte[], byte[]>> letters =
                    client.await(TopicNames.DEFAULT.deadLetters(), found -> found.size() >= WatchedFolder.RECORDS);
            assertEquals(
                    "other_tenant",
                    new String(
                            letters.get(0)
                                    .headers()
                                    .lastHeader("plumbline.reason")
                                    .value(),
                            StandardCharsets.UTF_8));
            assertNull(monitor.awaitFailure(0, TimeUnit.SECONDS));
        }
        // What was open of both tenants comes back from the change-logs of each.
        try (PlumblineRuntime monitor = PlumblineRuntime.start(load(), Role.MONITOR)) {
            send("globex", OF_GLOBEX, TenantsFolder.GLOBEX, T0 - DAY_MS + 10_000);
            send("acme", OF_ACME, TenantsFolder.ACME, T0 + 20_000);
            List<JsonNode> reports = awaitReports(client, 3);
            for (JsonNode report : reports) {
                assertEquals(
                        WatchedFolder.ROWS * WatchedFolder.RECORDS,
                        report.path("rows").asInt(),
                        report.toString());
            }
            assertEquals(
                    List.of(TenantsFolder.ACME, TenantsFolder.ACME, TenantsFolder.GLOBEX),
                    reports.stream()
                            .map(report -> report.path("site").asText())
                            .sorted()
                            .toList());
            assertNull(monitor.awaitFailure(0, TimeUnit.SECONDS));
        }
        // A tenant more, whose tasks come before those of the others: what they hold open goes on.
        Path more = config(SecureBroker.ADMIN);
        Files.writeString(
                more,
                Files.readString(more)
                        + "    aaa.l1: {tenant: aaa, explainer: explainer, baseline: baseline.safetensors, rank: 4, "
                        + "threshold: {share: 0.6}}\n");
        Shell added = Shell.run("topics", "--config", more, "--create", "--partitions", PARTITIONS);
        assertEquals(0, added.exitCode(), added.err());
        try (PlumblineRuntime monitor = PlumblineRuntime.start(MonitorConfig.load(more), Role.MONITOR)) {
            send("globex", OF_GLOBEX, TenantsFolder.GLOBEX, T0 - DAY_MS + 20_000);
            send("acme", OF_ACME, TenantsFolder.ACME, T0 + 30_000);
            for (JsonNode report : awaitReports(client, 5)) {
                assertEquals(
                        WatchedFolder.ROWS * WatchedFolder.RECORDS,
                        report.path("rows").asInt(),
                        report.toString());
            }
            assertNull(monitor.awaitFailure(0, TimeUnit.SECONDS));
        }
    }

    private static List<JsonNode> awaitReports(BrokerClient client, int count) throws Exception {
        List<JsonNode> reports = new ArrayList<>();
        for (ConsumerRecord<byte[], byte[]> record :
                client.await(TopicNames.DEFAULT.windowReports(), found -> found.size() >= count)) {
            reports.add(new ObjectMapper().readTree(record.value()));
        }
        assertEquals(count, reports.size(), reports.toString());
        return reports;
    }

    private static void send(String tenant, String topic, String site, long startMs) throws Exception {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < WatchedFolder.RECORDS; i++) {
            long time = startMs + i * 100L;
            records.add(new ProducerRecord<>(
                    topic,
                    i % PARTITIONS,
                    time,
                    site.getBytes(StandardCharsets.UTF_8),
                    ActivationRecords.blob(WatchedFolder.quiet(time))));
        }
        new BrokerClient(broker.client(tenant)).send(records);
    }

    private static MonitorConfig load() throws IOException {
        return MonitorConfig.load(config(MONITOR));
    }

    private static Path config(String user) throws IOException {
        String kafka = broker.client(user).entrySet().stream()
                .map(entry -> "  %s: '%s'\n".formatted(entry.getKey(), entry.getValue()))
                .collect(Collectors.joining());
        Path site = folder.resolve("site");
        String yaml = Files.readString(site.resolve(WatchedFolder.FILE))
                .replaceFirst("kafka: \\{.*\\}\n", "kafka:\n  monitor.commit.interval.ms: 500\n" + kafka);
        Path file = site.resolve(user + ".yaml");
        Files.writeString(file, yaml);
        return file;
    }
}
