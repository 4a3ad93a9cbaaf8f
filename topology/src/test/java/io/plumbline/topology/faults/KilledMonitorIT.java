package io.plumbline.topology.faults;

import io.plumbline.fixtures.EmbeddedBroker;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests exactly-once windows, the short form: child JVMs that run the monitor's own topology are killed with SIGKILL
 * where it hurts, against a real broker. Rows are integers, so that the float64 moments are exact in any order, and
 * every window is compared by its rows and a hash of every bit of its moment. {@link MonitorFaultsSoak} is the whole
 * matrix.
 *
 * <p>Seen to fail without the hook: with the panes written in {@code StateStore.commit} instead, the obvious place,
 * only 19, 16 and 16 of 24 windows of three cases ever appeared; the rows of the others were lost with their offsets
 * committed. The topology test driver cannot see that: it neither crashes nor restores.
 */
class KilledMonitorIT {

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

    @Test
    void everyRowIsCountedOnceWhenItIsKilledInMidWindow() throws Exception {
        scenarios.midWindow(MonitorSetup.of("memory", "wiped", 1, "classic"));
    }

    @Test
    void aPaneOfWhichOneTileWasSentIsSentWhole() throws Exception {
        scenarios.betweenTiles(MonitorSetup.of("rocksdb", "kept", 2, "streams"));
    }

    @Test
    void aStandbyTakesOverWithLittleToRead() throws Exception {
        scenarios.standbyPromoted(MonitorSetup.of("memory", "wiped", 2, "classic"));
    }
}
