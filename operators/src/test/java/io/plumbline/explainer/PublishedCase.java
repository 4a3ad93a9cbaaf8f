package io.plumbline.explainer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.Safetensors;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** An explainer as its own library saved it, with what that library computed; see the README of {@code explainers/}. */
public record PublishedCase(Path folder, JsonNode json) {

    static final Path ROOT = root();

    static List<PublishedCase> all() {
        try (Stream<Path> folders = Files.list(ROOT)) {
            return folders.filter(Files::isDirectory)
                    .sorted()
                    .map(PublishedCase::of)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static PublishedCase named(String name) {
        return of(ROOT.resolve(name));
    }

    private static PublishedCase of(Path folder) {
        try {
            return new PublishedCase(
                    folder,
                    JsonMapper.builder()
                            .build()
                            .readTree(folder.resolve("case.json").toFile()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns whether what a library computes is a function of one row at one site; pickles are. */
    boolean isRead() {
        return !json.get("expect").asText().equals("refuse");
    }

    public Path explainer() {
        return folder.resolve(json.get("explainer").asText());
    }

    /** Returns what a user has to tell of it. */
    ExplainerOptions options() {
        Map<String, String> options = new TreeMap<>();
        String name = folder.getFileName().toString();
        if (name.startsWith("circuit_tracer") && json.has("layer")) {
            options.put("layer", json.get("layer").asText());
        }
        switch (name) {
            case "gemma_scope_1_residual" -> options.put("kind", "sae");
            case "qwen_scope" -> options.put("k", "8");
            case "llama_scope_r1_distill" ->
                options.put("norm", json.get("norm_scaling_factor").asText());
            default -> {}
        }
        return new ExplainerOptions(options);
    }

    double fvu() {
        return json.get("fvu").asDouble();
    }

    double tolerance(String of) {
        return json.get("tolerance").get(of).asDouble();
    }

    /** A tensor of what the library computed; null where there is none. */
    @Nullable
    Matrix io(String tensor) throws IOException {
        try (Safetensors io = Safetensors.open(folder.resolve("io.safetensors"))) {
            return io.contains(tensor) ? io.tensor(tensor).toMatrix() : null;
        }
    }

    Matrix activations() throws IOException {
        return Objects.requireNonNull(io("activations"));
    }

    /** Returns what the explainer should give back. */
    Matrix targets() throws IOException {
        Matrix targets = io("targets");
        return targets == null ? activations() : targets;
    }

    /** Returns its name, which a test shows. */
    @Override
    public String toString() {
        return folder.getFileName().toString();
    }

    private static Path root() {
        try {
            return Path.of(Objects.requireNonNull(PublishedCase.class.getResource("/explainers"))
                    .toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
