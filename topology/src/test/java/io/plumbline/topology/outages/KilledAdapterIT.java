package io.plumbline.topology.outages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.faults.ChildJvm;
import io.plumbline.topology.faults.FaultBroker;
import io.plumbline.topology.runtime.Role;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests an adapter that dies by SIGKILL, in the middle of a refit and with half of a decoder on its topic; a subscriber
 * looks on. One answer each; {@link OutagesSoak} has every point with state kept and wiped.
 */
class KilledAdapterIT {

    private static final long END = 1_700_000_010_000L;

    @TempDir
    private Path folder;

    @Test
    void everyRequestIsAnsweredOnceAndNoTornDecoderIsSeen() throws Exception {
        try (EmbeddedBroker broker = FaultBroker.start(folder.resolve("broker"));
                AdapterCase run = new AdapterCase(folder.resolve("case"), broker.bootstrapServers(), true)) {
            ChildJvm adapter = run.startToBeKilledAt(Role.ADAPTER, "send-decoders", 20);
            run.client().send(AdaptationRequests.adapt(WideSite.SITE, END, WideSite.RECORDS, WideSite::drifted));
            run.awaitKilled(adapter);
            assertTrue(run.written() > 0, "it died before a chunk was written");
            assertEquals(0, run.committed());

            // A process encodes two parts of the baseline once, and each refit's rows once: it dies in the second.
            adapter = run.startToBeKilledAt(Role.ADAPTER, "refit", 4);
            run.awaitReports(1);
            run.client().send(AdaptationRequests.revert(WideSite.SITE, END + 1));
            run.client().send(AdaptationRequests.adapt(WideSite.SITE, END + 2, WideSite.RECORDS, WideSite::drifted));
            run.awaitKilled(adapter);

            run.client().send(AdaptationRequests.revert(WideSite.SITE, END + 3));
            run.start(Role.ADAPTER);
            AdapterCase.Result result = run.finish();
            assertEquals(4, result.requests());
            assertEquals(4, result.published());
        }
    }
}
