package io.plumbline.topology.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.BrokerClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Runs one case of the matrix: topics of its own on a broker of the caller's, traffic with its truth, monitors as child
 * JVMs with a state folder each, and the comparison at the end.
 *
 * <pre>
 * try (FaultCase run = FaultCase.open("mid-window", shape, setup, broker.bootstrapServers(), folder)) {
 *     ChildJvm monitor = run.start(0);
 *     run.traffic().send(2);
 *     run.awaitWindows(1);
 *     run.kill(0, monitor);
 *     run.start(0);
 *     matrix.add(run.finish());
 * }
 * </pre>
 */
public final class FaultCase implements AutoCloseable {

    private final String name;
    private final String prefix;
    private final MonitorSetup setup;
    private final Path folder;
    private final BrokerClient client;
    private final Traffic traffic;
    private final List<ChildJvm> children = new ArrayList<>();
    private final long begin = System.nanoTime();
    private int kills;

    private FaultCase(
            String name, String prefix, MonitorSetup setup, Path folder, BrokerClient client, Traffic traffic) {
        this.name = name;
        this.prefix = prefix;
        this.setup = setup;
        this.folder = folder;
        this.client = client;
        this.traffic = traffic;
    }

    /** Makes the topics and the files of the sites. The folder is to be the case's own. */
    public static FaultCase open(
            String name, Traffic.Shape shape, MonitorSetup setup, String bootstrapServers, Path folder)
            throws Exception {
        return open(name, shape, setup, bootstrapServers, folder, 1);
    }

    /** @param replication of the topics the case makes */
    public static FaultCase open(
            String name, Traffic.Shape shape, MonitorSetup setup, String bootstrapServers, Path folder, int replication)
            throws Exception {
        return open(name, shape, setup, bootstrapServers, bootstrapServers, folder, replication);
    }

    /**
     * @param monitors the monitors' way to the brokers, which may be another than that of the traffic and of the
     * comparison
     */
    public static FaultCase open(
            String name,
            Traffic.Shape shape,
            MonitorSetup setup,
            String bootstrapServers,
            String monitors,
            Path folder,
            int replication)
            throws Exception {
        Files.createDirectories(folder);
        BrokerClient client = new BrokerClient(bootstrapServers);
        String prefix = folder.getFileName() + "-";
        client.createTopic(prefix + "activations", shape.partitions(), replication, Map.of("retention.ms", "-1"));
        client.createTopic(prefix + "prints", 1, replication, Map.of());
        MonitorFolder.create(folder, prefix, shape, setup, monitors);
        return new FaultCase(name, prefix, setup, folder, client, new Traffic(shape, prefix + "activations", client));
    }

    public Traffic traffic() {
        return traffic;
    }

    /** Starts monitor {@code instance}, with the state folder of that number. */
    public ChildJvm start(int instance, String... properties) {
        Path log = folder.resolve("monitor-%d-%d.log".formatted(instance, children.size()));
        ChildJvm child = ChildJvm.start(
                log,
                FaultedMonitor.class,
                List.of(properties),
                List.of(MonitorFolder.config(folder, instance).toString(), prefix + "prints"));
        children.add(child);
        return child;
    }

    /** Starts a monitor that will kill itself at the n-th passing of a point, see {@link KillPoint}. */
    ChildJvm startToBeKilledAt(int instance, String point, int turn) {
        return start(instance, KillPoint.Fault.KILL.at(point, turn));
    }

    /** Kills by SIGKILL; its state is wiped where the setup says so. */
    void kill(int instance, ChildJvm child) throws Exception {
        child.kill();
        killed(instance);
    }

    /** Waits until it killed itself. */
    void awaitKilled(int instance, ChildJvm child) throws Exception {
        child.awaitKilled();
        killed(instance);
    }

    private void killed(int instance) {
        kills++;
        if (setup.wipe()) {
            wipe(MonitorFolder.state(folder, instance));
        }
    }

    /** Waits until there are so many committed windows. */
    public void awaitWindows(int count) {
        try {
            List<ConsumerRecord<byte[], byte[]>> unused =
                    client.await(prefix + "prints", found -> found.size() >= count);
        } catch (AssertionError waitedInVain) {
            children.forEach(child -> waitedInVain.addSuppressed(new AssertionError(child.state())));
            throw waitedInVain;
        }
    }

    /** The group of the monitors. */
    String group() {
        return prefix + "app-monitor";
    }

