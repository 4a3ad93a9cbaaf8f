package io.plumbline.topology.outages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.faults.ChildJvm;
import io.plumbline.topology.faults.FaultBroker;
import io.plumbline.topology.faults.FaultCase;
import io.plumbline.topology.faults.FaultMatrix;
import io.plumbline.topology.faults.MonitorSetup;
import io.plumbline.topology.faults.Traffic;
import io.plumbline.topology.runtime.Role;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests adapters killed at every point of an answer, brokers killed and stopped: the long form. Two tables at its end.
 */
class OutagesSoak {

    private static final FaultMatrix WINDOWS = new FaultMatrix();
    private static final List<String> DECODERS = new ArrayList<>();
    private static final long END = 1_700_000_010_000L;

    private static final int AWAY_SECONDS = 25;

    @TempDir
    private Path folder;

    @AfterAll
    static void print() {
        System.out.println(WINDOWS.table());
        System.out.println(
                "| case | kills | requests | published | followed | torn | s |\n|---|---|---|---|---|---|---|\n"
                        + String.join("\n", DECODERS));
    }

    /**
     * Tests a request and its revert before each death, so that refits and reverts, and both after another, are cut
     * off.
     */
    @ParameterizedTest(name = "state {0}")
    @ValueSource(strings = {"kept", "wiped"})
    void theAdapterDiesAtEveryPointOfAnAnswer(String state) throws Exception {
        List<String> points = List.of(
                "refit:1",
                "send-decoders:1",
                "send-decoders:48", // one is published, half of the next written
                "refit:2",
                "send-decoders:31",
                "send-decoders:32", // the manifest
                "send-decoder-versions-changelog:1",
                "send-adaptation-reports:2",
                "send-decoders:33",
                "send-decoders:16");
        try (EmbeddedBroker broker = FaultBroker.start(folder.resolve("broker"));
                AdapterCase run =
                        new AdapterCase(folder.resolve("case"), broker.bootstrapServers(), state.equals("wiped"))) {
            long end = END;
            for (String point : points) {
                int colon = point.indexOf(':');
                ChildJvm adapter = run.startToBeKilledAt(
                        Role.ADAPTER, point.substring(0, colon), Integer.parseInt(point.substring(colon + 1)));
                run.client().send(AdaptationRequests.adapt(WideSite.SITE, end, WideSite.RECORDS, WideSite::drifted));
                run.client().send(AdaptationRequests.revert(WideSite.SITE, end + 1));
                run.awaitKilled(adapter);
                end += 10;
            }
            run.start(Role.ADAPTER);
            AdapterCase.Result result = run.finish();
            add("adapter killed at %d points, state %s".formatted(points.size(), state), result);
            assertEquals(2 * points.size(), result.published(), result::toString);
        }
    }

    @ParameterizedTest(name = "{0}, state {1}")
    @CsvSource({"one process, kept", "one process, wiped", "two processes, kept", "two processes, wiped"})
    void monitorAndAdapterDieTogether(String processes, String state) throws Exception {
        boolean one = processes.equals("one process");
        try (EmbeddedBroker broker = FaultBroker.start(folder.resolve("broker"));
                AdapterCase run =
                        new AdapterCase(folder.resolve("case"), broker.bootstrapServers(), state.equals("wiped"))) {
            List<LongFunction<Matrix>> story = List.of(
                    WideSite::quiet,
                    WideSite::drifted,
                    WideSite::drifted,
                    WideSite::quiet,
                    WideSite::drifted,
                    WideSite::quiet,
                    WideSite::quiet);
            ChildJvm monitor = one ? null : run.start(Role.MONITOR);
            ChildJvm adapter = run.startToBeKilledAt(one ? Role.ALL : Role.ADAPTER, "send-decoders", 16);
            sendWindows(run, story, 0, 3);
            run.awaitKilled(adapter);
            if (monitor != null) {
                run.kill(monitor);
                monitor = run.start(Role.MONITOR);
            }
            // The window that drifts again: its request finds them dead in the middle of the refit.
            adapter = run.startToBeKilledAt(one ? Role.ALL : Role.ADAPTER, "send-adaptation-reports", 2);
            sendWindows(run, story, 3, 5);
            run.awaitKilled(adapter);
            if (monitor != null) {
                run.kill(monitor);
                run.start(Role.MONITOR);
            }
            run.start(one ? Role.ALL : Role.ADAPTER);
            sendWindows(run, story, 5, story.size());
            run.awaitWindowReports(story.size() - 1);
            AdapterCase.Result result = run.finish();
            add("monitor and adapter killed, %s, state %s".formatted(processes, state), result);
            // Two drifts and two returns; the second window of the first drift finds a decoder that fits.
            assertEquals(4, result.published(), result::toString);
        }
    }

