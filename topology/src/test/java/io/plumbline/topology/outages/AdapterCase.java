package io.plumbline.topology.outages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.DecoderKind;
import io.plumbline.topology.adaptation.Outcome;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.emission.DecoderListener;
import io.plumbline.topology.emission.DecoderSubscriber;
import io.plumbline.topology.emission.DecoderSubscription;
import io.plumbline.topology.emission.PublishedDecoder;
import io.plumbline.topology.faults.ChildJvm;
import io.plumbline.topology.faults.KillPoint;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.runtime.Role;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Runs one case: a {@link WideSite} on a broker of its own, processes to be killed, a {@code read_committed} subscriber
 * that runs throughout, and what must hold at the end.
 */
final class AdapterCase implements AutoCloseable {

    private final Path folder;
    private final boolean wipe;
    private final MonitorConfig config;
    private final BrokerClient client;
    private final DecoderSubscriber subscriber;
    private final Decoder trained;
    private final List<PublishedDecoder> followed = new CopyOnWriteArrayList<>();
    private final List<String> refused = new CopyOnWriteArrayList<>();
    private final Map<ChildJvm, Role> children = new LinkedHashMap<>();
    private final long begin = System.nanoTime();
    private int kills;

    /** The result of a case. */
    record Result(int kills, int requests, int published, int followed, int torn, double seconds) {}

    /** @param wipe whether the state folder of a killed process is emptied */
    AdapterCase(Path folder, String bootstrapServers, boolean wipe) throws Exception {
        this(folder, bootstrapServers, wipe, "auto");
    }

    /** Starts a case in another {@code adaptation.mode}. */
    AdapterCase(Path folder, String bootstrapServers, boolean wipe, String mode) throws Exception {
        this(folder, bootstrapServers, wipe, mode, bootstrapServers, List.of());
    }

    /**
     * Starts a case with processes that reach the broker by another way.
     *
     * @param more lines under {@code kafka}
     */
    AdapterCase(
            Path folder,
            String bootstrapServers,
            boolean wipe,
            String mode,
            String bootstrapOfProcesses,
            List<String> more)
            throws Exception {
        this.folder = Files.createDirectories(folder);
        this.wipe = wipe;
        String sends = "producer.interceptor.classes: " + KillPoint.Sends.class.getName();
        List<String> lines = new ArrayList<>(List.of(
                "adapter." + sends,
                "monitor." + sends,
                "adapter.producer.transaction.timeout.ms: 30000",
                "monitor.producer.transaction.timeout.ms: 30000",
                "monitor.commit.interval.ms: 1000",
                "monitor.num.stream.threads: 1",
                "main.consumer.session.timeout.ms: 6000",
                "main.consumer.heartbeat.interval.ms: 1000"));
        lines.addAll(more);
        config = WideSite.create(folder, bootstrapOfProcesses, lines, mode);
        client = new BrokerClient(bootstrapServers);
        client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
        client.createTopic(AdaptationRequests.TOPIC, 1, Map.of());
        trained = Formats.read(folder.resolve("explainer")).decoder();
        subscriber = DecoderSubscriber.start(
                client.properties(),
                config.topics().decoders(),
                DecoderSubscription.of(Map.of(WideSite.SITE, trained)),
                new DecoderListener() {
                    @Override
                    public void onDecoder(PublishedDecoder decoder) {
                        followed.add(decoder);
                    }

                    @Override
                    public void onRefused(String site, long version, String reason) {
                        refused.add("version %d: %s".formatted(version, reason));
                    }
                });
    }

    BrokerClient client() {
        return client;
    }

    ChildJvm start(Role role) {
        return start(role, List.of());
    }

    /** Starts a process that dies at a {@link KillPoint}. */
    ChildJvm startToBeKilledAt(Role role, String point, int turn) {
        return start(role, List.of(KillPoint.Fault.KILL.at(point, turn)));
    }

    private ChildJvm start(Role role, List<String> properties) {
        ChildJvm child = ChildJvm.start(
                folder.resolve("%s-%d.log".formatted(role, children.size())),
                FaultedProcess.class,
                properties,
                List.of(WideSite.config(folder).toString(), role.name()));
        children.put(child, role);
        return child;
    }

    void awaitKilled(ChildJvm child) throws InterruptedException {
        child.awaitKilled();
        killed(child);
    }

    void kill(ChildJvm child) throws InterruptedException {
        child.kill();
        killed(child);
    }

    private void killed(ChildJvm child) {
        kills++;
        Role role = children.get(child);
        if (wipe && role != Role.ADAPTER) {
            wipe(config.stateDirectory().resolve(config.monitorApplicationId()));
        }
        if (wipe && role != Role.MONITOR) {
            wipe(config.stateDirectory().resolve(config.adapterApplicationId()));
        }
    }

    /** Returns how many chunks and manifests lie on the topic, committed or not. */
    long written() {
        TopicPartition decoders = new TopicPartition(config.topics().decoders(), 0);
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(client.properties(), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            return consumer.endOffsets(List.of(decoders)).get(decoders);
        }
    }

    /** Returns how many of them a reader gets, once the open transaction has been ended by the broker. */
    int committed() {
        return client.readAll(config.topics().decoders()).size();
    }

