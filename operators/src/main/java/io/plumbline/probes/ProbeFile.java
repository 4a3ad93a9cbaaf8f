package io.plumbline.probes;

import com.fasterxml.jackson.databind.JsonNode;
import io.plumbline.explainer.ConfigFile;
import io.plumbline.wire.NpzFile;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.Tensor;
import io.plumbline.wire.TensorFile;
import io.plumbline.wire.TorchFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Names a file of one probe, as people save them: {@code .safetensors}, {@code .npz}, {@code .pt}, or the coefficients
 * of scikit-learn as {@code .json}.
 *
 * <ul>
 *   <li>{@code weight}, {@code w}, {@code direction}, {@code coef}, {@code coef_}: [d], [1, d] or [d, 1]
 *   <li>{@code bias}, {@code b}, {@code intercept}, {@code intercept_}: one number; 0 where it is absent
 *   <li>{@code query}, {@code v}: [d], of a probe that pools
 *   <li>{@code threshold}: one number, or text in the metadata; 0 where nobody says
 * </ul>
 *
 * <p>A name may have a module in front, such as {@code linear.weight}. Anything else is refused by name, since it may
 * change the arithmetic. Sizes are compared with the width of the rows before anything is allocated.
 *
 * @param file its path
 * @param name how reports call it; null: as the file is called, without its ending
 * @param threshold above it a score counts; null: as the file says
 */