    private static void sendWindows(AdapterCase run, List<LongFunction<Matrix>> story, int from, int to)
            throws Exception {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int window = from; window < to; window++) {
            for (int i = 0; i < WideSite.RECORDS; i++) {
                long time = END + (long) window * WideSite.WINDOW_MS + i * 100L;
                records.add(new ProducerRecord<>(
                        "activations",
                        0,
                        time,
                        WideSite.SITE.getBytes(StandardCharsets.UTF_8),
                        ActivationRecords.blob(story.get(window).apply(time))));
            }
        }
        run.client().send(records);
    }

    @Test
    void leadersOfThreeBrokersDieOneAfterTheOther() throws Exception {
        MonitorSetup setup = MonitorSetup.of("memory", "kept", 1, "classic")
                .with("num.standby.replicas", "1")
                .with("producer.transaction.timeout.ms", "15000");
        try (BrokerCluster cluster = new BrokerCluster(folder.resolve("brokers"), 3);
                FaultCase run = FaultCase.open(
                        "3 brokers: leader of activations, then of the transaction log",
                        Traffic.Shape.small(),
                        setup,
                        cluster.bootstrapServers(),
                        folder.resolve("cluster"),
                        3)) {
            int sites = run.traffic().shape().sites();
            run.start(0);
            run.start(1);
            run.traffic().send(2);
            run.awaitWindows(sites);
            int first = cluster.leader("cluster-activations");
            cluster.kill(first);
            run.traffic().send(4);
            run.awaitWindows(5 * sites);
            cluster.start(first);
            cluster.awaitInSync();
            int second = cluster.leader(BrokerCluster.TRANSACTION_LOG);
            run.traffic().send(1);
            cluster.kill(second);
            run.traffic().send(4);
            run.awaitWindows(9 * sites);
            cluster.start(second);
            cluster.awaitInSync();
            run.traffic().send(1);
            WINDOWS.add(run.finish());
        }
    }

    /** Tests the defaults: delivery.timeout.ms 120 s, max.block.ms 60 s, task.timeout.ms 5 min. */
    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"memory", "rocksdb"})
    void aBrokerThatIsAwayForLongerThanTheClientsWaitComesBack(String store) throws Exception {
        MonitorSetup setup = MonitorSetup.of(store, "kept", 2, "classic")
                .with("commit.interval.ms", "3000")
                .with("producer.delivery.timeout.ms", "8000")
                .with("producer.request.timeout.ms", "4000")
                .with("producer.max.block.ms", "6000")
                .with("task.timeout.ms", "6000");
        Path data = folder.resolve("broker");
        EmbeddedBroker broker = FaultBroker.start(data);
        try (FaultCase run = FaultCase.open(
                "broker away for longer than delivery.timeout.ms and max.block.ms",
                Traffic.Shape.small(),
                setup,
                broker.bootstrapServers(),
                folder.resolve("away"))) {
            int sites = run.traffic().shape().sites();
            ChildJvm monitor = run.start(0);
            run.traffic().send(2);
            run.awaitWindows(sites);
            Transactions transactions = new Transactions(broker.bootstrapServers());
            for (int outage = 1; outage <= 2; outage++) {
                transactions.openWith(run.traffic());
                broker.close();
                // Longer than any client waits. Whether a thread is lost depends on what it was waiting for.
                long back = System.nanoTime() + TimeUnit.SECONDS.toNanos(AWAY_SECONDS);
                BrokerClient.awaitThat(() -> System.nanoTime() > back, () -> "time stands still");
                assertTrue(monitor.isAlive(), "the monitor gave up");
                broker = EmbeddedBroker.start(data, broker.port(), FaultBroker.settings());
                run.awaitWindows((run.traffic().windowsSent() - 1) * sites);
            }
            run.traffic().send(2);
            WINDOWS.add(run.finish());
            System.out.println("threads replaced: " + replaced(monitor.events()));
        } finally {
            broker.close();
        }
    }

    private static long replaced(List<String> events) {
        return events.stream()
                .filter(event -> event.startsWith("thread replaced"))
                .count();
    }

    @ParameterizedTest(name = "{0} protocol, {1}")
    @CsvSource({"classic, memory", "classic, rocksdb", "streams, memory"})
    void aPausedMonitorFindsItsTransactionEndedAndGoesOn(String protocol, String store) throws Exception {
        MonitorSetup setup = MonitorSetup.of(store, "kept", 2, protocol).with("commit.interval.ms", "3000");
        try (EmbeddedBroker broker = FaultBroker.start(folder.resolve("broker"));
                FaultCase run = FaultCase.open(
                        "paused beyond its transaction timeout, alone",
                        Traffic.Shape.small(),
                        setup,
                        broker.bootstrapServers(),
                        folder.resolve("paused"))) {
            int sites = run.traffic().shape().sites();
            ChildJvm monitor = run.start(0);
            run.traffic().send(2);
            run.awaitWindows(sites);
            Transactions transactions = new Transactions(broker.bootstrapServers());
            for (int pause = 1; pause <= 3; pause++) {
                transactions.openWith(run.traffic());
                monitor.pause();
                transactions.awaitNoneOpen();
                monitor.resume();
                run.awaitWindows((run.traffic().windowsSent() - 1) * sites);
            }
            assertTrue(monitor.isAlive());
            run.traffic().send(2);
            WINDOWS.add(run.finish());
        }
    }

    private static void add(String name, AdapterCase.Result result) {
        DECODERS.add("| %s | %d | %d | %d | %d | %d | %.0f |"
                .formatted(
                        name,
                        result.kills(),
                        result.requests(),
                        result.published(),
                        result.followed(),
                        result.torn(),
                        result.seconds()));
    }
}
