package io.plumbline.topology.detection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.detection.DetectionBench;
import io.plumbline.detection.DetectionTable;
import io.plumbline.detection.Scores;
import io.plumbline.records.ActivationBatch;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the demonstration's recordings in windows of 512 rows; {@link RecordedDetectionSoak} is the long form. */
class RecordedDetectionTest {

    private static final int RANK = 32;
    private static final int WINDOW_ROWS = 512;
    private static final int WINDOWS = 10;

    @TempDir
    private Path folder;

    @Test
    void germanIsSeenByEveryStatisticAndAQuarterOfItByTheRequestsBeforeTheGap() throws IOException {
        List<ActivationBatch> english = Recordings.requests(Recordings.unpack(folder, "english.safetensors"));
        List<ActivationBatch> german = Recordings.requests(Recordings.unpack(folder, "german.safetensors"));
        int half = english.size() / 2;
        DetectionBench bench =
                new DetectionBench(Recordings.explainer(folder), RANK, WINDOW_ROWS, english.subList(0, half));
        List<ActivationBatch> later = english.subList(half, english.size());
        DetectionTable table =
                new DetectionTable(bench.clean(), 0.1, bench.mixed(later, german, at -> 0.0, WINDOWS, 1), line -> {});
        Scores full = bench.mixed(later, german, at -> 1.0, WINDOWS, 2);
        for (String statistic : DetectionBench.STATISTICS) {
            assertTrue(table.auc(statistic, full) > 0.95, () -> statistic + " " + table.auc(statistic, full));
        }
        Scores quarter = bench.mixed(later, german, at -> 0.25, WINDOWS, 3);
        double gap = table.auc("faithfulness_gap", quarter);
        for (String statistic : List.of("whitened_mean_shift", "request_shift", "request_fvu")) {
            double auc = table.auc(statistic, quarter);
            assertTrue(auc > gap, "a quarter German: %s %.3f, gap %.3f".formatted(statistic, auc, gap));
        }
        assertEquals(3 * WINDOWS, bench.bounds().windows());
        assertEquals(0, bench.bounds().violations(), () -> bench.bounds().toString());
    }

    @Test
    void noWindowOfGermanIsCalledAlignedOrUndecidedWhateverItsRows() throws IOException {
        List<ActivationBatch> english = Recordings.requests(Recordings.unpack(folder, "english.safetensors"));
        List<ActivationBatch> german = Recordings.requests(Recordings.unpack(folder, "german.safetensors"));
        WindowSizes sizes = new WindowSizes(Recordings.explainer(folder), RANK, english, 4);
        Map<WindowSizes.Verdict, Integer> counts =
                sizes.count(german, List.of(256, 300, 500, 700, 1_100, 2_048, 3_000));
        assertEquals(Set.of(WindowSizes.Verdict.DRIFTED), counts.keySet(), counts::toString);
    }
}
