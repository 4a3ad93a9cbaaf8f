package io.plumbline.topology.adaptation;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the real autoencoder on German, from the demonstration's recordings; with {@code -Dplumbline.recordings=FOLDER}
 * also on code, and the real transcoder. Prints the rows of the table in docs/concepts/adaptation.md.
 */
class AdaptationHarmSoak {

    @TempDir
    private Path folder;

    @Test
    void theDefaultProfileDoesNoHarmOnRecordedTraffic() throws IOException {
        for (HarmCase shift : cases()) {
            AdaptationHarmTest.assertNoHarm(shift);
            AdaptationHarmTest.assertKept(shift);
        }
    }

    @Test
    void threeTimesTheRowsRepairMoreAndForgetLess() throws IOException {
        String recordings = System.getProperty("plumbline.recordings");
        assumeTrue(recordings != null, "needs -Dplumbline.recordings");
        HarmCase.Figures pooled = HarmCases.pooled(Path.of(recordings)).measure();
        HarmCase.Figures window = HarmCases.recorded(Path.of(recordings)).get(0).measure();
        System.out.println(pooled.row("autoencoder, German, 6,000 rows"));
        assertTrue(pooled.auto().later() < window.auto().later() - 0.01, pooled + " " + window);
        assertTrue(pooled.auto().clean() < 0.215, pooled.toString());
    }

    private List<HarmCase> cases() throws IOException {
        List<HarmCase> cases = new ArrayList<>();
        String recordings = System.getProperty("plumbline.recordings");
        if (recordings == null) {
            cases.add(HarmCases.german(folder));
        } else {
            cases.addAll(HarmCases.recorded(Path.of(recordings)));
        }
        return cases;
    }
}
