package io.plumbline.demo;

import io.plumbline.fixtures.TemporaryFolder;
import io.plumbline.topology.cli.UsageException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A private temporary folder with the live model, or beside a model of one's own; nothing of it is left behind when it
 * is closed.
 *
 * <pre>
 * model/body.onnx        token_ids [1, T] -> activations [T, d]
 * model/head.onnx        activations [T, d] -> logits [T, V]
 * model/tokenizer.json   byte-level byte pairs, as GPT-2 has
 * explainer/             of the activations
 * texts/normal.txt       like what the explainer was trained on: the baseline
 * texts/english.txt      the same, not in the baseline
 * texts/spanish.txt      another
 * </pre>
 */
final class LiveFolder implements AutoCloseable {

    private static final List<String> FILES = List.of(
            "model/body.onnx",
            "model/head.onnx",
            "model/tokenizer.json",
            "explainer/cfg.json",
            "explainer/sae_weights.safetensors",
            "texts/normal.txt",
            "texts/english.txt",
            "texts/spanish.txt");

    private final TemporaryFolder folder;
    private final Path model;

    private LiveFolder(TemporaryFolder folder, Path model) {
        this.folder = folder;
        this.model = model;
    }

    /** @param own a folder with a model of one's own, or null */
    static LiveFolder open(@Nullable Path own) throws IOException {
        if (own != null) {
            for (String file : FILES.subList(0, FILES.size() - 1)) {
                if (!file.startsWith("explainer/") && !Files.isRegularFile(own.resolve(file))) {
                    throw new UsageException("--model = %s: it has no %s".formatted(own, file));
                }
            }
            if (!Files.exists(own.resolve("explainer"))) {
                throw new UsageException("--model = %s: it has no explainer".formatted(own));
            }
            return new LiveFolder(TemporaryFolder.create("plumbline-demo-"), own.toAbsolutePath());
        }
        TemporaryFolder folder = TemporaryFolder.create("plumbline-demo-");
        try {
            for (String file : FILES) {
                Path target = folder.root().resolve(file);
                Files.createDirectories(target.getParent());
                try (InputStream in = LiveFolder.class.getResourceAsStream("live/" + file)) {
                    if (in == null) {
                        throw new IllegalStateException("live/%s is missing from the jar".formatted(file));
                    }
                    Files.copy(in, target);
                }
            }
            return new LiveFolder(folder, folder.root());
        } catch (IOException | RuntimeException broken) {
            folder.close();
            throw broken;
        }
    }

    Path root() {
        return folder.root();
    }

    Path body() {
        return model.resolve("model/body.onnx");
    }

    Path head() {
        return model.resolve("model/head.onnx");
    }

    Path tokenizer() {
        return model.resolve("model/tokenizer.json");
    }

    Path explainer() {
        return model.resolve("explainer");
    }

    Path text(String name) {
        return model.resolve("texts/" + name + ".txt");
    }

    /** Returns the configuration with the places filled in that are only known now. */
    String configuration(String bootstrapServers, long firstToken) throws IOException {
        try (InputStream in = LiveFolder.class.getResourceAsStream("live.yaml")) {
            if (in == null) {
                throw new IllegalStateException("live.yaml is missing from the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .replace("@BOOTSTRAP@", bootstrapServers)
                    .replace("@FIRST@", Long.toString(firstToken))
                    .replace("@EXPLAINER@", escaped(explainer()))
                    .replace("@FOLDER@", escaped(root()));
        }
    }

    private static String escaped(Path path) {
        return path.toString().replace("\\", "\\\\").replace("\"", "\\\"");
    }

    @Override
    public void close() {
        folder.close();
    }
}
