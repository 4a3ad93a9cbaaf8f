package io.plumbline.topology.detection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.plumbline.detection.DetectionBench;
import io.plumbline.detection.DetectionTable;
import io.plumbline.detection.Scores;
import io.plumbline.records.ActivationBatch;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Prints the recorded table of docs/data. Needs the whole recordings, {@code en_baseline}, {@code en},
 * {@code de} and {@code code}, in the folder that the system property {@value #FOLDER} names; the demonstration holds
 * parts of two of them.
 */
class RecordedDetectionSoak {

    static final String FOLDER = "plumbline.recordings";

    private static final int RANK = 32;
    private static final double RATE = 0.05;
    private static final int WINDOWS = 60;
    private static final int RUNS = 8;
    private static final int STEPS = 11;
    private static final int[] PERCENT = {100, 50, 25, 10, 5};
    private static final List<Integer> SIZES = List.of(
            256, 280, 300, 330, 360, 400, 450, 512, 600, 700, 850, 1_024, 1_300, 1_700, 2_048, 2_600, 3_300, 4_096,
            5_000, 6_000, 8_192, 9_800);
    private static final List<String> OTHERS = List.of("de", "code");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(ints = {512, 2_048})
    void theDefaultSeesPartialDriftThatTheGapMissesAndNoValidBoundIsBroken(int windowRows) throws IOException {
        String recordings = System.getProperty(FOLDER);
        assumeTrue(recordings != null, "no folder of recordings was named with -D" + FOLDER);
        DetectionBench bench =
                new DetectionBench(Recordings.explainer(folder), RANK, windowRows, read(recordings, "en_baseline"));
        List<ActivationBatch> english = read(recordings, "en");
        DetectionTable table = new DetectionTable(
                bench.clean(), RATE, bench.mixed(english, List.of(), at -> 0.0, WINDOWS, 1), System.out::println);
        for (int percent : PERCENT) {
            for (String other : OTHERS) {
                Scores mixed =
                        bench.mixed(english, read(recordings, other), at -> percent / 100.0, WINDOWS, 100 + percent);
                table.shift("%d %% of requests %s".formatted(percent, other), mixed);
                double byDefault = Scores.shareAbove(mixed.of("default"), 0.5);
                double byTheGap = Scores.shareAbove(mixed.of("gap alone"), 0.5);
                assertTrue(
                        byDefault > byTheGap || byDefault == 1.0,
                        "%d %% of requests %s: %.2f by default, %.2f by the gap"
                                .formatted(percent, other, byDefault, byTheGap));
            }
        }
        for (String other : OTHERS) {
            List<Scores> runs = new ArrayList<>();
            for (int run = 0; run < RUNS; run++) {
                runs.add(bench.mixed(english, read(recordings, other), at -> at / 2, STEPS, 1_000 + run));
            }
            table.ramp("0 to 50 %% %s in %d windows".formatted(other, STEPS), runs);
        }
        System.out.println(bench.bounds());
        assertEquals(0, bench.bounds().violations(), () -> bench.bounds().toString());
    }

    @Test
    void noWindowOfOtherTrafficIsCalledAlignedOrUndecidedWhateverItsRows() throws IOException {
        String recordings = System.getProperty(FOLDER);
        assumeTrue(recordings != null, "no folder of recordings was named with -D" + FOLDER);
        WindowSizes sizes = new WindowSizes(Recordings.explainer(folder), RANK, read(recordings, "en_baseline"), 12);
        for (String traffic : List.of("en", "de", "code")) {
            Map<WindowSizes.Verdict, Integer> counts = sizes.count(read(recordings, traffic), SIZES);
            System.out.println(traffic + ", windows of " + SIZES + " rows: " + counts);
            assertTrue(
                    traffic.equals("en") || counts.keySet().equals(Set.of(WindowSizes.Verdict.DRIFTED)),
                    counts::toString);
        }
    }

    private static List<ActivationBatch> read(String folder, String name) throws IOException {
        return Recordings.requests(Path.of(folder, "activations", name + ".safetensors"));
    }
}
