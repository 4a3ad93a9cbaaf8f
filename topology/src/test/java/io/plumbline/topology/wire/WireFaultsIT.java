package io.plumbline.topology.wire;

import static io.plumbline.topology.wire.WireFault.Act.CUT_ANSWER;
import static io.plumbline.topology.wire.WireFault.Act.DENY;
import static io.plumbline.topology.wire.WireFault.Act.LOSE_ANSWER;
import static io.plumbline.topology.wire.WireFault.Act.REFUSE;

import io.plumbline.topology.faults.FaultBroker;
import io.plumbline.topology.faults.FaultMatrix;
import io.plumbline.topology.faults.MonitorSetup;
import java.nio.file.Path;
import java.util.List;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that windows stay exactly-once while answers of the broker are lost, cut off or errors: the monitor's own
 * topology in a child JVM behind a proxy, the rows integers, every committed window compared bit by bit.
 * {@link WireFaultsSoak} is the whole matrix.
 */
class WireFaultsIT {

    @TempDir
    private Path folder;

    @Test
    void noWindowIsLostDoubledOrWrongWhateverTheCoordinatorAnswers() throws Exception {
        run(
                "faults on the wire",
                List.of(
                        WireFault.of(ApiKeys.END_TXN, LOSE_ANSWER, Errors.NONE, 0, 1),
                        WireFault.of(ApiKeys.PRODUCE, CUT_ANSWER, Errors.NONE, 1, 1),
                        WireFault.of(ApiKeys.END_TXN, REFUSE, Errors.CONCURRENT_TRANSACTIONS, 0, 3),
                        WireFault.of(ApiKeys.TXN_OFFSET_COMMIT, REFUSE, Errors.COORDINATOR_NOT_AVAILABLE, 0, 2),
                        WireFault.of(ApiKeys.END_TXN, DENY, Errors.INVALID_PRODUCER_EPOCH, 0, 1),
                        WireFault.of(ApiKeys.PRODUCE, REFUSE, Errors.OUT_OF_ORDER_SEQUENCE_NUMBER, 1, 1)));
    }

    /**
     * Kafka Streams alone calls the tasks corrupted then, makes them anew in their thread, and sometimes twice, where
     * fetched records are forgotten: 4 of 24 windows lacked rows.
     */
    @Test
    void aCommitThatTimesOutLosesNoRow() throws Exception {
        run(
                "commits that time out",
                List.of(tooLong(Errors.COORDINATOR_LOAD_IN_PROGRESS), tooLong(Errors.CONCURRENT_TRANSACTIONS)));
    }

    /** Returns a fault that is longer than the client waits, which asks again every 100 ms and waits for 3 s. */
    private static WireFault tooLong(Errors error) {
        return WireFault.of(ApiKeys.END_TXN, REFUSE, error, 1, 40);
    }

    private void run(String name, List<WireFault> faults) throws Exception {
        FaultMatrix matrix = new FaultMatrix();
        try (WireProxy.Pair pair = WireProxy.start(folder.resolve("broker"), FaultBroker.settings())) {
            new WireCases(pair, folder, matrix)
                    .run(name, WireCases.impatient(MonitorSetup.of("memory", "kept", 1, "classic")), faults);
        }
        System.out.println(matrix.table());
    }
}
