package io.plumbline.topology.outages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.faults.ChildJvm;
import io.plumbline.topology.faults.FaultBroker;
import io.plumbline.topology.runtime.Role;
import io.plumbline.topology.wire.WireFault;
import io.plumbline.topology.wire.WireFault.Act;
import io.plumbline.topology.wire.WireProxy;
import java.nio.file.Path;
import java.util.List;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the adapter behind a proxy that keeps its commits from being decided in time, loses their answers or fences it.
 */
class AdapterOnTheWireIT {

    private static final long END = 1_700_000_010_000L;
    private static final long PATIENCE_SECONDS = 60;

    /** The number of answers that is longer than the client waits: it asks again every 100 ms and waits for 5 s. */
    private static final int LONGER_THAN_IT_WAITS = 60;

    @TempDir
    private Path folder;

    @Test
    void everyRequestIsAnsweredOnceWhateverTheCoordinatorAnswers() throws Exception {
        List<WireFault> faults = List.of(
                tooLong(ApiKeys.END_TXN, Act.REFUSE, Errors.COORDINATOR_LOAD_IN_PROGRESS),
                tooLong(ApiKeys.END_TXN, Act.DENY, Errors.CONCURRENT_TRANSACTIONS),
                tooLong(ApiKeys.TXN_OFFSET_COMMIT, Act.REFUSE, Errors.COORDINATOR_LOAD_IN_PROGRESS),
                WireFault.of(ApiKeys.END_TXN, Act.LOSE_ANSWER, Errors.NONE, 0, 1),
                WireFault.of(ApiKeys.END_TXN, Act.DENY, Errors.INVALID_PRODUCER_EPOCH, 0, 1),
                WireFault.of(ApiKeys.PRODUCE, Act.CUT_ANSWER, Errors.NONE, 5, 1));
        try (WireProxy.Pair pair = WireProxy.start(folder.resolve("broker"), FaultBroker.settings());
                AdapterCase run = new AdapterCase(
                        folder.resolve("case"),
                        pair.broker().bootstrapServers(),
                        false,
                        "auto",
                        pair.proxy().bootstrapServers(),
                        List.of("adapter.producer.max.block.ms: 5000", "adapter.producer.request.timeout.ms: 3000"))) {
            ChildJvm adapter = run.start(Role.ADAPTER);
            int requests = 0;
            for (WireFault fault : faults) {
                pair.proxy().arm(fault);
                long end = END + requests;
                run.client()
                        .send(
                                requests % 2 == 0
                                        ? AdaptationRequests.adapt(
                                                WideSite.SITE, end, WideSite.RECORDS, WideSite::drifted)
                                        : AdaptationRequests.revert(WideSite.SITE, end));
                assertTrue(fault.awaitDone(PATIENCE_SECONDS), () -> "%s did not come to pass: %s"
                        .formatted(fault, pair.proxy().requests()));
                run.awaitReports(++requests);
                assertTrue(adapter.isAlive(), () -> "the adapter ended after " + fault);
            }
            AdapterCase.Result result = run.finish();
            assertEquals(faults.size(), result.requests());
            assertEquals(faults.size(), result.published());
            System.out.println("adapter on the wire: " + result);
        }
    }

    private static WireFault tooLong(ApiKeys api, Act act, Errors error) {
        return WireFault.of(api, act, error, 0, LONGER_THAN_IT_WAITS);
    }
}