    /** Returns how many records the change-logs of the monitors' stores were given. */
    long changelogRecords() throws Exception {
        long records = 0;
        for (String store : List.of("panes", "windows", "decisions")) {
            records += client.endOffsets("%s-%s-changelog".formatted(group(), store));
        }
        return records;
    }

    /** Returns how many windows are committed by now. */
    int committedWindows() {
        return client.readAll(prefix + "prints").size();
    }

    /** Closes the last windows, waits for all of them, and compares them with the truth. */
    public FaultMatrix.Line finish() throws Exception {
        traffic.closeWindows();
        Map<String, WindowPrint> expected = traffic.expected();
        awaitWindows(expected.size());
        // What would be emitted a second time is emitted by the time the tasks are closed.
        for (ChildJvm child : children) {
            if (child.isAlive()) {
                child.leave();
            }
        }
        List<ConsumerRecord<byte[], byte[]>> prints = client.readAll(prefix + "prints");
        List<ConsumerRecord<byte[], byte[]>> letters = client.readAll(prefix + "dead-letters");
        assertEquals(traffic.lateRows(), lateRows(), name + ": late rows");
        assertAccounts(prints);
        return compare(expected, prints, rows(letters));
    }

    /**
     * Requires rows in = rows in windows + late, as the last committed window of each site says it: nothing counts
     * twice there.
     */
    private void assertAccounts(List<ConsumerRecord<byte[], byte[]>> prints) {
        Map<String, AccountPrint> last = new TreeMap<>();
        long inWindows = 0;
        for (ConsumerRecord<byte[], byte[]> print : prints) {
            last.put(new String(print.key(), StandardCharsets.UTF_8), AccountPrint.decode(print.value()));
            inWindows += WindowPrint.decode(print.value()).rows();
        }
        long late = 0;
        long accounted = 0;
        for (Map.Entry<String, AccountPrint> site : last.entrySet()) {
            AccountPrint account = site.getValue();
            assertEquals(0, account.unaccounted(), () -> name + ": " + site);
            assertEquals(account.in() - account.open(), account.inWindows() + account.late(), () -> name + ": " + site);
            late += account.late();
            accounted += account.inWindows();
        }
        assertEquals(traffic.lateRows(), late, () -> name + ": late rows of " + last);
        assertEquals(inWindows, accounted, () -> name + ": rows in windows of " + last);
    }

    private FaultMatrix.Line compare(
            Map<String, WindowPrint> expected, List<ConsumerRecord<byte[], byte[]>> prints, long deadLetterRows) {
        Map<String, WindowPrint> found = new TreeMap<>();
        Set<String> twice = new HashSet<>();
        long rows = 0;
        for (ConsumerRecord<byte[], byte[]> record : prints) {
            WindowPrint print = WindowPrint.decode(record.value());
            String key = new String(record.key(), StandardCharsets.UTF_8) + "@" + print.startMs();
            rows += print.rows();
            if (found.put(key, print) != null) {
                twice.add(key);
            }
        }
        int lost = 0;
        int wrong = 0;
        for (Map.Entry<String, WindowPrint> window : expected.entrySet()) {
            WindowPrint print = found.get(window.getKey());
            if (print == null) {
                lost++;
            } else if (!print.equals(window.getValue())) {
                wrong++;
            }
        }
        return new FaultMatrix.Line(
                "%s (%s)".formatted(name, setup),
                kills,
                expected.size(),
                prints.size(),
                lost,
                twice.size(),
                wrong,
                traffic.rowsIn(),
                rows,
                lateRows(),
                deadLetterRows,
                (System.nanoTime() - begin) / 1e9);
    }

    /** Returns the rows that any monitor said were late; what was said again after a crash counts once. */
    private long lateRows() {
        Set<String> late = new HashSet<>();
        children.forEach(child -> child.events().stream()
                .filter(event -> event.startsWith("late "))
                .forEach(late::add));
        assertTrue(late.stream().allMatch(event -> event.startsWith("late AFTER_GRACE")), late::toString);
        return late.stream()
                .mapToLong(event -> Long.parseLong(event.substring(event.lastIndexOf(' ') + 1)))
                .sum();
    }

    private static long rows(List<ConsumerRecord<byte[], byte[]>> letters) {
        return letters.stream()
                .mapToLong(letter -> Long.parseLong(new String(
                        letter.headers().lastHeader(Traffic.ROWS_HEADER).value(), StandardCharsets.UTF_8)))
                .sum();
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
        children.forEach(ChildJvm::close);
        traffic.close();
    }
}
