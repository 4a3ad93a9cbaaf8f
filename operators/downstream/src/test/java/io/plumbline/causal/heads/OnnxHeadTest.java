package io.plumbline.causal.heads;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.causal.HeadDevice;
import io.plumbline.causal.HeadLocation;
import io.plumbline.causal.heads.HeadException.Fault;
import io.plumbline.linalg.Matrix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OnnxHeadTest {

    private static final Matrix ROWS = new Matrix(2, 3, new double[] {1, 2, 3, 4, 5, 6});

    @TempDir
    Path folder;

    private Path file() {
        return folder.resolve("head.onnx");
    }

    private OnnxHead open(TinyOnnx graph) throws IOException {
        TinyOnnx.write(file(), graph);
        return OnnxHead.open(new HeadLocation.InFile(file()), HeadLimits.DEFAULTS.withThreads(1));
    }

    private HeadException refused(TinyOnnx graph) throws IOException {
        TinyOnnx.write(file(), graph);
        return assertThrows(
                HeadException.class, () -> OnnxHead.open(new HeadLocation.InFile(file()), HeadLimits.DEFAULTS));
    }

    private static void assertSays(Fault fault, String part, HeadException said) {
        assertEquals(fault, said.fault(), said.getMessage());
        assertTrue(said.getMessage().contains(part), said.getMessage());
        assertTrue(said.getMessage().contains("head.onnx"), said.getMessage());
    }

    @Test
    void logitsAreThoseOfTheGraph() throws IOException {
        try (OnnxHead head = open(TinyOnnx.linear(3, 2, 0.5f))) {
            assertEquals(3, head.width());
            assertArrayEquals(
                    new float[] {3, 3, 7.5f, 7.5f}, head.logits(ROWS, null).values());
            assertArrayEquals(
                    new float[] {3, 3}, head.logits(ROWS.rowRange(0, 1), null).values());
            assertEquals(2, head.runs());
        }
    }

    @Test
    void aGpuThatIsNotThereIsRefusedWithWhatToPutInPlace() throws IOException {
        TinyOnnx.write(file(), TinyOnnx.linear(3, 2, 0.5f));
        HeadException said = assertThrows(
                HeadException.class,
                () -> OnnxHead.open(new HeadLocation.InFile(file(), HeadDevice.parse("cuda:1")), HeadLimits.DEFAULTS));
        assertSays(Fault.NOT_LOADED, "no cuda:1 here", said);
        assertSays(Fault.NOT_LOADED, "onnxruntime_gpu-", said);
    }

    @Test
    void aTranscodersHeadReadsTargetsAndResidual() throws IOException {
        TinyOnnx graph = TinyOnnx.graph()
                .node(TinyOnnx.node("Add", "targets", "residual").text(2, "h"))
                .node(TinyOnnx.node("MatMul", "h", "W").text(2, "logits"))
                .message(5, TinyOnnx.weights("W", 3, 2, 1f))
                .input("targets", TinyOnnx.FLOAT, -1, 3)
                .input("residual", TinyOnnx.FLOAT, -1, 3)
                .output("logits", TinyOnnx.FLOAT, -1, 2);
        try (OnnxHead head = open(graph)) {
            assertTrue(head.readsResidual());
            assertArrayEquals(
                    new float[] {12, 12, 30, 30}, head.logits(ROWS, ROWS).values());
            assertSays(
                    Fault.WRONG_SHAPE,
                    "a tensor \"residual\"",
                    assertThrows(HeadException.class, () -> head.logits(ROWS, null)));
            assertSays(
                    Fault.WRONG_SHAPE,
                    "residual stream [1, 3]",
                    assertThrows(HeadException.class, () -> head.logits(ROWS, ROWS.rowRange(0, 1))));
        }
    }

    @Test
    void otherNamesTypesAndShapesAreRefusedByName() throws IOException {
        TinyOnnx inputs = TinyOnnx.graph()
                .node(TinyOnnx.node("Identity", "hidden").text(2, "logits"))
                .input("hidden", TinyOnnx.FLOAT, -1, 3)
                .output("logits", TinyOnnx.FLOAT, -1, 3);
        assertSays(Fault.WRONG_SHAPE, "inputs [hidden]; expected [activations]", refused(inputs));
        TinyOnnx outputs = TinyOnnx.graph()
                .node(TinyOnnx.node("Identity", "activations").text(2, "out"))
                .input("activations", TinyOnnx.FLOAT, -1, 3)
                .output("out", TinyOnnx.FLOAT, -1, 3);
        assertSays(Fault.WRONG_SHAPE, "outputs [out]; expected one called \"logits\"", refused(outputs));
        TinyOnnx integers = TinyOnnx.graph()
                .node(TinyOnnx.node("Identity", "activations").text(2, "logits"))
                .input("activations", TinyOnnx.INT64, -1, 3)
                .output("logits", TinyOnnx.INT64, -1, 3);
        assertSays(Fault.WRONG_SHAPE, "[?, 3] of INT64, expected", refused(integers));
        TinyOnnx fixed = TinyOnnx.graph()
                .node(TinyOnnx.node("Identity", "activations").text(2, "logits"))
                .input("activations", TinyOnnx.FLOAT, 64, 3)
                .output("logits", TinyOnnx.FLOAT, 64, 3);
        assertSays(Fault.WRONG_SHAPE, "with a dynamic T", refused(fixed));
    }

    @Test
    void rowsOfAnotherWidthAreRefused() throws IOException {
        try (OnnxHead head = open(TinyOnnx.linear(4, 2, 1f))) {
            assertSays(
                    Fault.WRONG_SHAPE,
                    "reads rows of 4 values, got [2, 3]",
                    assertThrows(HeadException.class, () -> head.logits(ROWS, null)));
        }
    }

    @Test
    void logitsThatAreNotFiniteAreRefusedWithTheirPlace() throws IOException {
        TinyOnnx graph = TinyOnnx.graph()
                .node(TinyOnnx.node("Sub", "activations", "four").text(2, "shifted"))
                .node(TinyOnnx.node("Sqrt", "shifted").text(2, "logits"))
                .message(5, TinyOnnx.weights("four", 1, 3, 4f))
                .input("activations", TinyOnnx.FLOAT, -1, 3)
                .output("logits", TinyOnnx.FLOAT, -1, 3);
        try (OnnxHead head = open(graph)) {
            assertSays(
                    Fault.NOT_FINITE,
                    "the logit of row 0, token 0 is NaN",
                    assertThrows(HeadException.class, () -> head.logits(ROWS, null)));
            assertArrayEquals(
                    new float[] {0, 1, (float) Math.sqrt(2)},
                    head.logits(ROWS.rowRange(1, 2), null).values(),
                    "it answers again");
        }
    }

    @Test
    void logitsOfAnotherShapeAreRefused() throws IOException {
        TinyOnnx graph = TinyOnnx.graph()
                .node(TinyOnnx.node("Transpose", "activations").text(2, "logits"))
                .input("activations", TinyOnnx.FLOAT, -1, -1)
                .output("logits", TinyOnnx.FLOAT, -1, -1);
        try (OnnxHead head = open(graph)) {
            assertSays(
                    Fault.WRONG_SHAPE,
                    "logits [3, 2] for 2 rows, expected [2, V]",
                    assertThrows(HeadException.class, () -> head.logits(ROWS, null)));
        }
    }

    @Test
    void aHeadThatHangsIsEndedInTimeAndAnswersNoMoreThanThat() throws IOException {
        TinyOnnx.write(file(), TinyOnnx.endless(3));
        HeadLimits limits = HeadLimits.DEFAULTS.withThreads(1).withTime(Duration.ofMillis(200));
        try (OnnxHead head = OnnxHead.open(new HeadLocation.InFile(file()), limits)) {
            for (int again = 0; again < 2; again++) {
                assertSays(
                        Fault.TIMED_OUT,
                        "no answer in time; 2 rows, limit PT0.2S",
                        assertThrows(HeadException.class, () -> head.logits(ROWS, null)));
            }
        }
    }

    @Test
    void filesThatAreMissingTooLargeOrNoModelAreRefused() throws IOException {
        assertSays(
                Fault.NOT_LOADED,
                "no such file",
                assertThrows(
                        HeadException.class,
                        () -> OnnxHead.open(new HeadLocation.InFile(file()), HeadLimits.DEFAULTS)));
        TinyOnnx.write(file(), TinyOnnx.linear(3, 2, 1f));
        long bytes = Files.size(file());
        HeadLimits small = new HeadLimits(bytes - 1, 1, Duration.ofSeconds(1));
        assertSays(
                Fault.NOT_LOADED,
                "%d bytes, at most %d are loaded".formatted(bytes, bytes - 1),
                assertThrows(HeadException.class, () -> OnnxHead.open(new HeadLocation.InFile(file()), small)));
        Files.writeString(file(), "no model at all");
        assertSays(
                Fault.NOT_LOADED,
                "no ONNX model",
                assertThrows(
                        HeadException.class,
                        () -> OnnxHead.open(new HeadLocation.InFile(file()), HeadLimits.DEFAULTS)));
        Files.write(file(), new byte[] {0x08, 0x08});
        assertSays(
                Fault.NOT_LOADED,
                "ONNX Runtime cannot load it",
                assertThrows(
                        HeadException.class,
                        () -> OnnxHead.open(new HeadLocation.InFile(file()), HeadLimits.DEFAULTS)));
    }

    /**
     * Tests that a head cannot read other files: a model named in a configuration could have any file of this machine
     * read.
     */
    @Test
    void weightsInOtherFilesAreRefusedWhereverTheyStand() throws IOException {
        TinyOnnx outside = new TinyOnnx()
                .number(1, 3)
                .number(1, 2)
                .number(2, TinyOnnx.FLOAT)
                .text(8, "W")
                .message(13, new TinyOnnx().text(1, "location").text(2, "weights.bin"))
                .number(14, 1);
        TinyOnnx initializer = TinyOnnx.graph()
                .node(TinyOnnx.node("MatMul", "activations", "W").text(2, "logits"))
                .message(5, outside)
                .input("activations", TinyOnnx.FLOAT, -1, 3)
                .output("logits", TinyOnnx.FLOAT, -1, 2);
        TinyOnnx constant = TinyOnnx.graph()
                .node(TinyOnnx.node("Constant")
                        .text(2, "W")
                        .message(
                                5,
                                new TinyOnnx()
                                        .text(1, "value")
                                        .message(5, outside)
                                        .number(20, 4)))
                .node(TinyOnnx.node("MatMul", "activations", "W").text(2, "logits"))
                .input("activations", TinyOnnx.FLOAT, -1, 3)
                .output("logits", TinyOnnx.FLOAT, -1, 2);
        TinyOnnx inner = TinyOnnx.graph()
                .node(TinyOnnx.node("If", "yes")
                        .text(2, "logits")
                        .message(
                                5,
                                new TinyOnnx()
                                        .text(1, "then_branch")
                                        .message(6, constant)
                                        .number(20, 5)))
                .input("activations", TinyOnnx.FLOAT, -1, 3)
                .output("logits", TinyOnnx.FLOAT, -1, 2);
        for (TinyOnnx graph : new TinyOnnx[] {initializer, constant, inner}) {
            assertSays(Fault.NOT_LOADED, "values of a tensor lie in another file", refused(graph));
        }
    }
}
