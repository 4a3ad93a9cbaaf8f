package io.plumbline.causal.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.plumbline.causal.heads.LivePart;
import io.plumbline.causal.heads.OnnxInitializer;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.records.ActivationFile;
import io.plumbline.topology.cli.Shell;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CausalCommandTest {

    private static final LivePart PART = LivePart.autoencoder();

    @TempDir
    Path folder;

    private static Shell causal(Object... more) {
        List<Object> arguments = new ArrayList<>(List.of(
                "causal",
                "--explainer",
                PART.folder(),
                "--head",
                LivePart.head(),
                "--activations",
                PART.requests(),
                "--threads",
                "1"));
        arguments.addAll(List.of(more));
        return Shell.run(arguments.toArray());
    }

    private static JsonNode json(Shell shell) throws IOException {
        assertEquals(0, shell.exitCode(), shell.err());
        return new JsonMapper().readTree(shell.out());
    }

    private Path unembedding() throws IOException {
        Weights weights = OnnxInitializer.read(LivePart.head(), "wte.weight");
        Path file = folder.resolve("unembedding.safetensors");
        SafetensorsWriter.create()
                .add("W_U", DType.F32, weights.rowRange(0, weights.rows()))
                .writeTo(file);
        return file;
    }

    private static double oracle(JsonNode oracle, String method, String name, int request) {
        return oracle.path("methods").path(method).path(name).path(request).asDouble();
    }

    @Test
    void figuresPerRequestAreTheOraclesAndThoseOfAllAreTheirMeans() throws IOException {
        JsonNode answer = json(causal("--decoder", PART.folder().resolve("auto.safetensors"), "--json"));
        JsonNode oracle = PART.json("oracle.json");
        assertEquals("gae-paper", answer.path("profile").asText());
        assertEquals("causal", answer.path("ranking").asText());
        assertEquals(126, answer.path("rows").asInt());
        for (String[] names : new String[][] {{"trained", "fixed"}, {"adapted", "auto"}}) {
            JsonNode ours = answer.path(names[0]);
            double kl = 0.0;
            double naopc = 0.0;
            for (int i = 0; i < 2; i++) {
                JsonNode request = ours.path("per_request").path(i);
                assertEquals(
                        oracle(oracle, names[1], "kl", i), request.path("kl").asDouble(), 1e-4);
                assertEquals(
                        oracle(oracle, names[1], "delta_ce", i),
                        request.path("delta_ce").asDouble(),
                        1e-4);
                assertEquals(
                        oracle(oracle, names[1], "naopc_causal", i),
                        request.path("naopc").asDouble(),
                        1e-3);
                assertEquals(
                        oracle(oracle, names[1], "ncomp_causal", i),
                        request.path("ncomp").asDouble(),
                        1e-3);
                assertEquals(
                        oracle.path("target").path(i).asInt(),
                        request.path("target").asInt());
                kl += request.path("kl").asDouble() / 2;
                naopc += request.path("naopc").asDouble() / 2;
            }
            assertEquals(kl, ours.path("kl").path("value").asDouble(), 1e-9, "requests of the same length");
            assertEquals(naopc, ours.path("naopc").path("value").asDouble(), 1e-9);
            JsonNode ends = ours.path("kl").path("interval");
            assertTrue(ends.path(0).asDouble() <= kl && kl <= ends.path(1).asDouble(), ends.toString());
        }
        JsonNode change = answer.path("adapted").path("change").path("kl");
        assertEquals(
                answer.path("adapted").path("kl").path("value").asDouble()
                        - answer.path("trained").path("kl").path("value").asDouble(),
                change.path("value").asDouble(),
                1e-12);
        assertTrue(change.path("interval").path(1).asDouble() < 0.0, "better in both requests: " + change);
        assertEquals(0, answer.path("undefined").size());
    }

    @Test
    void eachProfileHasItsOwnNamesAndFormulas() throws IOException {
        JsonNode paper = json(causal("--json")).path("trained");
        JsonNode code = json(causal("--json", "--profile", "gae-code")).path("trained");
        assertEquals(value(paper, "naopc"), value(code, "ncomp"), 1e-12);
        double clipped = 0.0;
        for (JsonNode request : code.path("per_request")) {
            for (JsonNode drop : request.path("drops")) {
                clipped += Math.min(1.0, Math.max(0.0, drop.asDouble())) / 16;
            }
        }
        assertEquals(clipped, value(code, "naopc"), 1e-12);
        JsonNode saelens = json(causal("--json", "--profile", "saelens"));
        assertEquals(6, saelens.path("head_runs").asInt(), "three runs a request, no ablations");
        JsonNode library = saelens.path("trained");
        assertEquals(value(paper, "ce_patched"), value(library, "ce_loss_with_sae"), 1e-12);
        assertEquals(value(paper, "loss_recovered"), value(library, "ce_loss_score"), 1e-12);
        assertEquals(value(paper, "kl"), value(library, "kl_div_with_sae"), 1e-12);
        assertEquals(
                1 - value(paper, "kl") / value(library, "kl_div_with_ablation"), value(library, "kl_div_score"), 1e-12);
        assertEquals(1 - value(paper, "fvu"), value(library, "explained_variance"), 1e-12);
        JsonNode bench = json(causal("--json", "--profile", "saebench")).path("trained");
        assertEquals(explainedVarianceAsSaeBenchHasIt(paper), value(bench, "explained_variance"), 1e-9);
        assertEquals(value(library, "ce_loss_score"), value(bench, "ce_loss_score"), 1e-12);
    }

    private static double value(JsonNode figures, String name) {
        return figures.path(name).path("value").asDouble();
    }

    /**
     * Computes the explained variance as SAEBench does, written out over rows: sums of squares, then the mean over
     * dimensions of the mean square, squared.
     */
    private static double explainedVarianceAsSaeBenchHasIt(JsonNode paper) throws IOException {
        double spread = 0.0;
        double squares = 0.0;
        try (ActivationFile file = ActivationFile.open(PART.requests())) {
            double[] mean = new double[192];
            for (int pass = 0; pass < 2; pass++) {
                for (int i = 0; i < 2; i++) {
                    Matrix rows = file.request(i).activations();
                    for (int row = 1; row < rows.rows(); row++) {
                        for (int j = 0; j < 192; j++) {
                            double x = rows.get(row, j);
                            if (pass == 0) {
                                mean[j] += x / 126;
                                squares += x * x / 126;
                            } else {
                                spread += (x - mean[j]) * (x - mean[j]) / 126;
                            }
                        }
                    }
                }
            }
        }
        double residual = value(paper, "fvu") * spread;
        return 1 - residual / (squares - (squares / 192) * (squares / 192));
    }

    @Test
    void theTableHasBothDecodersAndTheirDifference() {
        Shell shell = causal("--decoder", PART.folder().resolve("auto.safetensors"), "--profile", "saelens");
        assertEquals(0, shell.exitCode(), shell.err());
        assertTrue(
                shell.out().startsWith("saelens: 2 requests, 126 rows counted, 8 runs of the head in "), shell.out());
        assertTrue(shell.out().contains("adapted - trained"), shell.out());
        assertTrue(
                shell.out().lines().anyMatch(line -> line.matches("kl_div_with_sae +0\\.\\d{4} \\[.*\\] +0\\..*")),
                shell.out());
    }

    @Test
    void directLogitAttributionIsTheOraclesTable() throws IOException {
        JsonNode oracle = PART.json("dla.json");
        JsonNode answer = json(causal(
                "--decoder",
                PART.folder().resolve("auto.safetensors"),
                "--dla",
                "--unembedding",
                unembedding(),
                "--class-tokens",
                ids(oracle.path("class_tokens")),
                "--control-tokens",
                ids(oracle.path("control_tokens")),
                "--json"));
        assertEquals(oracle.path("target"), answer.path("target"));
        long[] ids = PART.featureIds();
        for (String[] names : new String[][] {{"trained", "fixed"}, {"adapted", "auto"}}) {
            JsonNode theirs = oracle.path("decoders").path(names[1]);
            JsonNode ours = answer.path(names[0]);
            assertEquals(
                    theirs.path("class_specificity").asDouble(),
                    ours.path("class_specificity").asDouble(),
                    1e-6);
            for (int i = 0; i < 3; i++) {
                assertEquals(
                        oracle.path("top_features").path(i).asLong(),
                        ids[ours.path("features").path(i).asInt()]);
                assertEquals(
                        theirs.path("dla_target").path(i).asDouble(),
                        ours.path("dla_target").path(i).asDouble(),
                        1e-6);
            }
        }
    }

    private static String ids(JsonNode tokens) {
        return tokens.valueStream().map(JsonNode::asText).collect(Collectors.joining(","));
    }

    @Test
    void rankingByAttributionNeedsTheUnembedding() throws IOException {
        Shell without = causal("--ranking", "dla");
        assertEquals(2, without.exitCode());
        assertTrue(without.err().contains("--ranking dla needs --unembedding"), without.err());
        JsonNode answer = json(causal("--ranking", "dla", "--unembedding", unembedding(), "--json"));
        JsonNode oracle = PART.json("oracle.json");
        for (int i = 0; i < 2; i++) {
            assertEquals(
                    oracle(oracle, "fixed", "naopc_dla", i),
                    answer.path("trained")
                            .path("per_request")
                            .path(i)
                            .path("naopc")
                            .asDouble(),
                    1e-3);
        }
    }

    @Test
    void anUnembeddingThatLacksTokensOfTheHeadIsRefused() throws IOException {
        Path few = folder.resolve("few.safetensors");
        SafetensorsWriter.create().add("W_U", DType.F32, Matrix.zeros(5, 192)).writeTo(few);
        assertRefused("the unembedding has vectors of 5 tokens", causal("--dla", "--unembedding", few));
        assertRefused("the unembedding has vectors of 5 tokens", causal("--ranking", "dla", "--unembedding", few));
        assertRefused("--features = -1", causal("--dla", "--unembedding", unembedding(), "--features", -1));
    }

    @Test
    void requestsWithoutTokensHaveNoCrossEntropyAndSayWhy() throws IOException {
        Path file = folder.resolve("without.safetensors");
        try (ActivationFile requests = ActivationFile.open(PART.requests())) {
            SafetensorsWriter.create()
                    .add("activations", DType.F32, requests.request(0).activations())
                    .writeTo(file);
        }
        JsonNode answer = json(Shell.run(
                "causal",
                "--explainer",
                PART.folder(),
                "--head",
                LivePart.head(),
                "--activations",
                file,
                "--profile",
                "saelens",
                "--json"));
        assertTrue(answer.path("trained").path("ce_loss_score").path("value").isNull());
        assertTrue(answer.path("trained").path("kl_div_with_sae").path("value").isNumber());
        assertTrue(
                answer.path("undefined").path("trained.ce_loss_score").asText().contains("no token_ids"));
    }

    @Test
    void whatDoesNotFitIsRefusedInOneSentence() throws IOException {
        assertRefused("expected one of [gae-paper, gae-code, saelens, saebench]", causal("--profile", "paper"));
        assertRefused("no such file", causal("--unembedding", folder.resolve("none")));
        assertRefused("--timeout = 0s", causal("--timeout", "0s"));
        assertRefused("--decoder = ", causal("--decoder", folder.resolve("none")));
        assertRefused("a decoder of ", causal("--decoder", LivePart.transcoder().folder()));
        Path text = Files.writeString(folder.resolve("head.onnx"), "no model");
        assertRefused(
                "no ONNX model",
                Shell.run("causal", "--explainer", PART.folder(), "--head", text, "--activations", PART.requests()));
        LivePart transcoder = LivePart.transcoder();
        assertRefused(
                "reads activations, and the explainer is a transcoder",
                Shell.run(
                        "causal",
                        "--explainer",
                        transcoder.folder(),
                        "--head",
                        LivePart.head(),
                        "--activations",
                        transcoder.requests()));
        assertRefused(
                "a transcoder needs a tensor \"targets\"",
                Shell.run(
                        "causal",
                        "--explainer",
                        transcoder.folder(),
                        "--head",
                        LivePart.head(),
                        "--activations",
                        PART.requests()));
    }

    private static void assertRefused(String part, Shell shell) {
        assertEquals(2, shell.exitCode(), shell.out() + shell.err());
        assertTrue(shell.err().contains(part), shell.err());
        assertEquals(1, Arrays.stream(shell.err().strip().split("\n")).count(), shell.err());
    }
}
