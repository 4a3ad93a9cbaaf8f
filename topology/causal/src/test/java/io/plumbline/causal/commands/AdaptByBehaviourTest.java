package io.plumbline.causal.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.plumbline.causal.heads.LiveModel;
import io.plumbline.causal.heads.LivePart;
import io.plumbline.causal.heads.LiveRecordings;
import io.plumbline.explainer.Explainer;
import io.plumbline.topology.cli.Shell;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests {@code plumbline adapt --head} on Spanish requests of a live model. */
class AdaptByBehaviourTest {

    private static final LivePart PART = LivePart.autoencoder();

    @TempDir
    static Path folder;

    private static Path window;
    private static Path later;
    private static Path normal;

    @BeforeAll
    static void record() throws Exception {
        Explainer explainer = PART.wholeExplainer();
        window = folder.resolve("window.safetensors");
        later = folder.resolve("later.safetensors");
        normal = folder.resolve("normal.safetensors");
        try (LiveModel model = LivePart.model()) {
            LiveRecordings.write(model.requests("spanish_adapt", 24, explainer), explainer, window);
            LiveRecordings.write(model.requests("spanish_eval", 32, 64, explainer), explainer, later);
            LiveRecordings.write(model.requests("id_eval", 12, explainer), explainer, normal);
        }
    }

    private static Shell adapt(String out, Object... more) {
        List<Object> arguments = new ArrayList<>(List.of(
                "adapt",
                "--explainer",
                PART.wholeFolder(),
                "--activations",
                window,
                "--out",
                folder.resolve(out),
                "--json"));
        arguments.addAll(List.of(more));
        return Shell.run(arguments.toArray());
    }

    private static JsonNode json(Shell shell) throws Exception {
        assertEquals(0, shell.exitCode(), shell.err());
        return new JsonMapper().readTree(shell.out());
    }

    @Test
    void autoIsJudgedByWhatTheModelDoesOnRequestsItWasNotFittedOn() throws Exception {
        JsonNode answer = json(adapt(
                "auto", "--rank", 32, "--head", LivePart.head(), "--in-distribution", normal, "--max-kl-growth", "3"));
        assertTrue(answer.path("gate_behaviour").asText().startsWith("passed: held-out KL 0."), answer::toString);
        assertEquals(8, answer.path("held_out_kl_requests").asInt());
        assertEquals(12, answer.path("in_distribution_kl_requests").asInt());
        double before = answer.path("held_out_kl_before").asDouble();
        double after = answer.path("held_out_kl_after").asDouble();
        assertTrue(after < 0.7 * before, answer::toString);
        assertEquals(
                1.0 - after / before, answer.path("held_out_kl_improvement").asDouble(), 0.02);
        assertTrue(answer.path("held_out_kl_before_interval").path(0).asDouble() < before, answer::toString);
        assertTrue(answer.path("held_out_kl_before_interval").path(1).asDouble() > before, answer::toString);
        assertTrue(answer.path("held_out_kl_improvement_interval").path(0).asDouble() > 0.0, answer::toString);
        assertTrue(Files.exists(folder.resolve("auto")));
    }

    @Test
    void aCandidateIsChosenByTheModelOnRequestsThatDoNotJudge() throws Exception {
        Object[] both = {"--rank", 32, "--head", LivePart.head(), "--validate", later};
        JsonNode byFvu = json(adapt("by-fvu", both));
        assertFalse(byFvu.has("choosing_kl"), byFvu::toString);
        List<Object> choosing = new ArrayList<>(List.of(both));
        choosing.addAll(List.of("--select-by", "kl"));
        JsonNode byKl = json(adapt("by-kl", choosing.toArray()));
        assertTrue(byKl.path("candidate").asText().startsWith("rank 192"), byKl::toString);
        double onOthers = byKl.path("choosing_kl").asDouble();
        assertTrue(onOthers > 0.0 && onOthers < byKl.path("held_out_kl_before").asDouble(), byKl::toString);
        assertNotEquals(onOthers, byKl.path("held_out_kl_after").asDouble(), 1e-6);
        assertTrue(
                byKl.path("held_out_kl_after").asDouble()
                        <= 1.02 * byFvu.path("held_out_kl_after").asDouble(),
                () -> byKl + " " + byFvu);
    }

