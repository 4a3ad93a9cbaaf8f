package io.plumbline.topology.security;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.broker.StartException;
import io.plumbline.topology.cli.Shell;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.config.TopicNames;
import io.plumbline.topology.emission.DecoderSubscriber;
import io.plumbline.topology.emission.DecoderSubscription;
import io.plumbline.topology.emission.PublishedDecoder;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.resource.ResourceType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests every role with a login of its own and the rights that {@code plumbline topics --acl} prints, against a broker
 * with TLS and an authorizer that lets nobody make a topic but the operator.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class SecuredPipelineIT {

    private static final long T0 = 1_700_000_000_000L;
    private static final int PARTITIONS = 2;
    private static final List<String> ROLES =
            List.of("admin", "producer", "monitor", "adapter", "subscriber", "operator");
    private static final Map<String, String> USERS = Map.of(
            "admin", "operator",
            "producer", "model-server",
            "monitor", "the-monitor",
            "adapter", "the-adapter",
            "subscriber", "the-subscriber",
            "operator", "the-operator");

    @TempDir
    private static Path folder;

    private static SecureBroker broker;
    private static Admin superUser;
    private static BrokerClient client;

    @BeforeAll
    static void start() throws Exception {
        broker = SecureBroker.start(folder.resolve("broker"), List.copyOf(USERS.values()));
        WatchedFolder.create(folder.resolve("site"), broker.bootstrapServers());
        superUser = Admin.create(Map.<String, Object>copyOf(broker.client(SecureBroker.ADMIN)));
        client = new BrokerClient(broker.client(SecureBroker.ADMIN));
        for (String role : ROLES) {
            superUser.createAcls(rights(role)).all().get();
        }
    }

    @AfterAll
    static void stop() {
        superUser.close();
        broker.close();
    }

    @Test
    @Order(1)
    void theOperatorMakesEveryTopicWithTheRightsOfThatRoleAlone() throws Exception {
        Path config = config("admin");
        Shell missing = Shell.run("topics", "--config", config, "--describe");
        assertEquals(2, missing.exitCode());
        assertTrue(missing.err().contains("topic \"decoders\" does not exist"), missing.err());
        Shell withoutNumber = Shell.run("topics", "--config", config, "--create");
        assertEquals(2, withoutNumber.exitCode());
        assertTrue(withoutNumber.err().contains("--partitions"), withoutNumber.err());

        Shell made = Shell.run(
                "topics", "--config", config, "--create", "--partitions", PARTITIONS, "--replication-factor", 1);
        assertEquals(0, made.exitCode(), made.err());
        assertTrue(made.out().contains("made small-monitor-panes-changelog"), made.out());
        Shell described = Shell.run("topics", "--config", config, "--describe");
        assertEquals(0, described.exitCode(), described.err());
        assertTrue(described.out().matches("(?s).*small-adapter-\\S+-changelog +2 +1 +fine.*"), described.out());
    }

    @Test
    @Order(2)
    void windowsComeOutAndADecoderArrivesWithExactlyThePrintedRights() throws Exception {
        Set<String> before = superUser.listTopics().names().get();
        Explainer explainer = Formats.read(folder.resolve("site/explainer"));
        BlockingQueue<PublishedDecoder> received = new LinkedBlockingQueue<>();
        Properties login = new Properties();
        login.putAll(broker.client(USERS.get("subscriber")));
        try (PlumblineRuntime monitor = PlumblineRuntime.start(load("monitor"), Role.MONITOR);
                PlumblineRuntime adapter = PlumblineRuntime.start(load("adapter"), Role.ADAPTER);
                DecoderSubscriber subscriber = DecoderSubscriber.start(
                        login,
                        TopicNames.DEFAULT.decoders(),
                        DecoderSubscription.ofParents(
                                Map.of(WatchedFolder.SITE, explainer.decoder().sha256())),
                        received::add)) {
            send(0, WatchedFolder::quiet);
            send(1, WatchedFolder::quiet);
            send(2, WatchedFolder::drifted);
            send(3, WatchedFolder::drifted);
            List<String> reports = client.await(TopicNames.DEFAULT.windowReports(), found -> found.size() >= 3).stream()
                    .map(record -> new String(record.value(), StandardCharsets.UTF_8))
                    .toList();
            assertTrue(reports.get(0).contains("\"verdict\":\"aligned\""), reports.get(0));
            assertTrue(
                    reports.get(0).contains("\"rows\":" + WatchedFolder.ROWS * WatchedFolder.RECORDS + ","),
                    reports.get(0));
            assertTrue(reports.get(2).contains("\"verdict\":\"drifted\""), reports.get(2));
            PublishedDecoder decoder = received.poll(90, TimeUnit.SECONDS);
            assertNotNull(decoder, "the subscriber received nothing");
            assertEquals(1, decoder.version());
            Shell pinned = asOperator("pin", "--site", WatchedFolder.SITE);
            assertEquals(0, pinned.exitCode(), pinned.err());
            Shell listed = Shell.run("decoders", "list", "--config", config("operator"));
            assertTrue(listed.out().matches("(?s).*layer\\.a +1 +adapted .* pinned .*"), listed.out() + listed.err());
            awaitPast(monitor, "complete");
            assertNull(monitor.awaitFailure(0, TimeUnit.SECONDS));
            assertNull(adapter.awaitFailure(0, TimeUnit.SECONDS));
            assertNotNull(subscriber);
        }
        Set<String> made = new TreeSet<>(superUser.listTopics().names().get());
        made.removeAll(before);
        made.removeIf(name -> name.startsWith("__"));
        assertEquals(Set.of(), made, "topics that `plumbline topics --create` does not know of");
    }

    /** Runs a command as operator, by properties; the other form, a file, is that of the list. */
    private static Shell asOperator(String command, String... more) {
        List<Object> words =
                new ArrayList<>(List.of("decoders", command, "--bootstrap-servers", broker.bootstrapServers()));
        words.addAll(List.of(more));
        broker.client(USERS.get("operator")).forEach((key, value) -> {
            if (!key.equals("bootstrap.servers")) {
                words.addAll(List.of("--kafka-property", key + "=" + value));
            }
        });
        return Shell.run(words.toArray());
    }

    @Test
    @Order(3)
    void aModelServerMayWriteActivationsAndNothingElse() throws Exception {
        BrokerClient server = new BrokerClient(broker.client(USERS.get("producer")));
        for (String topic : TopicNames.DEFAULT.byKey().values()) {
            ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, new byte[1], new byte[1]);
            if (topic.equals(TopicNames.DEFAULT.activations())) {
                server.send(List.of(record));
            } else {
                ExecutionException refused =
                        assertThrows(ExecutionException.class, () -> server.send(List.of(record)), topic);
                assertInstanceOf(TopicAuthorizationException.class, refused.getCause(), topic);
            }
        }
        assertThrows(
                TopicAuthorizationException.class,
                () -> server.await(TopicNames.DEFAULT.activations(), found -> !found.isEmpty()));
    }

    /**
     * Tests each right; without {@code DESCRIBE_CONFIGS} large dead letters lose their bytes, which is a warning and
     * starts.
     */
    @Test
    @Order(4)
    void everyRightThatIsMissingIsNamedBeforeAnythingStarts() throws Exception {
        for (String role : List.of("monitor", "adapter")) {
            MonitorConfig config = load(role);
            for (AclBinding right : rights(role)) {
                if (right.entry().operation() == AclOperation.DESCRIBE_CONFIGS || isForTheConsole(right)) {
                    continue;
                }
                String name = right.pattern().name();
                take(right);
                try {
                    StartException refused = assertThrows(
                            StartException.class,
                            () -> PlumblineRuntime.start(config, Role.valueOf(role.toUpperCase(Locale.ROOT)))
                                    .close(),
                            right.toString());
                    String sentence = refused.getMessage();
                    assertTrue(sentence.contains("\"" + name + "\""), right + ": " + sentence);
                    assertTrue(sentence.contains("User:" + USERS.get(role)), right + ": " + sentence);
                    assertTrue(sentence.contains("plumbline topics --"), right + ": " + sentence);
                } finally {
                    give(right);
                }
            }
        }
    }

    /** Returns whether a right is for the console: the applications only write the topics of reports. */
    private static boolean isForTheConsole(AclBinding right) {
        Set<String> reports = Set.of(TopicNames.DEFAULT.windowReports(), TopicNames.DEFAULT.adaptationReports());
        return right.entry().operation() == AclOperation.READ
                && reports.contains(right.pattern().name());
    }

    @Test
    @Order(7)
    void withoutTheConsolesRightsAMonitorRunsAndThePageSaysSo() throws Exception {
        for (AclBinding right : rights("monitor")) {
            if (!isForTheConsole(right)) {
                continue;
            }
            take(right);
            try (PlumblineRuntime monitor = PlumblineRuntime.start(load("monitor"), Role.MONITOR)) {
                awaitPast(monitor, "refused");
                assertNull(monitor.awaitFailure(0, TimeUnit.SECONDS));
            } finally {
                give(right);
            }
        }
    }

    private static void awaitPast(PlumblineRuntime monitor, String state) throws Exception {
        HttpRequest sites = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + monitor.httpAddress().getPort() + "/api/sites"))
                .build();
        BrokerClient.awaitThat(() -> get(sites).body().contains("\"state\":\"" + state + "\""), () -> get(sites)
                .body());
    }

    @Test
    @Order(5)
    void aRightTakenAwayFromARunningMonitorStopsItWithASentence() throws Exception {
        MonitorConfig config = load("monitor");
        Map<ResourceType, String> stopping = Map.of(
                ResourceType.TOPIC, TopicNames.DEFAULT.windowReports(),
                ResourceType.GROUP, config.monitorApplicationId(),
                ResourceType.TRANSACTIONAL_ID, config.monitorApplicationId() + "-");
        int window = 10;
        for (AclBinding right : rights("monitor")) {
            if (!right.pattern().name().equals(stopping.get(right.pattern().resourceType()))
                    || isForTheConsole(right)) {
                continue;
            }
            try (PlumblineRuntime monitor = PlumblineRuntime.start(config, Role.MONITOR)) {
                take(right);
                send(window++, WatchedFolder::quiet);
                send(window++, WatchedFolder::quiet);
                send(window++, WatchedFolder::quiet);
                String failure = monitor.awaitFailure(90, TimeUnit.SECONDS);
                assertNotNull(failure, right + " was taken away and the monitor went on");
                assertTrue(failure.contains("\"" + right.pattern().name() + "\""), right + ": " + failure);
                assertTrue(failure.contains("User:" + USERS.get("monitor")), failure);
                assertTrue(failure.contains(right.entry().operation().name()), failure);
            } finally {
                give(right);
            }
        }
    }

    /**
     * Tests passwords under every prefix Kafka Streams knows, under an unknown key, and at every level the launcher
     * offers.
     */
    @Test
    @Order(6)
    void noLogAndNoMetricHoldsAPassword() throws Exception {
        String marker = "swordfish-4713";
        Map<String, String> login = new HashMap<>(broker.client(USERS.get("monitor")));
        String jaas = String.valueOf(login.get("sasl.jaas.config"));
        for (String prefix : List.of("producer.", "consumer.", "main.consumer.", "restore.consumer.", "admin.")) {
            login.put(prefix + "sasl.jaas.config", jaas);
            login.put(prefix + "ssl.key.password", marker);
        }
        login.put("my.plugin.password", marker);
        String password = SecureBroker.password(USERS.get("monitor"));
        Path file = config("watched", login);
        // On disk, so that there is a folder whose permissions can be looked at.
        Files.writeString(file, Files.readString(file).replace("store: memory", "store: rocksdb"));
        try (LogWatch logs = new LogWatch(Set.of(password, marker))) {
            try (PlumblineRuntime monitor = PlumblineRuntime.start(MonitorConfig.load(file), Role.MONITOR)) {
                HttpRequest metrics = HttpRequest.newBuilder(URI.create(
                                "http://127.0.0.1:" + monitor.httpAddress().getPort() + "/metrics"))
                        .build();
                HttpRequest ready = HttpRequest.newBuilder(URI.create(
                                "http://127.0.0.1:" + monitor.httpAddress().getPort() + "/readyz"))
                        .build();
                BrokerClient.awaitThat(
                        () -> get(ready).statusCode() == 200, () -> get(ready).body());
                String body = get(metrics).body();
                assertTrue(body.contains("plumbline_"), body);
                assertFalse(body.contains(password) || body.contains(marker), body);
            }
            assertTrue(logs.heard() > 100, "only %d lines were heard".formatted(logs.heard()));
            assertEquals(List.of(), logs.found());
        }
        String printed = Shell.run("config", "--print", "--config", file).out();
        assertTrue(printed.contains("my.plugin.password: \"[hidden]\""), printed);
        assertFalse(printed.contains(password) || printed.contains(marker), printed);
        assertEquals(
                "rwx------",
                PosixFilePermissions.toString(
                        Files.getPosixFilePermissions(folder.resolve("site").resolve("state-watched"))));
    }

    private static HttpResponse<String> get(HttpRequest request) {
        try {
            return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aWrongPasswordIsASentenceAndThePasswordIsNotInIt() throws Exception {
        String wrong = "swordfish-4712";
        Map<String, String> login = new HashMap<>(broker.client(USERS.get("monitor")));
        login.computeIfPresent(
                "sasl.jaas.config", (key, jaas) -> jaas.replace(SecureBroker.password(USERS.get("monitor")), wrong));
        StartException refused = assertThrows(
                StartException.class,
                () -> PlumblineRuntime.start(MonitorConfig.load(config("wrong", login)), Role.MONITOR));
        assertTrue(refused.getMessage().contains("refuses the login of User:the-monitor"), refused.getMessage());
        assertFalse(refused.getMessage().contains(wrong), refused.getMessage());
        Shell run = Shell.run("run", "--verbose", "--config", config("wrong", login));
        assertEquals(2, run.exitCode(), run.err());
        assertTrue(run.err().contains("refuses the login of User:the-monitor"), run.err());
        assertFalse(run.err().contains(wrong), run.err());
        Shell check = Shell.run("check", "--config", config("wrong", login));
        assertTrue(check.err().contains("refuses the login of User:the-monitor"), check.err());
        assertFalse(check.err().contains(wrong), check.err());
    }

    @Test
    void aLoginThatIsRefusedIsNotCalledABrokerThatIsAway() throws Exception {
        Map<String, String> plain = new HashMap<>(broker.client(USERS.get("monitor")));
        plain.put("sasl.mechanism", "PLAIN");
        plain.computeIfPresent(
                "sasl.jaas.config", (key, jaas) -> jaas.replace("scram.ScramLoginModule", "plain.PlainLoginModule"));
        Map<String, String> stranger = new HashMap<>(broker.client(USERS.get("monitor")));
        stranger.put(
                "ssl.truststore.location",
                TestCertificate.make(folder.resolve("another")).certificate().toString());
        Map<String, String> broken = new HashMap<>(broker.client(USERS.get("monitor")));
        broken.put("ssl.truststore.location", folder.resolve("nowhere.pem").toString());
        Map<Map<String, String>, String> said = Map.of(
                plain,
                "refuses the login of User:the-monitor",
                stranger,
                "no trusted TLS connection",
                broken,
                "nowhere.pem");
        for (Map.Entry<Map<String, String>, String> one : said.entrySet()) {
            Path file = config("refused", one.getKey());
            Shell check = Shell.run("check", "--config", file);
            assertEquals(2, check.exitCode(), check.err());
            assertTrue(check.err().contains(one.getValue()), check.err());
            Shell offsets = Shell.run("offsets", "--config", file);
            assertFalse(offsets.exitCode() == 0, offsets.out());
            for (Shell shell : List.of(check, offsets)) {
                assertFalse(shell.err().contains("no Kafka broker answered"), shell.err());
                assertFalse(shell.err().contains("no answer from the broker"), shell.err());
            }
        }
    }

    @Test
    void aBrokerWhoseCertificateNobodySignedIsASentence() throws Exception {
        TestCertificate other = TestCertificate.make(folder.resolve("other"));
        Map<String, String> login = new HashMap<>(broker.client(USERS.get("monitor")));
        login.put("ssl.truststore.location", other.certificate().toString());
        StartException refused = assertThrows(
                StartException.class,
                () -> PlumblineRuntime.start(MonitorConfig.load(config("stranger", login)), Role.MONITOR));
        assertTrue(refused.getMessage().contains("no trusted TLS connection"), refused.getMessage());
        assertTrue(refused.getMessage().contains("ssl.truststore.location"), refused.getMessage());
    }

    private static void take(AclBinding right) throws Exception {
        AclBindingFilter filter = right.toFilter();
        assertEquals(1, superUser.deleteAcls(List.of(filter)).all().get().size(), right.toString());
        BrokerClient.awaitThat(() -> !isInForce(filter), right::toString);
    }

    private static void give(AclBinding right) throws Exception {
        superUser.createAcls(List.of(right)).all().get();
        BrokerClient.awaitThat(() -> isInForce(right.toFilter()), right::toString);
    }

    private static boolean isInForce(AclBindingFilter filter) {
        try {
            return !superUser.describeAcls(filter).values().get().isEmpty();
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private static List<AclBinding> rights(String role) throws Exception {
        return PrintedRights.of(config(role), role, "User:" + USERS.get(role));
    }

    private static MonitorConfig load(String role) throws Exception {
        return MonitorConfig.load(config(role));
    }

    private static Path config(String role) throws Exception {
        return config(role, broker.client(USERS.get(role)));
    }

    private static Path config(String name, Map<String, String> login) throws Exception {
        String kafka = login.entrySet().stream()
                .map(entry -> "  %s: '%s'".formatted(entry.getKey(), entry.getValue()))
                .collect(Collectors.joining("\n"));
        Path file = folder.resolve("site").resolve(name + ".yaml");
        Files.writeString(file, """
                application_id: small
                kafka:
                %s
                  monitor.num.stream.threads: 1
                  monitor.commit.interval.ms: 500
                  session.timeout.ms: 6000
                window: {size: 10s, advance: 10s, grace: 0s, idle_close: off, minimum_rows: 64}
                sample: {rows: 512}
                state: {store: memory, directory: state-%s}
                http: {port: 0}
                sites:
                  %s:
                    explainer: explainer
                    baseline: baseline.safetensors
                    rank: 4
                    threshold: {share: 0.6}
                    clear: {share: 0.3}
                    debounce: 1 of 1
                    cooldown: 25s
                    adaptation: {mode: auto, profile: auto, max_norm_ratio: 10, minimum_improvement: 0.05, validation_share: 0.25}
                """.formatted(kafka, name, WatchedFolder.SITE));
        return file;
    }

    private static void send(int window, LongFunction<Matrix> rows) throws Exception {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < WatchedFolder.RECORDS; i++) {
            long time = T0 + window * 10_000L + i * 100L;
            records.add(new ProducerRecord<>(
                    TopicNames.DEFAULT.activations(),
                    i % PARTITIONS,
                    time,
                    WatchedFolder.SITE.getBytes(StandardCharsets.UTF_8),
                    ActivationRecords.blob(rows.apply(time))));
        }
        new BrokerClient(broker.client(USERS.get("producer"))).send(records);
    }
}
