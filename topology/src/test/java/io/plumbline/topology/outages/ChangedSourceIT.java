package io.plumbline.topology.outages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.faults.ChildJvm;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Tests topics that go, or become others, while the monitor runs or between two of its runs. */
class ChangedSourceIT {

    private static final long T0 = 1_700_000_000_000L;
    private static final long WINDOW_MS = 10_000;
    private static final int PARTITIONS = 2;
    private static final String UNREAD = "plumbline_unread_partitions";

    @TempDir
    private Path folder;

    private final Logger log = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    private final ListAppender<ILoggingEvent> said = new ListAppender<>();

    private EmbeddedBroker broker;
    private BrokerClient client;
    private MonitorConfig config;

    @BeforeEach
    void start() throws Exception {
        said.start();
        log.addAppender(said);
        broker = EmbeddedBroker.start(folder.resolve("broker"));
        client = new BrokerClient(broker.bootstrapServers());
        createTopic();
        Path site = folder.resolve("site");
        WatchedFolder.create(site, broker.bootstrapServers());
        Files.writeString(
                site.resolve(WatchedFolder.FILE), """
                application_id: changed
                kafka:
                  bootstrap.servers: "%s"
                  monitor.commit.interval.ms: 500
                  # A commit for a topic that is gone waits for so long, and the next start for the transaction.
                  producer.max.block.ms: 5000
                  producer.transaction.timeout.ms: 10000
                  # The group waits for a monitor that was stopped while it took members in.
                  monitor.main.consumer.session.timeout.ms: 6000
                  monitor.main.consumer.heartbeat.interval.ms: 2000
                window: {size: 10s, grace: 0s, idle_close: 6s, minimum_rows: 64}
                sample: {rows: 64}
                state: {directory: state}
                http: {port: 0}
                sites:
                  %s: {explainer: explainer, baseline: baseline.safetensors, rank: 4, threshold: {share: 0.6}, adaptation: {mode: observe}}
                """.formatted(broker.bootstrapServers(), WatchedFolder.SITE));
        config = MonitorConfig.load(site.resolve(WatchedFolder.FILE));
    }

    @AfterEach
    void stop() {
        log.detachAppender(said);
        broker.close();
    }

