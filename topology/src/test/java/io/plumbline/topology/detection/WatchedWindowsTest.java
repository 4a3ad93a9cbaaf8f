package io.plumbline.topology.detection;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.baseline.Baseline;
import io.plumbline.records.ActivationBatch;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the demonstration's recordings in their natural order; {@link WatchedWindowsSoak} is the long form. */
class WatchedWindowsTest {

    @TempDir
    private Path folder;

    @Test
    void naturalWindowsHurtAtMostAtTheRateAndGermanOnesDo() throws IOException {
        Baseline baseline = Baseline.read(Recordings.unpack(folder, "baseline.safetensors"));
        WatchedWindows watched = new WatchedWindows(Recordings.explainer(folder), baseline.rows());
        List<ActivationBatch> english = Recordings.requests(Recordings.unpack(folder, "english.safetensors"));
        WatchedWindows.Count clean = watched.count(english, 1_024, 2, 0.1);
        assertTrue(clean.share() <= 0.1, clean.toString());
        WatchedWindows.Count strict = watched.count(english, 1_024, 2, 0.01);
        assertTrue(strict.share() <= 0.01, strict.toString());
        List<ActivationBatch> german = Recordings.requests(Recordings.unpack(folder, "german.safetensors"));
        WatchedWindows.Count foreign = watched.count(german, 1_024, 5, 0.01);
        assertTrue(foreign.share() > 0.5, foreign.toString());
    }
}