    /** Tests a search without rows of a baseline: nothing holds it in distribution but this test. */
    @Test
    void autoWithWhichTheModelIsAnotherOnNormalTrafficIsNotWritten() {
        Shell refused = adapt(
                "refused",
                "--rank",
                32,
                "--head",
                LivePart.head(),
                "--in-distribution",
                normal,
                "--max-kl-growth",
                "0.05");
        assertEquals(3, refused.exitCode());
        assertTrue(refused.err().contains("behaviour: failed: held-out KL 0."), refused::err);
        assertTrue(refused.err().contains("may be 105 % of the trained decoder's"), refused::err);
        assertFalse(Files.exists(folder.resolve("refused")));
    }

    @Test
    void aRefitThatFvuPassesIsRefusedOnTheRequestsGiven() throws Exception {
        Object[] step1 = {"--rank", 96, "--lambda-geom", 0.1, "--lambda-pres", 0.2, "--alpha", 1, "--validate", later};
        JsonNode byRows = json(adapt("by-rows", step1));
        assertTrue(byRows.path("gate_improvement").asText().startsWith("passed"), byRows::toString);
        assertFalse(byRows.has("gate_behaviour"));
        List<Object> withHead = new ArrayList<>(List.of(step1));
        withHead.addAll(List.of("--head", LivePart.head()));
        JsonNode byModel = json(adapt("by-model", withHead.toArray()));
        assertEquals("refused", byModel.path("gate").asText());
        assertTrue(byModel.path("gate_behaviour").asText().startsWith("failed: held-out KL 0.3"), byModel::toString);
        assertEquals(32, byModel.path("held_out_kl_requests").asInt());
        assertFalse(byModel.has("in_distribution_kl_before"));
    }

    @Test
    void whatCannotBeJudgedIsSaidBeforeAnythingIsFitted() {
        Object[][] wrong = {
            {"--rank 32 --in-distribution x", "--in-distribution needs --head or --worker"},
            {"--rank 32 --max-kl-growth 2", "--max-kl-growth needs --head"},
            {"--rank 32 --max-kl-growth -1 --head " + LivePart.head(), "--max-kl-growth = -1.0: expected a share of 0"},
            {"--rank 32 --lambda-geom 0 --lambda-pres 1 --head " + LivePart.head(), "--head needs --validate"},
            {"--rank 32 --worker unix:w --head " + LivePart.head(), "--head and --worker: expected one of them"},
            {"--rank 32 --worker 10.0.0.1:1", "--worker = 10.0.0.1:1: expected unix:PATH or 127.0.0.1:PORT"},
            {"--rank 32 --lambda-geom 0 --lambda-pres 1 --worker unix:w", "--worker needs --validate"},
            {"--rank 32 --device cuda", "--device = cuda: expected only beside --head"},
            {"--rank 32 --worker unix:w --device cuda", "--device = cuda: expected only beside --head"},
            {"--rank 32 --head " + LivePart.head() + " --device gpu", "--device = gpu: expected cpu, cuda or cuda:N"},
            {"--rank 32 --head " + LivePart.head() + " --device cuda", "onnxruntime_gpu-"},
            {"--rank 32 --select-by kl", "--select-by = kl: expected beside --head or --worker"},
            {
                "--rank 32 --lambda-geom 0 --lambda-pres 1 --select-by kl --validate x --head " + LivePart.head(),
                "--select-by = kl: expected only with --profile auto"
            },
            {"--rank 32 --head nowhere.onnx", "nowhere.onnx: no such file"},
            {
                "--rank 32 --in-distribution nowhere --head " + LivePart.head(),
                "--in-distribution = nowhere: no such file"
            }
        };
        for (Object[] one : wrong) {
            Shell refused = adapt("never", (Object[]) one[0].toString().split(" ", -1));
            assertEquals(2, refused.exitCode(), refused.err());
            assertTrue(refused.err().contains(one[1].toString()), refused::err);
        }
        assertFalse(Files.exists(folder.resolve("never")));
    }
}
