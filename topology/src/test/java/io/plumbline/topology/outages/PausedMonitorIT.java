package io.plumbline.topology.outages;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.faults.ChildJvm;
import io.plumbline.topology.faults.FaultBroker;
import io.plumbline.topology.faults.FaultCase;
import io.plumbline.topology.faults.FaultMatrix;
import io.plumbline.topology.faults.MonitorSetup;
import io.plumbline.topology.faults.Traffic;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests a monitor that stands still in the middle of a transaction, for longer than the broker keeps it open, and goes
 * on where it stopped while another has taken its place: the zombie must be fenced.
 */
class PausedMonitorIT {

    @TempDir
    private Path folder;

    private static long rebalances(List<String> events) {
        return events.stream().filter("state REBALANCING"::equals).count();
    }

    @Test
    void aMonitorThatWakesUpAfterItsTransactionTimedOutCountsNothingTwice() throws Exception {
        FaultMatrix matrix = new FaultMatrix();
        // Commits are so far apart that it is paused with rows that it has not committed.
        MonitorSetup setup = MonitorSetup.of("memory", "kept", 1, "classic").with("commit.interval.ms", "3000");
        try (EmbeddedBroker broker = FaultBroker.start(folder.resolve("broker"));
                FaultCase run = FaultCase.open(
                        "paused beyond its transaction timeout, another takes over",
                        Traffic.Shape.small(),
                        setup,
                        broker.bootstrapServers(),
                        folder.resolve("paused"))) {
            ChildJvm first = run.start(0);
            run.traffic().send(2);
            run.awaitWindows(run.traffic().shape().sites());
            Transactions transactions = new Transactions(broker.bootstrapServers());
            transactions.openWith(run.traffic());
            first.pause();
            transactions.awaitNoneOpen();

            ChildJvm second = run.start(1);
            second.await("all tasks", events -> events.contains("tasks active [0_0, 0_1, 1_0, 1_1] standby []"));
            run.traffic().send(2);
            run.awaitWindows(
                    (run.traffic().windowsSent() - 1) * run.traffic().shape().sites());
            long before = rebalances(first.events());
            first.resume();
            first.await("a monitor that was fenced and joins again", events -> rebalances(events) > before);
            run.traffic().send(2);
            matrix.add(run.finish());
        } finally {
            System.out.println(matrix.table());
        }
    }
}
