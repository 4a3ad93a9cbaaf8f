package io.plumbline.probes;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.TensorArchives;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProbeFileTest {

    private static final double[] WEIGHT = {1.5, -2.0, 0.25};

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "weight,bias",
        "w,b",
        "direction,intercept",
        "coef,intercept_",
        "coef_,bias",
        "linear.weight,linear.bias"
    })
    void tensorsAreFoundUnderTheNamesThatPeopleGiveThem(String weight, String bias) throws IOException {
        SafetensorsWriter.create()
                .add(weight, DType.F32, new Matrix(1, 3, WEIGHT.clone()))
                .addVector(bias, DType.F32, new double[] {0.5})
                .metadata("threshold", "0.75")
                .writeTo(folder.resolve("refusal.safetensors"));
        Probe probe = read("refusal.safetensors", null);
        assertEquals("refusal", probe.name());
        assertArrayEquals(WEIGHT, probe.weight());
        assertEquals(0.5, probe.bias());
        assertEquals(0.75, probe.threshold());
        assertFalse(probe.pools());
        assertEquals(-1.0, read("refusal.safetensors", -1.0).threshold(), "the configuration's counts");
    }

    @Test
    void aQueryMakesAProbeThatPools() throws IOException {
        SafetensorsWriter.create()
                .addVector("w", DType.F64, WEIGHT)
                .addVector("query", DType.F64, new double[] {0.0, 1.0, 0.0})
                .writeTo(folder.resolve("pooling.safetensors"));
        Probe probe = read("pooling.safetensors", null);
        assertTrue(probe.pools());
        assertArrayEquals(new double[] {0.0, 1.0, 0.0}, probe.query());
        assertEquals(0.0, probe.bias());
        assertEquals(0.0, probe.threshold());
    }

    @Test
    void archivesOfNumpyAndTorchAreReadAsTensorsAre() throws IOException {
        Map<String, byte[]> arrays = new LinkedHashMap<>();
        arrays.put(
                "coef.npy",
                TensorArchives.npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }\n", 1.5f, -2, .25f));
        arrays.put("intercept.npy", TensorArchives.npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n", 4));
        Files.write(folder.resolve("a.npz"), TensorArchives.zip(arrays, true));
        Probe npz = read("a.npz", null);
        assertArrayEquals(WEIGHT, npz.weight());
        assertEquals(4.0, npz.bias());
        byte[] pickle = new TensorArchives.Pickle()
                .op('}', '(')
                .text("weight")
                .tensor(4, 0, new int[] {1, 3}, new int[] {3, 1})
                .text("bias")
                .tensor(4, 3, new int[] {1}, new int[] {1})
                .text("threshold")
                .op('K', 2)
                .op('u', '.')
                .bytes();
        Files.write(folder.resolve("a.pt"), TensorArchives.torch(pickle, 1.5f, -2, .25f, 4));
        Probe torch = read("a.pt", null);
        assertArrayEquals(WEIGHT, torch.weight());
        assertEquals(4.0, torch.bias());
        assertEquals(2.0, torch.threshold());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"coef_\": [[1.5, -2, 0.25]], \"intercept_\": [0.5], \"classes_\": [0, 1]}",
                "{\"coef_\": [1.5, -2, 0.25], \"intercept_\": 0.5}"
            })
    void coefficientsOfScikitLearnAreRead(String json) throws IOException {
        Files.writeString(folder.resolve("a.json"), json);
        Probe probe = read("a.json", null);
        assertArrayEquals(WEIGHT, probe.weight());
        assertEquals(0.5, probe.bias());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"coef_\": [1, 2]} | \"coef_\": shape [2], expected [3], the width of the rows",
                "{\"coef_\": [[1,2,3],[1,2,3]]} | of a probe with two classes write row 1 less row 0",
                "{\"coef_\": [[1,2],[3]]} | \"coef_\": shape [2], expected [3]",
                "{\"coef_\": \"1,2,3\"} | \"coef_\": shape \"1,2,3\", expected [3]",
                "{\"coef_\": [1, null, 3]} | \"coef_\": entry 1 is NULL, expected a number",
                "{\"coef_\": [1, NaN, 3]} | \"coef_\": entry 1 is NaN, expected a number",
                "{\"coef_\": [1, 2, 3], \"intercept_\": [1, 2]} | \"intercept_\": shape [2], expected one number",
                "{\"intercept_\": 1} | has [intercept_] and no weight; write the direction under one of [weight, w,",
                "{\"coef_\": [1, 2, 3], \"scale_\": 1} | \"scale_\" is nothing of a probe; keep only",
                "{\"coef_\": [1, 2, 3], \"w\": [1, 2, 3]} | \"coef_\" and \"w\" are both the weight; keep one",
                "[1, 2, 3] | not a JSON object"
            })
    void whatIsWrongIsSaidWithFileAndKey(String json, String sentence) throws IOException {
        Path file = Files.writeString(folder.resolve("a.json"), json);
        String refused = refused("a.json");
        assertTrue(refused.startsWith(file + ": "), refused);
        assertTrue(refused.contains(sentence), refused);
    }

    /** A file says how long its tensors are; nothing is allocated by that before it is compared with the rows. */
    @Test
    void tensorsOfOtherSizesAreRefusedBeforeTheyAreRead() throws IOException {
        SafetensorsWriter.create().add("w", DType.F32, Matrix.zeros(2, 3)).writeTo(folder.resolve("a.safetensors"));
        assertTrue(refused("a.safetensors").contains("\"w\": shape [2, 3], expected [3]"), refused("a.safetensors"));
        Files.write(
                folder.resolve("a.npz"),
                TensorArchives.zip(
                        Map.of(
                                "w.npy",
                                TensorArchives.npy(
                                        "{'descr': '<f4', 'fortran_order': False, 'shape': (2147483640,), }\n")),
                        true));
        assertTrue(refused("a.npz").startsWith(folder.resolve("a.npz") + ": "), refused("a.npz"));
        Files.write(folder.resolve("b.npz"), new byte[64]);
        assertTrue(refused("b.npz").startsWith(folder.resolve("b.npz") + ": "), refused("b.npz"));
        assertTrue(refused("none.pt").endsWith("none.pt: no such file; expected a probe"), refused("none.pt"));
        Files.write(folder.resolve("a.pkl"), new byte[64]);
        assertTrue(refused("a.pkl").contains("expected a file that ends with .safetensors, .npz, .pt or .json"));
    }

    private Probe read(String name, @Nullable Double threshold) throws IOException {
        return new ProbeFile(folder.resolve(name), null, threshold).read(3);
    }

    private String refused(String name) {
        return String.valueOf(assertThrows(IllegalArgumentException.class, () -> read(name, null))
                .getMessage());
    }
}
