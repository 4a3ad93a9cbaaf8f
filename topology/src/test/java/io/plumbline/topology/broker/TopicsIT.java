package io.plumbline.topology.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.records.MomentRecord;
import io.plumbline.topology.AdapterTopology;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.MonitorTopology;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.adaptation.AdaptationListener;
import io.plumbline.topology.adaptation.PublishedCandidates;
import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.cli.Shell;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.config.TopicNames;
import io.plumbline.topology.ingest.IngestListener;
import io.plumbline.topology.windows.WindowListener;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.Topology;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compares the plan of the topics with what Kafka Streams makes by itself. */
class TopicsIT {

    @TempDir
    private static Path folder;

    private static EmbeddedBroker broker;
    private static BrokerClient client;
    private static Admin admin;

    @BeforeAll
    static void start() {
        broker = EmbeddedBroker.start(folder.resolve("broker"));
        client = new BrokerClient(broker.bootstrapServers());
        admin = Admin.create(client.properties());
    }

    @AfterAll
    static void stop() {
        admin.close();
        broker.close();
    }

    @Test
    void whatKafkaStreamsMakesByItselfIsWhatThePlanWouldHaveMade() throws Exception {
        Path site = folder.resolve("site");
        MonitorConfig config = WatchedFolder.create(site, broker.bootstrapServers());
        TopicNames names = config.topics();
        for (TopicPlan.Planned topic : TopicPlan.of(config, Map.of(), 3).topics()) {
            if (!topic.name().endsWith("-changelog")) {
                client.createTopic(topic.name(), topic.partitions(), topic.settings());
            }
        }
        // Of another number than the activations, so that each change-log must follow its own sub-topology.
        admin.deleteTopics(List.of(names.moments())).all().get();
        BrokerClient.awaitThat(() -> !topics().contains(names.moments()), () -> topics().toString());
        client.createTopic(
                names.moments(), 2, Map.of("message.timestamp.type", "LogAppendTime", "retention.ms", "86400000"));
        try (KafkaStreams monitor = streams(monitor(config), StreamsSettings.monitor(config), "monitor");
                KafkaStreams adapter = streams(adapter(config), StreamsSettings.adapter(config), "adapter")) {
            Set<String> planned = new TreeSet<>();
            TopicPlan.ofNames(config).topics().forEach(topic -> planned.add(topic.name()));
            BrokerClient.awaitThat(
                    () -> monitor.state() == KafkaStreams.State.RUNNING
                            && adapter.state() == KafkaStreams.State.RUNNING
                            && topics().containsAll(planned),
                    () -> "planned %s, there %s".formatted(planned, topics()));
            assertEquals(planned, topics());
        }
        for (TopicReview.Line line : TopicReview.of(config, null, null)) {
            assertEquals(List.of(), line.problems(), line.topic());
        }
        assertEquals(3, partitions(config, "small-monitor-panes-changelog"));
        assertEquals(2, partitions(config, "small-monitor-windows-changelog"));
    }

