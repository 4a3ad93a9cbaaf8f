package io.plumbline.topology.wire;

import static io.plumbline.topology.wire.WireFault.Act.CUT;
import static io.plumbline.topology.wire.WireFault.Act.CUT_ANSWER;
import static io.plumbline.topology.wire.WireFault.Act.DENY;
import static io.plumbline.topology.wire.WireFault.Act.LOSE_ANSWER;
import static io.plumbline.topology.wire.WireFault.Act.REFUSE;

import io.plumbline.topology.faults.FaultBroker;
import io.plumbline.topology.faults.FaultMatrix;
import io.plumbline.topology.faults.MonitorSetup;
import io.plumbline.topology.wire.WireFault.Act;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.clients.admin.UpdateFeaturesOptions;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests every kind of request a transaction is made of, under every error its answer can carry; see
 * {@code docs/operate/faults.md}.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class WireFaultsSoak {

    private static final MonitorSetup CLASSIC = MonitorSetup.of("memory", "kept", 2, "classic");
    private static final MonitorSetup ROCKS = MonitorSetup.of("rocksdb", "kept", 1, "streams");

    /**
     * The number of errors after which one commit is given up and the next one is not: a client asks again every 100
     * ms, and waits for 3 s.
     */
    private static final int LONGER_THAN_ONE_WAIT = 40;

    /** The number of errors after which the commit that follows is given up too. */
    private static final int LONGER_THAN_TWO_WAITS = 80;

    private static final List<Errors> WAIT =
            List.of(Errors.COORDINATOR_LOAD_IN_PROGRESS, Errors.COORDINATOR_NOT_AVAILABLE, Errors.NOT_COORDINATOR);
    private static final List<Errors> FENCED = List.of(
            Errors.INVALID_PRODUCER_EPOCH,
            Errors.PRODUCER_FENCED,
            Errors.INVALID_PRODUCER_ID_MAPPING,
            Errors.INVALID_TXN_STATE,
            Errors.TRANSACTION_ABORTABLE);

    @TempDir
    private static Path folder;

    private static WireProxy.Pair pair;
    private static WireCases cases;
    private static final FaultMatrix MATRIX = new FaultMatrix();

    @BeforeAll
    static void startBroker() throws Exception {
        pair = WireProxy.start(folder.resolve("broker"), FaultBroker.settings());
        cases = new WireCases(pair, folder, MATRIX);
    }

    @AfterAll
    static void stopBroker() {
        System.out.println(MATRIX.table());
        pair.close();
    }

    @Test
    @Order(1)
    void commitsAnsweredWithErrors() throws Exception {
        both("EndTxn", ApiKeys.END_TXN, List.of(Errors.CONCURRENT_TRANSACTIONS), FENCED);
    }

    @Test
    @Order(1)
    void offsetsAnsweredWithErrors() throws Exception {
        both(
                "TxnOffsetCommit",
                ApiKeys.TXN_OFFSET_COMMIT,
                List.of(Errors.UNKNOWN_TOPIC_OR_PARTITION),
                List.of(
                        Errors.INVALID_PRODUCER_EPOCH,
                        Errors.ILLEGAL_GENERATION,
                        Errors.UNKNOWN_MEMBER_ID,
                        Errors.TRANSACTION_ABORTABLE));
    }

    @Test
    @Order(1)
    void writesAnsweredWithErrors() throws Exception {
        List<WireFault> faults = new ArrayList<>();
        for (Errors error : List.of(
                Errors.NOT_ENOUGH_REPLICAS,
                Errors.NOT_LEADER_OR_FOLLOWER,
                Errors.CONCURRENT_TRANSACTIONS,
                Errors.INVALID_PRODUCER_EPOCH,
                Errors.INVALID_PRODUCER_ID_MAPPING,
                Errors.INVALID_TXN_STATE,
                Errors.OUT_OF_ORDER_SEQUENCE_NUMBER,
                Errors.UNKNOWN_PRODUCER_ID,
                Errors.TRANSACTION_ABORTABLE)) {
            faults.add(WireFault.of(ApiKeys.PRODUCE, REFUSE, error, 1, 1));
            faults.add(WireFault.of(ApiKeys.PRODUCE, DENY, error, 1, 1));
        }
        faults.addAll(cuts(ApiKeys.PRODUCE));
        inBoth("Produce", faults);
    }

    /**
     * Tests commits and writes that take longer than the client waits: Kafka Streams calls the tasks of the thread
     * corrupted.
     */
    @Test
    @Order(1)
    void tasksCalledCorrupted() throws Exception {
        List<WireFault> faults = new ArrayList<>();
        for (Act act : List.of(REFUSE, DENY)) {
            for (int times : new int[] {LONGER_THAN_ONE_WAIT, LONGER_THAN_TWO_WAITS}) {
                faults.add(late(ApiKeys.END_TXN, act, Errors.COORDINATOR_LOAD_IN_PROGRESS, times));
                faults.add(late(ApiKeys.END_TXN, act, Errors.CONCURRENT_TRANSACTIONS, times));
                faults.add(late(ApiKeys.TXN_OFFSET_COMMIT, act, Errors.COORDINATOR_LOAD_IN_PROGRESS, times));
            }
            faults.add(late(ApiKeys.PRODUCE, act, Errors.NOT_ENOUGH_REPLICAS, LONGER_THAN_ONE_WAIT));
        }
        inBoth("tasks called corrupted", faults);
    }

    /** Tests a version of transactions in which partitions and groups are added one by one. */
    @Test
    @Order(2)
    void partitionsAndOffsetsAddedWithErrors() throws Exception {
        try (Admin admin =
                Admin.create(Map.of("bootstrap.servers", pair.broker().bootstrapServers()))) {
            admin.updateFeatures(
                            Map.of(
                                    "transaction.version",
                                    new FeatureUpdate((short) 1, FeatureUpdate.UpgradeType.SAFE_DOWNGRADE)),
                            new UpdateFeaturesOptions())
                    .all()
                    .get();
        }
        both(
                "AddPartitionsToTxn",
                ApiKeys.ADD_PARTITIONS_TO_TXN,
                List.of(Errors.CONCURRENT_TRANSACTIONS, Errors.UNKNOWN_TOPIC_OR_PARTITION),
                FENCED.subList(0, 4));
        both(
                "AddOffsetsToTxn",
                ApiKeys.ADD_OFFSETS_TO_TXN,
                List.of(Errors.CONCURRENT_TRANSACTIONS),
                FENCED.subList(0, 4));
        both("EndTxn, old", ApiKeys.END_TXN, List.of(Errors.CONCURRENT_TRANSACTIONS), FENCED.subList(0, 4));
    }

    private static WireFault late(ApiKeys api, Act act, Errors error, int times) {
        return WireFault.of(api, act, error, 1, times);
    }

    private static void both(String name, ApiKeys api, List<Errors> more, List<Errors> ends) throws Exception {
        List<WireFault> faults = new ArrayList<>();
        for (Act act : List.of(REFUSE, DENY)) {
            WAIT.forEach(error -> faults.add(WireFault.of(api, act, error, 0, 2)));
            more.forEach(error -> faults.add(WireFault.of(api, act, error, 0, 2)));
            ends.forEach(error -> faults.add(WireFault.of(api, act, error, 0, 1)));
        }
        faults.addAll(cuts(api));
        inBoth(name, faults);
    }

    private static List<WireFault> cuts(ApiKeys api) {
        return List.of(
                WireFault.of(api, CUT, Errors.NONE, 0, 1),
                WireFault.of(api, LOSE_ANSWER, Errors.NONE, 0, 2),
                WireFault.of(api, CUT_ANSWER, Errors.NONE, 0, 1));
    }

    private static void inBoth(String name, List<WireFault> faults) throws Exception {
        for (MonitorSetup setup : List.of(CLASSIC, ROCKS)) {
            cases.run(name, WireCases.impatient(setup), fresh(faults));
        }
    }

    /** Returns fresh faults, since one counts what it met. */
    private static List<WireFault> fresh(List<WireFault> faults) {
        return faults.stream()
                .map(fault -> WireFault.of(fault.api(), fault.act(), fault.error(), fault.after(), fault.times()))
                .toList();
    }
}
