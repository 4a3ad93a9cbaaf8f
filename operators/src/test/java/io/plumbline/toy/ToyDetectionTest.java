package io.plumbline.toy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.detection.DetectionBench;
import io.plumbline.detection.Scores;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * What docs/concepts/detection.md says of the toy stream, where it is plain with few windows; {@link ToyDetectionSoak}
 * is the long form.
 */
class ToyDetectionTest {

    private static final Set<String> OF_MEANS = Set.of("whitened_mean_shift", "request_shift", "worst_request");

    @Test
    void theFullShiftIsSeenByAllButTheMeanAndAQuarterOfItByTheResidualEnergyBeforeTheGap() {
        ToyDetection toy = new ToyDetection(39, 25, line -> {});
        Scores full = toy.wholly(ToyDetection.WORST);
        for (String statistic : DetectionBench.STATISTICS) {
            double auc = toy.table().auc(statistic, full);
            // The toy's inputs are centred at every severity: means hardly move, of windows or of requests.
            assertEquals(!OF_MEANS.contains(statistic), auc > 0.98, () -> statistic + " " + auc);
        }
        Scores part = toy.partly(0.25);
        double residual = toy.table().auc("residual_energy", part);
        double gap = toy.table().auc("faithfulness_gap", part);
        assertTrue(residual > gap, "25 %% shifted: residual energy %.3f, gap %.3f".formatted(residual, gap));
        assertEquals(75, toy.bench().bounds().windows(), "usual, wholly and partly shifted");
        assertEquals(
                0, toy.bench().bounds().violations(), () -> toy.bench().bounds().toString());
    }
}
