package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;

/** A SAELens folder made up for a test: 3 inputs, 5 features, values exact in float32. */
public final class SaeLensFolder {

    public static final int INPUTS = 3;
    static final int FEATURES = 5;

    final Map<String, String> config = new LinkedHashMap<>();
    final Map<String, Matrix> tensors = new LinkedHashMap<>();
    DType dtype = DType.F32;

    private SaeLensFolder(int targets) {
        SplittableRandom random = new SplittableRandom(11);
        tensors.put("W_enc", random(random, INPUTS, FEATURES));
        tensors.put("b_enc", random(random, 1, FEATURES));
        tensors.put("W_dec", random(random, FEATURES, targets));
        tensors.put("b_dec", random(random, 1, targets));
        config.put("d_in", "3");
        config.put("d_sae", "5");
        config.put("apply_b_dec_to_input", "false");
    }

    public static SaeLensFolder autoencoder(String architecture) {
        return new SaeLensFolder(INPUTS).with("architecture", "\"" + architecture + "\"");
    }

    public static SaeLensFolder transcoder(int targets) {
        return new SaeLensFolder(targets).with("architecture", "\"transcoder\"").with("d_out", "" + targets);
    }

    public SaeLensFolder with(String key, String json) {
        config.put(key, json);
        return this;
    }

    public SaeLensFolder without(String key) {
        config.remove(key);
        return this;
    }

    public SaeLensFolder tensor(String name, Matrix matrix) {
        tensors.put(name, matrix);
        return this;
    }

    public SaeLensFolder as(DType other) {
        dtype = other;
        return this;
    }

    public Matrix tensor(String name) {
        Matrix matrix = tensors.get(name);
        if (matrix == null) {
            throw new IllegalStateException(name);
        }
        return matrix;
    }

    String json() {
        StringBuilder json = new StringBuilder("{");
        config.forEach((key, value) -> json.append(json.length() > 1 ? ",\n  " : "\n  ")
                .append('"')
                .append(key)
                .append("\": ")
                .append(value));
        return json.append("\n}\n").toString();
    }

    public Path writeTo(Path directory) throws IOException {
        Files.createDirectories(directory);
        Files.writeString(directory.resolve("cfg.json"), json());
        SafetensorsWriter writer = SafetensorsWriter.create().metadata("format", "pt");
        tensors.forEach((name, matrix) -> {
            if (matrix.rows() == 1) {
                writer.addVector(name, dtype, matrix.values());
            } else {
                writer.add(name, dtype, matrix);
            }
        });
        writer.writeTo(directory.resolve("sae_weights.safetensors"));
        return directory;
    }

    public static Matrix random(SplittableRandom random, int rows, int columns) {
        double[] values = new double[rows * columns];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextDouble(-1, 1);
        }
        return new Matrix(rows, columns, values);
    }
}