public record ProbeFile(
        Path file, @Nullable String name, @Nullable Double threshold) {

    /** Most characters of a name, which is a label of metrics. */
    public static final int LONGEST_NAME = 100;

    private static final String WEIGHT = "weight";
    private static final String BIAS = "bias";
    private static final String QUERY = "query";
    private static final String THRESHOLD = "threshold";
    private static final Map<String, List<String>> NAMES = new TreeMap<>(Map.of(
            WEIGHT, List.of("weight", "w", "direction", "coef", "coef_"),
            BIAS, List.of("bias", "b", "intercept", "intercept_"),
            QUERY, List.of("query", "v"),
            THRESHOLD, List.of("threshold")));

    /** Keys of scikit-learn's estimators on which no score depends. */
    private static final List<String> BESIDE = List.of("classes_", "n_features_in_", "n_iter_");

    /** Returns how reports call it. */
    public String label() {
        if (name != null) {
            return name;
        }
        String text = String.valueOf(file.getFileName());
        int dot = text.lastIndexOf('.');
        return dot > 0 ? text.substring(0, dot) : text;
    }

    /**
     * Reads the probe.
     *
     * @param width d, of the rows that it reads
     * @throws IllegalArgumentException saying what is wrong with the file, and what to write instead
     */
    public Probe read(int width) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new IllegalArgumentException("%s: no such file; expected a probe".formatted(file));
        }
        try {
            String ending = String.valueOf(file.getFileName()).toLowerCase(Locale.ROOT);
            if (ending.endsWith(".json")) {
                return json(width);
            }
            if (ending.endsWith(".safetensors")) {
                try (Safetensors tensors = Safetensors.open(file)) {
                    return probe(tensors, tensors.metadata(), width);
                }
            }
            if (ending.endsWith(".npz")) {
                try (NpzFile arrays = NpzFile.open(file)) {
                    return probe(arrays, Map.of(), width);
                }
            }
            if (ending.endsWith(".pt") || ending.endsWith(".pth")) {
                try (TorchFile tensors = TorchFile.open(file)) {
                    return probe(tensors, tensors.values(), width);
                }
            }
        } catch (IllegalArgumentException refused) {
            String message = String.valueOf(refused.getMessage());
            throw new IllegalArgumentException(
                    message.startsWith(file + ":") ? message : "%s: %s".formatted(file, message), refused);
        }
        throw new IllegalArgumentException(
                "%s: expected a file that ends with .safetensors, .npz, .pt or .json".formatted(file));
    }

    private Probe probe(TensorFile tensors, Map<String, ?> beside, int width) {
        Map<String, String> found = found(tensors.names());
        double[] weight = vector(tensors.tensor(required(found, tensors.names())), width);
        String query = found.get(QUERY);
        return new Probe(
                label(),
                weight,
                scalar(tensors, found.get(BIAS), beside.get(BIAS)),
                threshold == null ? scalar(tensors, found.get(THRESHOLD), beside.get(THRESHOLD)) : threshold,
                query == null ? null : vector(tensors.tensor(query), width));
    }

    private Probe json(int width) throws IOException {
        ConfigFile read = ConfigFile.json(file);
        List<String> keys = new ArrayList<>();
        read.document().fieldNames().forEachRemaining(keys::add);
        keys.removeAll(BESIDE);
        Map<String, String> found = found(keys);
        double[] weight = numbers(read, required(found, keys), width);
        String query = found.get(QUERY);
        return new Probe(
                label(),
                weight,
                found.containsKey(BIAS) ? numbers(read, found.get(BIAS), 1)[0] : 0.0,
                threshold != null
                        ? threshold
                        : found.containsKey(THRESHOLD) ? numbers(read, found.get(THRESHOLD), 1)[0] : 0.0,
                query == null ? null : numbers(read, query, width));
    }

    /** Returns the key of the file for each part of a probe. */
    private static Map<String, String> found(Collection<String> keys) {
        Map<String, String> found = new TreeMap<>();
        for (String key : keys) {
            String last = key.substring(key.lastIndexOf('.') + 1);
            String part = NAMES.entrySet().stream()
                    .filter(entry -> entry.getValue().contains(last))
                    .map(Map.Entry::getKey)
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException(
                            "\"%s\" is nothing of a probe; keep only %s".formatted(key, NAMES.values())));
            String other = found.put(part, key);
            if (other != null) {
                throw new IllegalArgumentException(
                        "\"%s\" and \"%s\" are both the %s; keep one, a probe a file".formatted(other, key, part));
            }
        }
        return found;
    }

    private static String required(Map<String, String> found, Collection<String> keys) {
        String weight = found.get(WEIGHT);
        if (weight == null) {
            throw new IllegalArgumentException(
                    "has %s and no weight; write the direction under one of %s".formatted(keys, NAMES.get(WEIGHT)));
        }
        return weight;
    }

    private static double[] vector(Tensor tensor, int width) {
        long longest = tensor.shape().stream().mapToLong(Long::longValue).max().orElse(1);
        long ofOthers = tensor.shape().stream()
                .mapToLong(Long::longValue)
                .filter(size -> size != 1)
                .count();
        if (longest != width || ofOthers > 1) {
            throw wrongSize(tensor.name(), tensor.shape().toString(), width);
        }
        return finite(tensor.name(), tensor.toDoubles());
    }

    private static double scalar(TensorFile tensors, @Nullable String key, @Nullable Object beside) {
        if (key == null) {
            return beside == null ? 0.0 : number(beside);
        }
        Tensor tensor = tensors.tensor(key);
        if (tensor.shape().stream().anyMatch(size -> size != 1)) {
            throw wrongSize(key, tensor.shape().toString(), 1);
        }
        return finite(key, tensor.toDoubles())[0];
    }

    private static double number(Object text) {
        try {
            return finite("metadata", Double.parseDouble(text.toString()))[0];
        } catch (NumberFormatException noNumber) {
            throw new IllegalArgumentException(
                    "metadata: \"%s\" is no number; write one, such as 0.5".formatted(text), noNumber);
        }
    }

    private static double[] numbers(ConfigFile read, String key, int width) {
        JsonNode value = read.document().get(key);
        while (value.isArray() && value.size() == 1) {
            value = value.get(0);
        }
        JsonNode values = value;
        if (values.isNumber() && width == 1) {
            return finite(key, values.doubleValue());
        }
        if (!values.isArray() || values.size() != width || values.get(0).isArray()) {
            throw wrongSize(key, values.isArray() ? "[%d]".formatted(values.size()) : values.toString(), width);
        }
        double[] numbers = new double[width];
        for (int i = 0; i < width; i++) {
            if (!values.get(i).isNumber()) {
                throw new IllegalArgumentException("\"%s\": entry %d is %s, expected a number"
                        .formatted(key, i, values.get(i).getNodeType()));
            }
            numbers[i] = values.get(i).doubleValue();
        }
        return finite(key, numbers);
    }

    private static double[] finite(String key, double... values) {
        for (int i = 0; i < values.length; i++) {
            if (!Double.isFinite(values[i])) {
                throw new IllegalArgumentException(
                        "\"%s\": entry %d is %s, expected a number".formatted(key, i, values[i]));
            }
        }
        return values;
    }

    private static IllegalArgumentException wrongSize(String key, String shape, int width) {
        String expected = width == 1
                ? "one number"
                : "[%d], the width of the rows; of a probe with two classes write row 1 less row 0".formatted(width);
        return new IllegalArgumentException("\"%s\": shape %s, expected %s".formatted(key, shape, expected));
    }
}
