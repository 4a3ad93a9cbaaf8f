package io.plumbline.topology.faults;

import io.plumbline.topology.demo.EmbeddedBroker;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Exactly-once windows in the face of SIGKILL, the short form: child JVMs that run the monitor's own topology die where it
 * hurts, against a real broker. {@code MonitorFaultsSoak} is the whole matrix.
 */
class KilledMonitorIT {

    @TempDir
    private static Path folder;

    private static EmbeddedBroker broker;
    private static final FaultMatrix MATRIX = new FaultMatrix();

    @BeforeAll
    static void startBroker() {
        broker = FaultBroker.start(folder.resolve("broker"));
    }

    @AfterAll
    static void stopBroker() {
        System.out.println(MATRIX.table());
        broker.close();
    }

    @ParameterizedTest(name = "{0} store, state {1}, {2} threads, {3} protocol")
    @CsvSource({"memory, wiped, 1, classic", "rocksdb, kept, 2, classic", "memory, wiped, 2, streams"})
    void everyRowIsCountedOnceHoweverOftenTheMonitorIsKilled(String store, String state, int threads, String protocol)
            throws Exception {
        MonitorSetup setup = MonitorSetup.of(store, state, threads, protocol);
        try (FaultCase run = FaultCase.open(
                "mid-window",
                Traffic.Shape.small(),
                setup,
                broker.bootstrapServers(),
                folder.resolve("mid-window-%s-%s".formatted(store, protocol)))) {
            ChildJvm monitor = run.start(0);
            run.traffic().send(2);
            run.awaitWindows(1);
            run.kill(0, monitor);
            run.traffic().send(2);
            monitor = run.start(0);
            run.awaitWindows(2 * run.traffic().shape().sites());
            run.kill(0, monitor);
            run.traffic().send(2);
            run.start(0);
            MATRIX.add(run.finish());
        }
    }
}