    /** Returns what the subscriber got so far. */
    List<PublishedDecoder> followed() {
        return followed;
    }

    /** Waits until so many requests have been answered. */
    void awaitReports(int count) {
        var unused = client.await(config.topics().adaptationReports(), found -> found.size() >= count);
    }

    /** Waits until every one of the windows was reported, and checks that none was reported twice. */
    void awaitWindowReports(int count) {
        List<String> starts = client.await(config.topics().windowReports(), found -> found.size() >= count).stream()
                .map(record -> new String(record.value(), StandardCharsets.UTF_8)
                        .replaceAll(".*\"window_start_ms\":(\\d+).*", "$1"))
                .toList();
        assertEquals(count, starts.size(), "windows reported: " + starts);
        assertEquals(starts.stream().distinct().toList(), starts);
    }

    /**
     * Waits until all was answered, lets the processes go, and checks what was promised. A revert while the trained
     * decoder is in service is passed over without an answer.
     */
    Result finish() throws Exception {
        List<AdaptationMessage> asked = client.readAll(AdaptationRequests.TOPIC).stream()
                .map(record -> AdaptationMessage.decode(record.value()))
                .toList();
        List<Long> adapts = ends(asked, AdaptationMessage.Adapt.class);
        List<Long> reverts = ends(asked, AdaptationMessage.Revert.class);
        awaitNothingLeft();
        for (ChildJvm child : children.keySet()) {
            if (child.isAlive()) {
                child.leave();
            }
        }
        List<AdaptationReport> reports = client.readAll(config.topics().adaptationReports()).stream()
                .map(record -> Json.read(record.value(), AdaptationReport.class))
                .toList();
        assertEquals(adapts, ends(reports, false), "every request answered once, in order: " + reports);
        List<Long> reverted = ends(reports, true);
        assertEquals(reverted.stream().distinct().toList(), reverted, "no revert twice");
        assertTrue(reverts.containsAll(reverted), () -> "asked for %s, reverted %s".formatted(reverts, reverted));
        List<Long> versions = reports.stream()
                .map(AdaptationReport::version)
                .filter(version -> version > 0)
                .toList();
        BrokerClient.awaitThat(() -> followed.size() >= versions.size(), () -> "published %s, followed %s, refused %s"
                .formatted(versions, followed, refused));
        assertEquals(
                versions,
                followed.stream().map(PublishedDecoder::version).toList(),
                "one version per published answer, each seen once, in order");
        assertEquals(versions.stream().sorted().distinct().toList(), versions, "versions ascend");
        assertEquals(List.of(), refused, "torn or foreign decoders");
        compareWithWhatALateReaderGets();
        return new Result(
                kills,
                adapts.size() + reverts.size(),
                versions.size(),
                followed.size(),
                refused.size(),
                (System.nanoTime() - begin) / 1e9);
    }

    private static List<Long> ends(List<AdaptationMessage> messages, Class<? extends AdaptationMessage> kind) {
        return messages.stream()
                .filter(kind::isInstance)
                .map(AdaptationMessage::windowEndMs)
                .toList();
    }

    private static List<Long> ends(List<AdaptationReport> reports, boolean reverted) {
        return reports.stream()
                .filter(report -> report.outcome() == Outcome.REVERTED == reverted)
                .map(AdaptationReport::windowEndMs)
                .toList();
    }

    /** Waits until the adapter's committed offset is the end of its requests. */
    private void awaitNothingLeft() throws InterruptedException {
        TopicPartition requests = new TopicPartition(AdaptationRequests.TOPIC, 0);
        Properties group = client.properties();
        group.put("group.id", config.adapterApplicationId());
        group.put("enable.auto.commit", "false");
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(group, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            BrokerClient.awaitThat(
                    () -> {
                        OffsetAndMetadata committed =
                                consumer.committed(Set.of(requests)).get(requests);
                        return committed != null
                                && committed.offset()
                                        == consumer.endOffsets(List.of(requests))
                                                .get(requests);
                    },
                    () -> "requests are left: " + consumer.committed(Set.of(requests)));
        }
    }

    /** Requires that the decoder in service is that of the newest manifest, whenever one begins to read. */
    private void compareWithWhatALateReaderGets() throws InterruptedException {
        Map<Long, PublishedDecoder> late = new ConcurrentHashMap<>();
        PublishedDecoder last = followed.get(followed.size() - 1);
        DecoderSubscriber reader = DecoderSubscriber.start(
                client.properties(),
                config.topics().decoders(),
                DecoderSubscription.of(Map.of(WideSite.SITE, trained)),
                decoder -> late.put(decoder.version(), decoder));
        try {
            BrokerClient.awaitThat(
                    () -> late.containsKey(last.version()),
                    () -> "a late reader did not get version " + last.version());
        } finally {
            reader.close();
        }
        PublishedDecoder found = late.get(last.version());
        assertEquals(last.manifest().sha256(), found.manifest().sha256());
        assertEquals(last.decoder().sha256(), found.decoder().sha256());
        assertTrue(
                last.manifest().kind() == DecoderKind.ADAPTED
                        || found.decoder().sha256().equals(trained.sha256()),
                "a revert brings the trained decoder");
    }

    private static void wipe(Path directory) {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        children.keySet().forEach(ChildJvm::close);
        subscriber.close();
    }
}