    /**
     * The new topic holds more records than the old one had: those before the old offset would be skipped. The first
     * monitor is a process: its producers ask for ever for a topic that is gone, and end with it.
     */
    @Test
    void aTopicMadeAgainStopsTheMonitorAndTheNextOneReadsItFromItsFirstRecord() throws Exception {
        try (ChildJvm first = ChildJvm.start(
                folder.resolve("first.log"),
                FaultedProcess.class,
                List.of(),
                List.of(folder.resolve("site").resolve(WatchedFolder.FILE).toString(), Role.MONITOR.name()))) {
            client.sendAll(window(0, 20));
            awaitCommitted(10);
            deleteTopic();
            createTopic();
            for (int window = 10; window < 14; window++) {
                client.sendAll(window(window, 40));
            }
            first.await("the topic was made again", events -> events.stream()
                    .anyMatch(event -> event.startsWith("failed: ")
                            && event.contains("\"activations\" was deleted and made again while the monitor ran")));
        }
        try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
            client.await(config.topics().windowReports(), found -> found.size() >= 5);
            assertNull(runtime.awaitFailure(0, TimeUnit.SECONDS));
        }
        Map<Long, List<Long>> rows = new TreeMap<>();
        for (ConsumerRecord<byte[], byte[]> report :
                client.readAll(config.topics().windowReports())) {
            JsonNode read = new ObjectMapper().readTree(report.value());
            long window = (read.get("window_start_ms").asLong() - T0) / WINDOW_MS;
            rows.computeIfAbsent(window, none -> new ArrayList<>())
                    .add(read.get("rows").asLong() / WatchedFolder.ROWS);
        }
        List<Long> whole = List.of(40L);
        assertEquals(Map.of(0L, List.of(20L), 10L, whole, 11L, whole, 12L, whole, 13L, whole), rows);
    }

    @Test
    void aTopicMadeAgainWhileNoMonitorRanIsReadFromItsFirstRecord() throws Exception {
        try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
            client.sendAll(window(0, 20));
            awaitCommitted(10);
            assertNull(runtime.awaitFailure(0, TimeUnit.SECONDS));
        }
        deleteTopic();
        createTopic();
        client.sendAll(window(10, 40));
        try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
            Pages pages = new Pages(runtime.httpAddress());
            String read = "plumbline_rows_total{site=\"%s\"}".formatted(WatchedFolder.SITE);
            BrokerClient.awaitThat(() -> pages.value(read) == 40 * WatchedFolder.ROWS, () -> pages.body("/metrics"));
        }
    }

    @Test
    void aMonitorWhoseTopicIsGoneIsNotReady() throws Exception {
        try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
            Pages pages = new Pages(runtime.httpAddress());
            awaitReady(pages, "ok");
            deleteTopic();
            awaitReady(pages, "topic \"activations\" does not exist any more");
        }
    }

    @Test
    void aMonitorWithPartitionsThatItDoesNotReadIsNotReadyAndCountsThem() throws Exception {
        try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
            Pages pages = new Pages(runtime.httpAddress());
            awaitReady(pages, "ok");
            assertEquals(0, pages.value(UNREAD));
            client.growTopic("activations", 5);
            awaitReady(pages, "topic \"activations\" has 5 partitions and reading began with 2");
            assertEquals(3, pages.value(UNREAD));
            assertEquals(200, pages.status("/healthz"));
        }
    }

    /** The client of the page's reader would write a line at each of its fetches, thousands a second. */
    @Test
    void aTopicOfItsOwnThatIsGoneIsSaidInFewLinesUntilItIsBack() throws Exception {
        String reports = config.topics().windowReports();
        try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
            Pages pages = new Pages(runtime.httpAddress());
            awaitReady(pages, "ok");
            deleteTopic(reports);
            awaitReady(pages, "topic \"%s\" (one report a site and window) does not exist any more".formatted(reports));
            assertEquals(1, pages.value("plumbline_missing_topics"));
            client.createTopic(reports, PARTITIONS, Map.of());
            awaitReady(pages, "ok");
            assertEquals(0, pages.value("plumbline_missing_topics"));
            assertNull(runtime.awaitFailure(0, TimeUnit.SECONDS));
        }
        List<String> lines =
                said.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
        assertTrue(lines.size() < 20, () -> "%d lines: %s".formatted(lines.size(), lines.subList(0, 20)));
        assertSaid("to it: topic=%s holds=\"one report a site and window\"\nstop this process".formatted(reports));
        assertSaid("was deleted and made again while this process ran");
    }

    @Test
    void aTopicThatIsReadAndWasMadeAgainStopsTheMonitorWithItsName() throws Exception {
        String moments = config.topics().moments();
        try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
            awaitReady(new Pages(runtime.httpAddress()), "ok");
            deleteTopic(moments);
            createAgain(moments);
            String failure = runtime.awaitFailure(60, TimeUnit.SECONDS);
            assertTrue(
                    failure != null && failure.contains("topic \"%s\" (tiles of closed panes)".formatted(moments)),
                    String.valueOf(failure));
        }
    }

    @Test
    void stateThatWasDeletedBetweenTwoRunsIsSaidAndCounted() throws Exception {
        String lost = "plumbline_lost_changelogs";
        List<String> changelogs = Stream.of("panes", "windows", "decisions")
                .map("changed-monitor-%s-changelog"::formatted)
                .toList();
        try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
            client.sendAll(window(0, 20));
            client.sendAll(window(1, 20));
            client.await(config.topics().windowReports(), found -> !found.isEmpty());
            awaitCommitted(20);
            assertEquals(0, new Pages(runtime.httpAddress()).value(lost));
        }
        changelogs.forEach(this::deleteTopic);
        try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
            assertEquals(changelogs.size(), new Pages(runtime.httpAddress()).value(lost));
            assertSaid("topic=%s group=changed-monitor source=".formatted(changelogs.get(0)));
            assertSaid("does not exist, although its group has read records: the state of the monitor is lost");
        }
    }

    private static void awaitReady(Pages pages, String begins) throws InterruptedException {
        BrokerClient.awaitThat(() -> pages.body("/readyz").startsWith(begins), () -> pages.body("/readyz"));
    }

    private void createTopic() throws Exception {
        client.createTopic("activations", PARTITIONS, Map.of("retention.ms", "-1"));
    }

    private void deleteTopic() {
        deleteTopic("activations");
    }

    private void deleteTopic(String name) {
        try (Admin admin = Admin.create(client.properties())) {
            admin.deleteTopics(List.of(name)).all().get();
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(name, e);
        }
    }

    /** Makes a topic that was just deleted, as soon as the broker has forgotten it. */
    private void createAgain(String name) throws InterruptedException {
        BrokerClient.awaitThat(
                () -> {
                    try {
                        client.createTopic(name, PARTITIONS, Map.of());
                        return true;
                    } catch (Exception e) {
                        return false;
                    }
                },
                () -> name);
    }

    private void assertSaid(String words) {
        assertTrue(
                said.list.stream().anyMatch(line -> line.getFormattedMessage().contains(words)),
                () -> "%s: %s".formatted(words, said.list));
    }

    private void awaitCommitted(long offset) throws InterruptedException {
        try (Admin admin = Admin.create(client.properties())) {
            BrokerClient.awaitThat(
                    () -> committed(admin).filter(one -> one >= offset).count() == PARTITIONS,
                    () -> committed(admin).toList().toString());
        }
    }

    private Stream<Long> committed(Admin admin) {
        try {
            return admin
                    .listConsumerGroupOffsets(config.monitorApplicationId())
                    .partitionsToOffsetAndMetadata()
                    .get()
                    .entrySet()
                    .stream()
                    .filter(place -> place.getKey().topic().equals("activations"))
                    .map(Map.Entry::getValue)
                    .map(OffsetAndMetadata::offset);
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns records of one window, alternating between the partitions. */
    private static List<ProducerRecord<byte[], byte[]>> window(int window, int records) {
        List<ProducerRecord<byte[], byte[]>> made = new ArrayList<>();
        for (int i = 0; i < records; i++) {
            made.add(new ProducerRecord<>(
                    "activations",
                    i % PARTITIONS,
                    T0 + window * WINDOW_MS + i * 100L,
                    WatchedFolder.SITE.getBytes(StandardCharsets.UTF_8),
                    ActivationRecords.blob(WatchedFolder.quiet(i))));
        }
        return made;
    }
}
