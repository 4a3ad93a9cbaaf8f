package io.plumbline.topology.faults;

import io.plumbline.fixtures.EmbeddedBroker;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the whole matrix of the monitor's faults, see {@code docs/operate/faults.md}: every kill in five settings in
 * which each pair of store, state, threads and protocol occurs.
 */
class MonitorFaultsSoak {

    /** The settings: any two of the four choices meet in at least one of these. */
    private static final List<MonitorSetup> PAIRWISE = List.of(
            MonitorSetup.of("memory", "wiped", 1, "classic"),
            MonitorSetup.of("memory", "kept", 2, "streams"),
            MonitorSetup.of("rocksdb", "wiped", 2, "streams"),
            MonitorSetup.of("rocksdb", "kept", 1, "streams"),
            MonitorSetup.of("rocksdb", "kept", 2, "classic"));

    @TempDir
    private static Path folder;

    private static EmbeddedBroker broker;
    private static MonitorScenarios scenarios;
    private static final FaultMatrix MATRIX = new FaultMatrix();

    @BeforeAll
    static void startBroker() {
        broker = FaultBroker.start(folder.resolve("broker"));
        scenarios = new MonitorScenarios(broker.bootstrapServers(), folder, MATRIX);
    }

    @AfterAll
    static void stopBroker() {
        System.out.println(MATRIX.table());
        broker.close();
    }

    @TestFactory
    Stream<DynamicTest> killedInMidWindow() {
        return inAll(PAIRWISE, scenarios::midWindow);
    }

    @TestFactory
    Stream<DynamicTest> killedBetweenTiles() {
        return inAll(PAIRWISE, scenarios::betweenTiles);
    }

    @TestFactory
    Stream<DynamicTest> killedWhileRestoring() {
        return inAll(PAIRWISE, scenarios::whileRestoring);
    }

    @TestFactory
    Stream<DynamicTest> killedWhileRebalancing() {
        return inAll(PAIRWISE, scenarios::whileRebalancing);
    }

    @TestFactory
    Stream<DynamicTest> killedWhilePanesAreWritten() {
        return inAll(
                List.of(
                        MonitorSetup.of("memory", "wiped", 2, "classic"),
                        MonitorSetup.of("rocksdb", "kept", 1, "streams")),
                scenarios::whileCommitting);
    }

    @TestFactory
    Stream<DynamicTest> killedWhileWindowsLeave() {
        return inAll(
                List.of(
                        MonitorSetup.of("memory", "wiped", 2, "streams"),
                        MonitorSetup.of("rocksdb", "kept", 1, "classic")),
                scenarios::whileEmitting);
    }

    @TestFactory
    Stream<DynamicTest> instancesJoiningAndLeaving() {
        return inAll(
                List.of(
                        MonitorSetup.of("memory", "wiped", 1, "classic"),
                        MonitorSetup.of("rocksdb", "kept", 2, "classic"),
                        MonitorSetup.of("memory", "kept", 2, "streams"),
                        MonitorSetup.of("rocksdb", "wiped", 1, "streams")),
                scenarios::joiningAndLeaving);
    }

    @TestFactory
    Stream<DynamicTest> standbysPromoted() {
        return inAll(
                List.of(
                        MonitorSetup.of("memory", "wiped", 2, "classic"),
                        MonitorSetup.of("rocksdb", "kept", 1, "classic"),
                        MonitorSetup.of("memory", "kept", 1, "streams"),
                        MonitorSetup.of("rocksdb", "wiped", 2, "streams")),
                scenarios::standbyPromoted);
    }

    @TestFactory
    Stream<DynamicTest> threadsGivenUp() {
        return inAll(
                List.of(
                        MonitorSetup.of("memory", "kept", 2, "classic"),
                        MonitorSetup.of("rocksdb", "kept", 2, "classic")),
                scenarios::threadGivenUp);
    }

    @TestFactory
    Stream<DynamicTest> processesPaused() {
        return inAll(
                List.of(
                        MonitorSetup.of("memory", "kept", 2, "classic"),
                        MonitorSetup.of("rocksdb", "kept", 1, "streams")),
                scenarios::processPaused);
    }

    @TestFactory
    Stream<DynamicTest> threadsReplaced() {
        return inAll(
                List.of(
                        MonitorSetup.of("memory", "kept", 2, "classic"),
                        MonitorSetup.of("rocksdb", "kept", 1, "streams")),
                scenarios::threadReplaced);
    }

    @TestFactory
    Stream<DynamicTest> threadsReplacedWhileWindowsLeave() {
        return inAll(
                List.of(
                        MonitorSetup.of("memory", "kept", 1, "streams"),
                        MonitorSetup.of("rocksdb", "kept", 2, "classic")),
                scenarios::threadReplacedWhileWindowsLeave);
    }

    private interface Scenario {
        void run(MonitorSetup setup) throws Exception;
    }

    private static Stream<DynamicTest> inAll(List<MonitorSetup> setups, Scenario scenario) {
        return setups.stream().map(setup -> DynamicTest.dynamicTest(setup.toString(), () -> scenario.run(setup)));
    }
}
