package io.plumbline.topology.outages;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.adaptation.DecoderKind;
import io.plumbline.topology.faults.ChildJvm;
import io.plumbline.topology.faults.FaultBroker;
import io.plumbline.topology.runtime.Role;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The adapter dies by SIGKILL while it carries out an approval, and a subscriber looks on. The class stands beside
 * {@link KilledAdapterIT} so that both run at once.
 */
class KilledApprovalIT {

    private static final long END = 1_700_000_010_000L;

    /** The records of a decoder of this site: its chunks, the manifest and one of state. */
    private static final int RECORDS = 33;

    @TempDir
    private Path folder;

    /** Tests an adapter that dies when half of the approved decoder is written. */
    @Test
    void anApprovalIsCarriedOutOnceThoughTheAdapterDiesInIt() throws Exception {
        try (EmbeddedBroker broker = FaultBroker.start(folder.resolve("broker"));
                AdapterCase run = new AdapterCase(folder.resolve("case"), broker.bootstrapServers(), true, "propose")) {
            run.client().createTopic("adaptation-reports", 1, Map.of());
            ChildJvm adapter = run.startToBeKilledAt(Role.ADAPTER, "send-decoders", RECORDS + RECORDS / 2);
            run.client().send(AdaptationRequests.adapt(WideSite.SITE, END, WideSite.RECORDS, WideSite::drifted));
            run.awaitReports(1);
            assertEquals(RECORDS, run.committed(), "the candidate, and that it waits");
            run.client().send(AdaptationRequests.approve(WideSite.SITE, 1));
            run.awaitKilled(adapter);
            assertEquals(RECORDS, run.committed());
            assertEquals(List.of(), run.followed());

            run.start(Role.ADAPTER);
            run.awaitReports(2);
            run.client().send(AdaptationRequests.revert(WideSite.SITE, END + 1));
            run.awaitReports(3);
            BrokerClient.awaitThat(() -> run.followed().size() >= 2, () -> "followed " + run.followed());
            assertEquals(
                    List.of(DecoderKind.ADAPTED, DecoderKind.TRAINED),
                    run.followed().stream()
                            .map(decoder -> decoder.manifest().kind())
                            .toList());
            assertEquals("1", run.followed().get(0).manifest().lineage().get("approved_candidate"));
            assertEquals(3 * RECORDS, run.committed(), "candidate, version 1, version 2");
        }
    }
}
