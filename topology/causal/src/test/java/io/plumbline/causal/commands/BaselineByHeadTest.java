package io.plumbline.causal.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.baseline.NullSample;
import io.plumbline.causal.heads.LiveModel;
import io.plumbline.causal.heads.LivePart;
import io.plumbline.causal.heads.LiveRecordings;
import io.plumbline.explainer.Explainer;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.geometry.Statistic;
import io.plumbline.geometry.Value;
import io.plumbline.judgement.DriftPolicy;
import io.plumbline.judgement.Reading;
import io.plumbline.judgement.Threshold;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.ActivationFile;
import io.plumbline.topology.cli.Shell;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code plumbline baseline --head} on English requests of a live model. */
class BaselineByHeadTest {

    private static final LivePart PART = LivePart.autoencoder();
    private static final int REQUESTS = 40;
    private static final int WINDOW_ROWS = 256;

    @TempDir
    static Path folder;

    private static Path dump;
    private static Path file;
    private static JsonNode answer;

    @BeforeAll
    static void measure() throws Exception {
        Explainer explainer = PART.wholeExplainer();
        dump = folder.resolve("english.safetensors");
        file = folder.resolve("baseline.safetensors");
        try (LiveModel model = LivePart.model()) {
            LiveRecordings.write(model.requests("id_eval", REQUESTS, explainer), explainer, dump);
        }
        Shell shell = baseline(file, "--head", LivePart.head(), "--head-requests", 12, "--json");
        assertEquals(0, shell.exitCode(), shell.err());
        answer = new JsonMapper().readTree(shell.out());
    }

    private static Shell baseline(Path out, Object... more) {
        Object[] arguments = {
            "baseline",
            "--explainer",
            PART.wholeFolder(),
            "--activations",
            dump,
            "--rank",
            16,
            "--window-rows",
            WINDOW_ROWS,
            "--out",
            out
        };
        Object[] all = Arrays.copyOf(arguments, arguments.length + more.length);
        System.arraycopy(more, 0, all, arguments.length, more.length);
        return Shell.run(all);
    }

    private static NullSample sample() throws Exception {
        return Baseline.read(file).sample(16, WINDOW_ROWS).orElseThrow();
    }

    @Test
    void everyCleanWindowHasWhatTheModelDoesWithTheTrainedDecodersAccount() throws Exception {
        NullSample sample = sample();
        int windows = sample.values(DriftJudge.DEFAULT_TRIGGER).length;
        assertTrue(windows >= 9, "windows: " + windows);
        for (String statistic : List.of("kl", "delta_ce", "top1_agreement", "loss_recovered")) {
            assertEquals(windows, sample.values(statistic).length, statistic);
        }
        // The oracle has .0543 over 128 requests of this set.
        double mean = Arrays.stream(sample.values("kl")).average().orElseThrow();
        assertEquals(0.054, mean, 0.01);
        assertTrue(Arrays.stream(sample.values("kl")).distinct().count() > 5, "windows differ");
        assertTrue(answer.path("kl_min_median_max_rank_16_rows_" + WINDOW_ROWS).isArray(), answer::toString);
    }

    @Test
    void aThresholdOfKlIsTakenFromTheCleanWindowsLikeAnyOther() throws Exception {
        Baseline baseline = Baseline.read(file);
        Explainer explainer = PART.wholeExplainer();
        SiteGeometry geometry = SiteGeometry.of(explainer, baseline.moment(), baseline.reconstructionMoment(), 16);
        DriftJudge judge = new DriftJudge(
                baseline,
                List.of("kl"),
                new Threshold.QuantileOfCleanWindows(0.8),
                new Threshold.QuantileOfCleanWindows(0.8),
                DriftPolicy.immediate(),
                1);
        GapAssessment window = geometry.assess(baseline.moment());
        Reading clean =
                judge.readings(window.with(Statistic.KL, new Value.Known(0.05))).get(0);
        Reading drifted =
                judge.readings(window.with(Statistic.KL, new Value.Known(0.3))).get(0);
        assertEquals(false, clean.exceeded(), clean.toString());
        assertEquals(true, drifted.exceeded(), drifted.toString());
        Double threshold = drifted.threshold();
        assertTrue(threshold != null && threshold > 0.04 && threshold < 0.1, drifted.toString());
    }

    @Test
    void wholeRequestsAreKeptAsTheyWere() throws Exception {
        List<byte[]> whole = Baseline.read(file).wholeRequests();
        assertEquals(12, whole.size());
        assertEquals(12, answer.path("whole_requests").asInt());
        ActivationBatch kept = ActivationBatch.parse(whole.get(0));
        boolean found = false;
        try (ActivationFile recorded = ActivationFile.open(dump)) {
            for (int i = 0; i < recorded.requests(); i++) {
                ActivationBatch request = recorded.request(i);
                found |= Arrays.equals(
                                request.activations().values(),
                                kept.activations().values())
                        && Arrays.equals(request.tokenIds(), kept.tokenIds());
            }
        }
        assertTrue(found, "the first request kept is none of the recording");
    }

    @Test
    void whatDoesNotFitIsSaidBeforeAnythingIsMeasured() {
        Object[][] wrong = {
            {"--head-requests 3", "--head-requests needs --head"},
            {"--head " + LivePart.head() + " --head-requests 0", "--head-requests = 0: expected 1 to 1024"},
            {"--head nowhere.onnx", "nowhere.onnx: no such file"}
        };
        for (Object[] one : wrong) {
            Path out = folder.resolve("never");
            Shell refused = baseline(out, (Object[]) one[0].toString().split(" ", -1));
            assertEquals(2, refused.exitCode(), refused.err());
            assertTrue(refused.err().contains(one[1].toString()), refused::err);
            assertFalse(out.toFile().exists());
        }
    }
}
