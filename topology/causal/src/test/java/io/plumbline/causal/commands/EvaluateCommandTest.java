package io.plumbline.causal.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.plumbline.causal.heads.LivePart;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.ActivationFile;
import io.plumbline.topology.cli.Shell;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EvaluateCommandTest {

    private static final LivePart PART = LivePart.autoencoder();

    @TempDir
    Path folder;

    private Path window;

    /** Cuts two recorded requests into 31 of four rows: it matters here which way rows go, not how well it goes. */
    @BeforeEach
    void cut() throws IOException {
        window = folder.resolve("window.safetensors");
        try (ActivationFile file = ActivationFile.open(PART.requests())) {
            ActivationBatch first = file.request(0);
            ActivationBatch second = file.request(1);
            Matrix rows = Matrix.zeros(124, first.activations().columns());
            System.arraycopy(first.activations().values(), 0, rows.values(), 0, 64 * rows.columns());
            System.arraycopy(second.activations().values(), 0, rows.values(), 64 * rows.columns(), 60 * rows.columns());
            long[] offsets = new long[32];
            for (int i = 0; i < offsets.length; i++) {
                offsets[i] = 4L * i;
            }
            SafetensorsWriter.create()
                    .add("activations", DType.F32, rows)
                    .addLongs("request_offsets", offsets)
                    .writeTo(window);
        }
    }

    private Shell evaluate(Object... more) {
        List<Object> arguments = new ArrayList<>(List.of(
                "evaluate",
                "--explainer",
                PART.folder(),
                "--head",
                LivePart.head(),
                "--window",
                window,
                "--later",
                PART.requests(),
                "--threads",
                "1"));
        arguments.addAll(List.of(more));
        for (String[] small : new String[][] {{"--rank", "8"}, {"--gae", "8,0.1,0.2"}}) {
            if (!arguments.contains(small[0])) {
                arguments.addAll(List.of(small));
            }
        }
        return Shell.run(arguments.toArray());
    }

    @Test
    void everyMethodHasItsFiguresAndItsCost() throws IOException {
        Shell shell = evaluate(
                "--decoder",
                "elsewhere=" + PART.folder().resolve("auto.safetensors"),
                "--in-distribution",
                PART.requests(),
                "--ablated-requests",
                "1",
                "--json");
        assertEquals(0, shell.exitCode(), shell.err());
        JsonNode table = new JsonMapper().readTree(shell.out());
        List<String> methods = new ArrayList<>();
        table.fieldNames().forEachRemaining(methods::add);
        assertEquals(List.of("fixed", "bias", "gae-paper", "gae-code", "ridge", "auto", "elsewhere"), methods);
        JsonNode causal = new JsonMapper()
                .readTree(Shell.run(
                                "causal",
                                "--explainer",
                                PART.folder(),
                                "--head",
                                LivePart.head(),
                                "--activations",
                                PART.requests(),
                                "--decoder",
                                PART.folder().resolve("auto.safetensors"),
                                "--json")
                        .out());
        JsonNode elsewhere = table.path("elsewhere");
        assertEquals(causal.path("adapted").path("kl"), elsewhere.path("later").path("kl"));
        assertEquals(
                causal.path("adapted").path("change").path("kl"),
                elsewhere.path("later").path("kl_change"));
        assertEquals(elsewhere.path("later"), elsewhere.path("in_distribution"), "the same requests");
        assertTrue(elsewhere.path("seconds").isMissingNode());
        assertEquals(
                causal.path("trained").path("per_request").path(0).path("naopc"),
                table.path("fixed").path("later").path("naopc").path("value"),
                "one request is ablated");
        for (String method : List.of("bias", "gae-paper", "gae-code", "ridge")) {
            assertEquals(93, table.path(method).path("rows").asInt(), "the first of each four is no row to fit on");
            assertTrue(table.path(method).path("seconds").asDouble() >= 0.0);
        }
        assertTrue(
                table.path("ridge").path("later").path("fvu").path("value").asDouble()
                        < table.path("fixed")
                                .path("later")
                                .path("fvu")
                                .path("value")
                                .asDouble(),
                "fitted on the same rows");
        double gap = table.path("fixed").path("later").path("gap").path("value").asDouble();
        assertTrue(gap > 0.0 && gap <= Math.sqrt(2.0 * 8), "gap " + gap);
    }

    @Test
    void theTableMarksWhatChangedBeyondChance() {
        Shell shell = evaluate("--ablated-requests", "0");
        assertEquals(0, shell.exitCode(), shell.err());
        assertTrue(shell.out().startsWith("Later requests\n"), shell.out());
        assertTrue(
                shell.out().lines().anyMatch(line -> line.startsWith("ridge ") && line.contains("] *")), shell.out());
        assertTrue(shell.out().lines().noneMatch(line -> line.startsWith("fixed ") && line.contains("*")), shell.out());
        assertTrue(!shell.out().contains("naopc"), shell.out());
    }

    /** 93 rows have no 150 directions of their own. */
    @Test
    void aRefitThatTheWindowDoesNotDetermineIsARowWithTheReason() throws IOException {
        Shell shell = evaluate("--gae", "150,0.1,0.2", "--ablated-requests", "0", "--json");
        assertEquals(0, shell.exitCode(), shell.err());
        JsonNode table = new JsonMapper().readTree(shell.out());
        JsonNode undetermined = table.path("gae-paper");
        assertTrue(undetermined.path("note").asText().startsWith("not made: "), undetermined.toString());
        assertEquals(
                table.path("fixed").path("later").path("kl"),
                undetermined.path("later").path("kl"));
        assertTrue(table.path("ridge").path("note").isMissingNode());
    }

    @Test
    void whatCannotBeEvaluatedIsRefused() throws IOException {
        assertRefused("--gae = 8,0.1: expected a rank from 1 to 192", evaluate("--gae", "8,0.1"));
        assertRefused("there is a method of that name", evaluate("--decoder", "auto=" + window));
        assertRefused("no such file or folder", evaluate("--decoder", "other=" + folder.resolve("none")));
        assertRefused("plumbline baseline", evaluate("--baseline", folder.resolve("none")));
        assertRefused("--rank = 193", evaluate("--rank", "193"));
        assertRefused("--most-requests = 0", evaluate("--most-requests", "0"));
        assertRefused("--ablated-requests = -1", evaluate("--ablated-requests", "-1"));
        Path strange = folder.resolve("strange.safetensors");
        SafetensorsWriter.create()
                .add("activations", DType.F32, Matrix.zeros(2, 192))
                .addLongs("token_ids", 0, 1_000_000)
                .writeTo(strange);
        assertRefused(
                "--in-distribution: request 0: token_ids: row 1 has token 1000000",
                evaluate("--in-distribution", strange, "--ablated-requests", "0"));
        Files.delete(window);
        assertRefused("no such file", evaluate());
    }

    private static void assertRefused(String part, Shell shell) {
        assertEquals(2, shell.exitCode(), shell.out() + shell.err());
        assertTrue(shell.err().contains(part), shell.err());
    }
}