    @Test
    void aTopicThatIsNewBesideAMemberIsNoFirstStart() throws Exception {
        Path file = folder.resolve("late.yaml");
        Files.writeString(file, """
                application_id: late
                from: latest
                kafka: {bootstrap.servers: "%s"}
                topics: {activations: na, moments: nm, window_reports: nw, adaptation_requests: nq,
                         adaptation_reports: nr, decoders: nd, dead_letters: nl, configuration: nv, baselines: nvb}
                sites:
                  x: {explainer: sae, baseline: b, rank: 2, threshold: 1.0}
                """.formatted(broker.bootstrapServers()));
        client.createTopic("na", 2, Map.of());
        client.sendAll(List.of(new ProducerRecord<>("na", 0, 1L, new byte[0], new byte[0])));
        MonitorConfig config = MonitorConfig.load(file);
        Properties member = new Properties();
        member.putAll(client.properties());
        member.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        member.put(ConsumerConfig.GROUP_ID_CONFIG, config.monitorApplicationId());
        try (Consumer<byte[], byte[]> other =
                new KafkaConsumer<>(member, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            other.subscribe(List.of("na"));
            BrokerClient.awaitThat(
                    () -> !other.poll(Duration.ofMillis(100)).isEmpty()
                            || !other.assignment().isEmpty(),
                    other::toString);
            StartException refused = assertThrows(StartException.class, () -> Topics.prepare(config));
            assertTrue(
                    String.valueOf(refused.getMessage())
                            .startsWith("topics.activations: na came after group \"late-monitor\" began to read"),
                    refused.getMessage());
            assertTrue(refused.mayPass());
        }
        Topics.prepare(config);
        assertEquals(
                1L,
                admin.listConsumerGroupOffsets("late-monitor")
                        .partitionsToOffsetAndMetadata()
                        .get()
                        .get(new TopicPartition("na", 0))
                        .offset());
    }

    /** Tests added partitions: Kafka Streams would stop later, and name a tool that knows nothing of open windows. */
    @Test
    void partitionsAddedToTheActivationsAreASentenceAtTheStart() throws Exception {
        Path file = folder.resolve("grown.yaml");
        Files.writeString(file, """
                application_id: grown
                kafka: {bootstrap.servers: "%s"}
                topics: {activations: ga, moments: gm, window_reports: gw, adaptation_requests: gq,
                         adaptation_reports: gr, decoders: gd, dead_letters: gl, configuration: gv, baselines: gvb}
                sites:
                  x: {explainer: sae, baseline: b, rank: 2, threshold: 1.0}
                """.formatted(broker.bootstrapServers()));
        client.createTopic("ga", 1, Map.of());
        MonitorConfig config = MonitorConfig.load(file);
        assertEquals(1, Topics.prepare(config).allPartitions());
        assertEquals(1, Topics.prepare(config).allPartitions());
        client.growTopic("ga", 3);
        StartException refused = assertThrows(StartException.class, () -> Topics.prepare(config));
        assertTrue(
                String.valueOf(refused.getMessage())
                        .startsWith("topic \"grown-monitor-panes-changelog\" has 1 partition, expected 3: "),
                refused.getMessage());
        assertTrue(
                String.valueOf(refused.getMessage())
                        .endsWith("kafka-topics.sh --delete --topic grown-monitor-activations-read-changelog"),
                refused.getMessage());
    }

    /** Tests topics that a broker made by itself, of as many partitions as it makes by default, none compacted. */
    @Test
    void aTopicThatIsReadInOneOrderMustHaveOnePartition() throws Exception {
        Path file = folder.resolve("auto.yaml");
        Files.writeString(file, """
                application_id: auto
                kafka: {bootstrap.servers: "%s"}
                topics: {activations: oa, moments: om, window_reports: ow, adaptation_requests: oq,
                         adaptation_reports: or, decoders: od, dead_letters: ol, configuration: ov, baselines: ob}
                sites:
                  x: {explainer: sae, baseline: b, rank: 2, threshold: 1.0}
                """.formatted(broker.bootstrapServers()));
        MonitorConfig config = MonitorConfig.load(file);
        client.createTopic("oa", 1, Map.of());
        client.createTopic("ob", 3, Map.of("cleanup.policy", "delete"));
        client.createTopic("ov", 2, Map.of("retention.ms", "-1"));
        String refused = String.valueOf(
                assertThrows(StartException.class, () -> Topics.prepare(config)).getMessage());
        assertTrue(refused.contains("topic \"ob\" has 3 partitions, expected 1: "), refused);
        assertTrue(refused.contains("topic \"ov\" has 2 partitions, expected 1: "), refused);
        assertTrue(refused.endsWith("kafka-topics.sh --delete --topic ob"), refused);
        Shell described = Shell.run("topics", "--config", file, "--describe");
        assertTrue(described.err().contains("topic \"ob\" has 3 partitions, expected 1: "), described.err());
        assertTrue(
                described.err().contains("topic \"ob\": cleanup.policy = delete, expected compact: "), described.err());
        admin.deleteTopics(List.of("ob", "ov")).all().get();
        client.createTopic("obd", 1, Map.of("cleanup.policy", "delete"));
        client.createTopic("obc", 1, Map.of("cleanup.policy", "compact"));
        try (TopicClient topics = TopicClient.connect(config)) {
            assertEquals(
                    List.of("cleanup.policy=delete"),
                    Topics.historyWarnings(topics, "obd").stream()
                            .map(Topics.LossWarning::setting)
                            .toList());
            assertEquals(List.of(), Topics.historyWarnings(topics, "obc"));
        }
    }

    /**
     * Tests what the page about limits says: the broker's own limit is on the batch as it came, unless it unpacks it.
     */
    @Test
    void onlyATopicThatIsStoredUncompressedBoundsWhatARecordUnpacksTo() throws Exception {
        client.createTopic("packed", 1, Map.of());
        client.createTopic("unpacked", 1, Map.of("compression.type", "uncompressed"));
        Map<String, String> zstd = Map.of("compression.type", "zstd", "max.request.size", "100000000");
        byte[] zeros = new byte[30_000_000];
        try (Producer<byte[], byte[]> producer = client.producer(zstd)) {
            producer.send(new ProducerRecord<>("packed", zeros)).get();
            ExecutionException refused =
                    assertThrows(ExecutionException.class, () -> producer.send(new ProducerRecord<>("unpacked", zeros))
                            .get());
            assertInstanceOf(RecordTooLargeException.class, refused.getCause());
            producer.send(new ProducerRecord<>("unpacked", new byte[500_000])).get();
        }
    }

    @Test
    void everyDifferenceThatMattersIsASentenceAndLongerRetentionIsNone() throws Exception {
        Path file = folder.resolve("other.yaml");
        Files.writeString(file, """
                application_id: other
                kafka: {bootstrap.servers: "%s"}
                topics: {activations: a, moments: m, window_reports: w, adaptation_requests: q, adaptation_reports: r,
                         decoders: d, dead_letters: l, configuration: v, baselines: vb}
                sites:
                  x: {explainer: sae, baseline: b, rank: 2, threshold: 1.0}
                """.formatted(broker.bootstrapServers()));
        assertEquals(
                0,
                Shell.run("topics", "--config", file, "--create", "--partitions", 2)
                        .exitCode());
        client.createTopic("spare", 1, Map.of());
        change("d", "cleanup.policy", "delete");
        change("l", "max.message.bytes", "1000");
        change("w", "retention.ms", "-1");
        change("r", "retention.ms", "1000");
        change("a", "message.timestamp.type", "LogAppendTime");
        change("other-monitor-panes-changelog", "segment.bytes", "134217728");
        Shell shell = Shell.run("topics", "--config", file, "--describe", "--replication-factor", 1);
        assertEquals(2, shell.exitCode(), shell.out());
        List<String> sentences = shell.err().lines().toList();
        assertEquals(5, sentences.size(), shell.err());
        for (String begin : List.of(
                "topic \"a\": message.timestamp.type = LogAppendTime, expected CreateTime: ",
                "topic \"r\": retention.ms = 1000, expected at least 2592000000: ",
                "topic \"l\": max.message.bytes = 1000, expected at least 16777216: ",
                "topic \"d\": cleanup.policy = delete, expected compact: ",
                "topic \"other-monitor-panes-changelog\": segment.bytes = 134217728, expected at most ")) {
            assertTrue(sentences.stream().anyMatch(sentence -> sentence.startsWith(begin)), begin + shell.err());
        }
        Shell copies = Shell.run("topics", "--config", file, "--describe", "--replication-factor", 2);
        assertTrue(copies.err().contains("topic \"a\" has 1 copies, expected 2"), copies.err());
    }

    @Test
    void everySettingThatLosesSomethingIsNamedByDescribeAndByCheck() throws Exception {
        WatchedFolder.create(folder.resolve("losing"), broker.bootstrapServers());
        Path file = folder.resolve("losing").resolve(WatchedFolder.FILE);
        Files.writeString(
                file,
                Files.readString(file).replace("application_id: small", "application_id: losing")
                        + "\ntopics: {activations: la, moments: lm, window_reports: lw, adaptation_requests: lq,"
                        + " adaptation_reports: lr, decoders: ld, dead_letters: ll, configuration: lv,"
                        + " baselines: lvb}\n");
        assertEquals(
                0,
                Shell.run("topics", "--config", file, "--create", "--partitions", 1)
                        .exitCode());
        assertEquals(0, Shell.run("check", "--config", file).exitCode());
        change("la", "cleanup.policy", "compact");
        change("la", "retention.ms", "1000");
        change("la", "unclean.leader.election.enable", "true");
        change("lm", "cleanup.policy", "compact,delete");
        change("lm", "max.message.bytes", "100000");
        change("lw", "cleanup.policy", "compact");
        change("lq", "retention.bytes", "1000000");
        change("ll", "cleanup.policy", "compact");
        change("ld", "cleanup.policy", "compact,delete");
        change("losing-monitor-panes-changelog", "cleanup.policy", "delete");
        for (String command : List.of("topics", "check")) {
            Shell shell = command.equals("topics")
                    ? Shell.run("topics", "--config", file, "--describe")
                    : Shell.run("check", "--config", file);
            assertEquals(2, shell.exitCode(), shell.out());
            List<String> sentences = shell.err().lines().toList();
            assertEquals(10, sentences.size(), shell.err());
            for (String begin : List.of(
                    "topic \"la\": cleanup.policy = compact, expected delete: ",
                    "topic \"la\": retention.ms = 1000, expected at least ",
                    "topic \"la\": unclean.leader.election.enable = true, expected false: ",
                    "topic \"lm\": cleanup.policy = compact,delete, expected delete: ",
                    "topic \"lm\": max.message.bytes = 100000, expected at least 1000000: ",
                    "topic \"lw\": cleanup.policy = compact, expected delete: ",
                    "topic \"lq\": retention.bytes = 1000000, expected -1: ",
                    "topic \"ll\": cleanup.policy = compact, expected delete: ",
                    "topic \"ld\": cleanup.policy = compact,delete, expected compact: ",
                    "topic \"losing-monitor-panes-changelog\": cleanup.policy = delete, expected compact: ")) {
                assertTrue(sentences.stream().anyMatch(sentence -> sentence.startsWith(begin)), begin + shell.err());
            }
        }
    }

    @Test
    void theTopicOfActivationsTakesAMomentRecordOfTheWidestSiteWhereThatIsAsked() throws Exception {
        WatchedFolder.create(folder.resolve("moments"), broker.bootstrapServers());
        Path file = folder.resolve("moments").resolve(WatchedFolder.FILE);
        Files.writeString(
                file,
                Files.readString(file).replace("application_id: small", "application_id: moments")
                        + "\ntopics: {activations: ma, moments: mm, window_reports: mw, adaptation_requests: mq,"
                        + " adaptation_reports: mr, decoders: md, dead_letters: ml, configuration: mv,"
                        + " baselines: mvb}\n");
        client.createTopic("ma", 1, Map.of("max.message.bytes", "1000"));
        Shell small = Shell.run("topics", "--config", file, "--create", "--moment-records");
        long needed = MomentRecord.largestBytes(WatchedFolder.WIDTH, WatchedFolder.WIDTH, false, 512);
        assertEquals(2, small.exitCode(), small.out());
        assertTrue(
                small.err()
                        .startsWith("topic \"ma\": max.message.bytes = 1000, expected at least %d: ".formatted(needed)),
                small.err());
        assertEquals(0, Shell.run("topics", "--config", file, "--describe").exitCode(), "nobody asked");
        change("ma", "max.message.bytes", Long.toString(needed));
        assertEquals(
                0,
                Shell.run("topics", "--config", file, "--describe", "--moment-records")
                        .exitCode());
        Files.writeString(file, Files.readString(file).replace("activations: ma", "activations: fresh"));
        Shell made = Shell.run("topics", "--config", file, "--create", "--partitions", 1, "--moment-records");
        assertEquals(0, made.exitCode(), made.err());
        assertEquals(
                2,
                Shell.run("topics", "--config", file, "--acl", "--moment-records")
                        .exitCode());
    }

    @Test
    void aTopicThatWouldLoseEventTimesIsWarnedOfAtStart() throws Exception {
        client.createTopic("arrival", 1, Map.of("message.timestamp.type", "LogAppendTime", "retention.ms", "-1"));
        client.createTopic("month", 1, Map.of("retention.ms", "2592000000"));
        assertWarnings(List.of("message.timestamp.type=LogAppendTime"), "arrival", "30s");
        assertWarnings(List.of(), "month", "30s");
        client.createTopic("keyed", 1, Map.of("cleanup.policy", "compact", "retention.ms", "-1"));
        assertWarnings(List.of("cleanup.policy=compact"), "keyed", "30s");
        assertWarnings(List.of("retention.ms=2592000000"), "month", "off");
    }

    private static void assertWarnings(List<String> settings, String activations, String idleClose) {
        MonitorConfig config =
                MonitorConfig.parse("""
                kafka: {bootstrap.servers: "%s"}
                topics: {activations: %s}
                window: {idle_close: %s}
                sites:
                  x: {explainer: sae, baseline: b, rank: 2, threshold: 1.0}
                """.formatted(broker.bootstrapServers(), activations, idleClose), "test", folder);
        try (TopicClient topics = TopicClient.connect(config)) {
            assertEquals(
                    settings,
                    Topics.lossWarnings(topics, config, activations).stream()
                            .map(Topics.LossWarning::setting)
                            .toList());
        }
    }

    @Test
    void aChangelogThatDoesNotFitItsTasksIsNamed() throws Exception {
        MonitorConfig config = MonitorConfig.parse("""
                application_id: misfit
                kafka: {bootstrap.servers: "%s"}
                topics: {activations: a2, moments: m2, window_reports: w2, adaptation_requests: q2, adaptation_reports: r2,
                         decoders: d2, dead_letters: l2, configuration: v2, baselines: v2b}
                sites:
                  x: {explainer: sae, baseline: b, rank: 2, threshold: 1.0}
                """.formatted(broker.bootstrapServers()), "test", folder);
        client.createTopic("misfit-monitor-panes-changelog", 5, Map.of());
        TopicReview.create(config, 2, null, null);
        List<String> problems = TopicReview.of(config, null, null).stream()
                .filter(line -> line.topic().equals("misfit-monitor-panes-changelog"))
                .flatMap(line -> line.problems().stream())
                .filter(problem -> problem.contains("partitions"))
                .toList();
        assertEquals(1, problems.size(), problems.toString());
        assertTrue(problems.get(0).contains("has 5 partitions, expected 2"), problems.get(0));
    }

    private static int partitions(MonitorConfig config, String topic) {
        return TopicReview.of(config, null, null).stream()
                .filter(line -> line.topic().equals(topic))
                .mapToInt(TopicReview.Line::partitions)
                .sum();
    }

    private static Set<String> topics() {
        try {
            Set<String> names = new TreeSet<>(admin.listTopics().names().get());
            names.removeIf(name -> name.startsWith("__") || !isOfTheFirstTest(name));
            return names;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean isOfTheFirstTest(String name) {
        return name.startsWith("small-") || TopicNames.DEFAULT.byKey().containsValue(name);
    }

    private static void change(String topic, String key, String value) throws Exception {
        admin.incrementalAlterConfigs(Map.of(
                        new ConfigResource(ConfigResource.Type.TOPIC, topic),
                        List.of(new AlterConfigOp(new ConfigEntry(key, value), AlterConfigOp.OpType.SET))))
                .all()
                .get();
        BrokerClient.awaitThat(() -> value.equals(value(topic, key)), () -> topic + " " + key);
    }

    private static String value(String topic, String key) {
        try {
            ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
            return admin.describeConfigs(List.of(resource))
                    .all()
                    .get()
                    .get(resource)
                    .get(key)
                    .value();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static KafkaStreams streams(Topology topology, Properties properties, String name) {
        properties.put("state.dir", folder.resolve("state-" + name).toString());
        KafkaStreams streams = new KafkaStreams(topology, properties);
        streams.start();
        return streams;
    }

    private static Topology monitor(MonitorConfig config) throws Exception {
        return MonitorTopology.build(
                config,
                WatchedFolder.sites(config),
                Topics.Prepared.of(config.topics().activations(), 3, 1_000_000),
                site -> null,
                new MonitorTopology.Listeners(
                        deaf(IngestListener.class), deaf(WindowListener.class), deaf(DriftListener.class)));
    }

    private static Topology adapter(MonitorConfig config) throws Exception {
        return AdapterTopology.build(
                config,
                WatchedFolder.sites(config),
                site -> null,
                deaf(PublishedCandidates.class),
                deaf(AdaptationListener.class));
    }

    private static <T> T deaf(Class<T> listener) {
        return listener.cast(Proxy.newProxyInstance(
                listener.getClassLoader(), new Class<?>[] {listener}, (proxy, method, arguments) -> null));
    }
}
