package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.config.MonitorConfig;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests two processes on one broker, as two scrape targets: whatever moves between them, a site's values stand in one
 * place.
 */
class TwoInstancesIT {

    private static final long T0 = 1_700_000_000_000L;
    private static final int PARTITIONS = 4;
    private static final Set<String> SITES = Set.of("s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8");

    /** The series that only the instance which judges a site, or composes its windows, may show. */
    private static final List<Pattern> OF_ONE_INSTANCE = List.of(
            Pattern.compile("(?m)^plumbline_window_end_timestamp_seconds\\{site=\"([^\"]+)\"}"),
            Pattern.compile("(?m)^plumbline_site_rows\\{account=\"in\",site=\"([^\"]+)\"}"));

    /**
     * A task whose change-log is longer than this moves only after the other instance has read it, at the next probing
     * rebalance, ten minutes later. How long it is when the second instance starts depends on the machine.
     */
    private static final String MOVE_AT_ONCE = "acceptable.recovery.lag: \"1000000000\", ";

    @TempDir
    private Path folder;

    private BrokerClient client;
    private int windows;

    @Test
    void neverExportTheSameSiteAndTogetherExportEverySiteWhileSitesMove() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", PARTITIONS, Map.of("retention.ms", "-1"));
            try (PlumblineRuntime first = PlumblineRuntime.start(config(broker, "first"), Role.MONITOR)) {
                awaitWindows(() -> shown(first), all -> all.stream().allMatch(SITES::equals));
                try (PlumblineRuntime second = PlumblineRuntime.start(config(broker, "second"), Role.MONITOR)) {
                    // The one that receives is looked at first: what moves in between is then in neither, never in
                    // both.
                    awaitWindows(
                            () -> union(shown(second), shown(first)),
                            all -> all.stream().allMatch(SITES::equals)
                                    && shown(second).stream().noneMatch(Set::isEmpty));
                    assertFalse(shown(first).stream().anyMatch(SITES::equals), "nothing moved");
                }
                awaitWindows(() -> shown(first), all -> all.stream().allMatch(SITES::equals));
            }
        }
    }

    private interface Looking {
        List<Set<String>> look() throws Exception;
    }

    private interface Enough {
        boolean is(List<Set<String>> shown) throws Exception;
    }

    /**
     * Sends a window every half a second, so that whoever judges a site has something to show, until there is enough of
     * it.
     */
    private void awaitWindows(Looking looking, Enough enough) throws Exception {
        AtomicInteger looks = new AtomicInteger();
        BrokerClient.awaitThat(
                () -> {
                    try {
                        if (looks.getAndIncrement() % 5 == 0) {
                            sendWindow();
                        }
                        return enough.is(looking.look());
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                },
                () -> "windows sent: " + windows);
    }

    private static List<Set<String>> union(List<Set<String>> receiving, List<Set<String>> giving) {
        List<Set<String>> union = new ArrayList<>();
        for (int i = 0; i < OF_ONE_INSTANCE.size(); i++) {
            Set<String> both = new TreeSet<>(receiving.get(i));
            both.retainAll(giving.get(i));
            assertEquals(Set.of(), both, "shown by both instances, by " + OF_ONE_INSTANCE.get(i));
            Set<String> all = new TreeSet<>(receiving.get(i));
            all.addAll(giving.get(i));
            union.add(all);
        }
        return union;
    }

    private static List<Set<String>> shown(PlumblineRuntime runtime) throws Exception {
        String scrape = PoisonIT.metrics(runtime);
        List<Set<String>> shown = new ArrayList<>();
        for (Pattern pattern : OF_ONE_INSTANCE) {
            shown.add(pattern.matcher(scrape)
                    .results()
                    .map(found -> found.group(1))
                    .collect(Collectors.toSet()));
        }
        return shown;
    }

    private MonitorConfig config(EmbeddedBroker broker, String name) throws Exception {
        WatchedFolder.create(
                folder.resolve(name),
                broker.bootstrapServers(),
                WatchedFolder.WINDOW,
                "",
                SITES.stream().sorted().toArray(String[]::new));
        Path file = folder.resolve(name).resolve(WatchedFolder.FILE);
        Files.writeString(file, Files.readString(file).replace("kafka: {", "kafka: {" + MOVE_AT_ONCE));
        return MonitorConfig.load(file);
    }

    private void sendWindow() throws Exception {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < WatchedFolder.RECORDS; i++) {
            long time = T0 + windows * 10_000L + i * 100L;
            for (String site : SITES) {
                records.add(new ProducerRecord<>(
                        "activations",
                        i % PARTITIONS,
                        time,
                        site.getBytes(StandardCharsets.UTF_8),
                        ActivationRecords.blob(WatchedFolder.quiet(time))));
            }
        }
        client.sendAll(records);
        windows++;
    }
}
