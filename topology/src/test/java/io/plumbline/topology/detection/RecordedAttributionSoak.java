package io.plumbline.topology.detection;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.plumbline.baseline.Baseline;
import io.plumbline.features.AttributionBench;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lists failing features of the whole recordings, in the folder that {@value RecordedDetectionSoak#FOLDER} names. */
class RecordedAttributionSoak {

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"de", "code"})
    void theListedFeaturesAreThoseThatFailOnLaterRows(String name) throws IOException {
        String recordings = System.getProperty(RecordedDetectionSoak.FOLDER);
        assumeTrue(recordings != null, "no folder of recordings was named with -D" + RecordedDetectionSoak.FOLDER);
        AttributionBench bench = new AttributionBench(
                Recordings.explainer(folder),
                Baseline.read(Recordings.unpack(folder, "baseline.safetensors")).rows(),
                Recordings.requests(Path.of(recordings, "activations", name + ".safetensors")));
        String line = "| " + name + " | " + bench.line() + " |";
        System.out.println(line);
        assertTrue(bench.systematicResidual() >= 0.8, line);
        assertTrue(bench.usefulness() >= 0.8, line);
        assertTrue(bench.refitOfListed() <= bench.refitOfMostActive(), line);
    }
}
