package io.plumbline.topology.detection;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.baseline.Baseline;
import io.plumbline.features.AttributionBench;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Lists failing features of the demonstration's autoencoder on its German: 27 requests listed from, 26 later ones to
 * check on.
 */
class RecordedAttributionTest {

    @TempDir
    private Path folder;

    @Test
    void theListedFeaturesAreThoseThatFailOnLaterRows() throws IOException {
        AttributionBench bench = new AttributionBench(
                Recordings.explainer(folder),
                Baseline.read(Recordings.unpack(folder, "baseline.safetensors")).rows(),
                Recordings.requests(Recordings.unpack(folder, "german.safetensors")));
        String line = bench.line();
        assertTrue(bench.systematicResidual() >= 0.8, line);
        assertTrue(bench.usefulness() >= 0.8, line);
        assertTrue(bench.refitOfListed() <= bench.refitOfMostActive(), line);
    }
}
