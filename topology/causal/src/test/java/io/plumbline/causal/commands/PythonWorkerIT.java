package io.plumbline.causal.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.plumbline.causal.heads.LivePart;
import io.plumbline.topology.cli.Shell;
import io.plumbline.topology.clients.Python;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Python package's worker, asked by the command line on the live model's requests. */
class PythonWorkerIT {

    private static final LivePart PART = LivePart.autoencoder();

    @TempDir
    Path folder;

    private Python python;

    @BeforeEach
    void find() throws Exception {
        python = Python.ofMachine(folder);
    }

    private static Shell causal(String option, Object head, Object... more) {
        List<Object> words = new ArrayList<>(List.of(
                "causal",
                "--explainer",
                PART.folder(),
                "--activations",
                PART.requests(),
                "--profile",
                "saelens",
                "--json",
                option,
                head));
        words.addAll(List.of(more));
        return Shell.run(words.toArray());
    }

    private static JsonNode json(Shell shell) throws IOException {
        assertEquals(0, shell.exitCode(), shell.err());
        return new JsonMapper().readTree(shell.out());
    }

    @Test
    void figuresOverASocketAreThoseOfTheHeadInThisProcess() throws Exception {
        assumeTrue(
                python.run("-c", "import onnxruntime").exitCode() == 0, "needs onnxruntime: pip install onnxruntime");
        JsonNode here = json(causal("--head", LivePart.head())).path("trained");
        for (String listen : List.of("unix:head.sock", "127.0.0.1:0")) {
            try (PythonWorker worker = PythonWorker.start(python, folder, listen, "--onnx", LivePart.head())) {
                JsonNode there = json(causal("--worker", worker.address())).path("trained");
                assertEquals(here.size(), there.size());
                for (String figure : List.of("kl_div_with_sae", "ce_loss_with_sae", "ce_loss_without_sae")) {
                    double expected = here.path(figure).path("value").asDouble();
                    assertTrue(expected > 0.0, here::toString);
                    assertEquals(expected, there.path(figure).path("value").asDouble(), 1e-5, figure);
                }
                assertEquals(
                        LiveFolder.oracle("kl"),
                        there.path("kl_div_with_sae").path("value").asDouble(),
                        1e-4);
            }
        }
    }

    @Test
    void aWorkerThatCrashesIsSaidAndOneStartedAgainAnswers() throws Exception {
        Files.writeString(folder.resolve("heads.py"), """
                import os, pathlib
                def head(activations):
                    if not pathlib.Path("started-again").exists():
                        os._exit(9)
                    return activations @ __import__("numpy").ones((192, 4096), "float32")
                def broken(activations):
                    raise RuntimeError("CUDA out of memory")
                """);
        String address;
        try (PythonWorker worker = PythonWorker.start(python, folder, "unix:head.sock", "heads:head")) {
            address = worker.address();
            Shell crashed = causal("--worker", address);
            assertEquals(2, crashed.exitCode(), crashed.err());
            assertTrue(
                    crashed.err().contains("worker " + address + ": it closed the connection, then cannot be reached"),
                    crashed::err);
        }
        Shell gone = causal("--worker", address);
        assertEquals(2, gone.exitCode());
        assertTrue(gone.err().contains("worker " + address + ": cannot be reached: "), gone::err);
        Files.createFile(folder.resolve("started-again"));
        try (PythonWorker again = PythonWorker.start(python, folder, "unix:head.sock", "heads:head")) {
            assertEquals(
                    2,
                    json(causal("--worker", again.address())).path("requests").asInt());
        }
        try (PythonWorker broken = PythonWorker.start(python, folder, "unix:head.sock", "heads:broken")) {
            Shell failed = causal("--worker", broken.address());
            assertTrue(failed.err().contains("RuntimeError: CUDA out of memory"), failed::err);
        }
    }
}
