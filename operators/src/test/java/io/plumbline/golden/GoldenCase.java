package io.plumbline.golden;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.Safetensors;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One golden case of {@code src/test/resources/golden}: inputs, and what a NumPy float64 reference made of them. The
 * README there says where they come from and what each name means.
 *
 * <p>Orientation on file is the paper's: {@code W_dec} is d x k, one column per feature. {@link #decoderWeights()}
 * gives this project's k x d.
 *
 * <p>It remembers the largest deviation, as a share of its tolerance, of everything compared through it.
 */
public final class GoldenCase {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final String name;
    private final JsonNode settings;
    private final JsonNode expectedScalars;
    private final JsonNode expectedMatrices;
    private final Safetensors inputs;
    private final Safetensors expected;
    private final boolean ambiguous;
    private double worst;
    private String worstName = "nothing";

    private GoldenCase(String name) throws IOException {
        this.name = name;
        this.settings = JSON.readTree(bytes(name + "/case.json"));
        JsonNode document = JSON.readTree(bytes(name + "/expected.json"));
        this.ambiguous = document.get("ambiguous").asBoolean();
        this.expectedScalars = document.get("scalars");
        this.expectedMatrices = document.get("matrices");
        this.inputs = Safetensors.parse(bytes(name + "/inputs.safetensors"));
        this.expected = Safetensors.parse(bytes(name + "/expected.safetensors"));
    }

    /** The folder's name: {@code sae_relu}, {@code sae_jumprelu_alpha} or {@code transcoder_topk}. */
    public static GoldenCase load(String name) {
        try {
            return new GoldenCase(name);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The bytes of a file below {@code golden/}. */
    public static byte[] bytes(String path) throws IOException {
        try (InputStream stream = GoldenCase.class.getResourceAsStream("/golden/" + path)) {
            if (stream == null) {
                throw new IOException("no golden file " + path);
            }
            return stream.readAllBytes();
        }
    }

    /** Returns whether the reference itself says that this case has no determined answer. */
    public boolean ambiguous() {
        return ambiguous;
    }

    /** Returns {@code case.json}: kind, activation, topk, r, sizes, lambda_geom, lambda_pres, alpha. */
    public JsonNode settings() {
        return settings;
    }

    public int rank() {
        return settings.get("r").asInt();
    }

    /** An input tensor by its name on file; a vector is one row. */
    public Matrix input(String tensor) {
        return inputs.tensor(tensor).toMatrix();
    }

    public boolean hasInput(String tensor) {
        return inputs.contains(tensor);
    }

    /** The trained decoder's weights, k x d. */
    public Matrix decoderWeights() {
        return input("W_dec").transpose();
    }

    /** Rows of the target space, {@code when} = "id" or "ood": {@code targets_*} where there are any. */
    public Matrix targets(String when) {
        return input((hasInput("targets_" + when) ? "targets_" : "activations_") + when);
    }

    /** An expected tensor by its name on file; a vector is one row. */
    public Matrix expected(String tensor) {
        return expected.tensor(tensor).toMatrix();
    }

    /** The expected value of a scalar, NaN where it is undefined. */
    public double scalar(String key) {
        JsonNode value = entry(expectedScalars, key).get("value");
        return value.isNull() ? Double.NaN : value.asDouble();
    }

    /** Compares a scalar within its own tolerance; null is "undefined" and must be so on both sides. */
    public void assertScalar(String key, @Nullable Double actual) {
        JsonNode entry = entry(expectedScalars, key);
        JsonNode value = entry.get("value");
        if (value.isNull()) {
            assertNull(actual, "%s: %s is undefined in the reference".formatted(name, key));
            return;
        }
        assertNotNull(actual, "%s: %s".formatted(name, key));
        double tolerance = entry.has("atol") ? entry.get("atol").asDouble() : 0.0;
        note(key, Math.abs(actual - value.asDouble()), tolerance);
        assertEquals(value.asDouble(), actual, tolerance, "%s: %s".formatted(name, key));
    }

    /** Compares a matrix by the Frobenius norm of the difference. */
    public void assertMatrix(String tensor, Matrix actual) {
        Matrix reference = expected(tensor);
        double tolerance = entry(expectedMatrices, tensor).get("fro_atol").asDouble();
        double distance = actual.minus(reference).frobeniusNorm();
        note(tensor, distance, tolerance);
        assertTrue(
                distance <= tolerance,
                "%s: %s is off by %s, tolerance %s".formatted(name, tensor, distance, tolerance));
    }

    /** Compares a vector with the expected one. */
    public void assertVector(String tensor, double[] actual) {
        assertMatrix(tensor, new Matrix(1, actual.length, Arrays.copyOf(actual, actual.length)));
    }

    /** The largest deviation seen, in words. */
    String worst() {
        return "%s: largest deviation %.2e of its tolerance, at %s".formatted(name, worst, worstName);
    }

    private void note(String key, double deviation, double tolerance) {
        double share = tolerance == 0.0 ? (deviation == 0.0 ? 0.0 : Double.POSITIVE_INFINITY) : deviation / tolerance;
        if (share > worst) {
            worst = share;
            worstName = key;
        }
    }

    private JsonNode entry(JsonNode entries, String key) {
        JsonNode entry = entries.get(key);
        assertNotNull(entry, "%s has no expected \"%s\"".formatted(name, key));
        return entry;
    }
}
