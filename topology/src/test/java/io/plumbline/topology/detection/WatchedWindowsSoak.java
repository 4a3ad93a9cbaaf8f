package io.plumbline.topology.detection;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.plumbline.records.ActivationBatch;
import io.plumbline.requests.RequestSample;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Prints how often windows of the whole recordings hurt what is watched, in the folder that the system property
 * {@value RecordedDetectionSoak#FOLDER} names. One minute.
 */
class WatchedWindowsSoak {

    @TempDir
    private Path folder;

    @Test
    void naturalWindowsHurtAtMostAtTheRateOfATenth() throws IOException {
        String recordings = System.getProperty(RecordedDetectionSoak.FOLDER);
        assumeTrue(recordings != null, "no folder of recordings was named with -D" + RecordedDetectionSoak.FOLDER);
        Path activations = Path.of(recordings).resolve("activations");
        RequestSample clean = RequestSample.ofCapacity(4_096);
        Recordings.requests(activations.resolve("en_baseline.safetensors")).forEach(clean::add);
        WatchedWindows watched = new WatchedWindows(Recordings.explainer(folder), clean.rows());
        for (String language : List.of("en", "de")) {
            List<ActivationBatch> requests = Recordings.requests(activations.resolve(language + ".safetensors"));
            for (int rows : new int[] {512, 2_048, 4_096}) {
                for (int each : new int[] {1, 5}) {
                    WatchedWindows.Count tenth = watched.count(requests, rows, each, 0.1);
                    System.out.printf(
                            "%s, %d rows, %d features: at .1 %s, at .01 %s%n",
                            language, rows, each, tenth, watched.count(requests, rows, each, 0.01));
                    assertTrue(!language.equals("en") || tenth.share() <= 0.1, tenth.toString());
                }
            }
        }
    }
}
