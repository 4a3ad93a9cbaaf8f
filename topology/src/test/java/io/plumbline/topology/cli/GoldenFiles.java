package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.golden.GoldenCase;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;

/** The files of golden cases as the commands take them: explainer folders, dumps and baselines. */
abstract class GoldenFiles {

    static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    Path folder;

    Path baseline(GoldenCase golden, Path explainer) throws IOException {
        Path file = folder.resolve("baseline.safetensors");
        Shell shell = Shell.run(
                "baseline",
                "--explainer",
                explainer,
                "--activations",
                dump(golden, "id"),
                "--rank",
                golden.rank(),
                "--out",
                file,
                "--json");
        assertEquals(0, shell.exitCode(), shell.err());
        JsonNode answer = JSON.readTree(shell.out());
        golden.assertScalar("N_id", number(answer, "rows"));
        golden.assertScalar("fvu_fixed_id", number(answer, "reconstruction_fvu"));
        return file;
    }

    Path dump(GoldenCase golden, String when) throws IOException {
        String targets = "targets_" + when;
        return dump(when, golden.input("activations_" + when), golden.hasInput(targets) ? golden.input(targets) : null);
    }

    Path dump(String name, Matrix activations, @Nullable Matrix targets) throws IOException {
        SafetensorsWriter writer = SafetensorsWriter.create().add("activations", DType.F64, activations);
        if (targets != null) {
            writer.add("targets", DType.F64, targets);
        }
        Path file = folder.resolve(name + ".safetensors");
        writer.writeTo(file);
        return file;
    }

    /** Returns whether a case is a TopK transcoder, which SAELens does not have. */
    static boolean isTopKTranscoder(GoldenCase golden) {
        return golden.settings().get("kind").asText().equals("transcoder");
    }

    static String weightsFile(GoldenCase golden) {
        return isTopKTranscoder(golden) ? "layer_0.safetensors" : "sae_weights.safetensors";
    }

    /** The case's explainer as a SAELens folder, or circuit-tracer's: both weights transposed into its orientation. */
    Path explainer(GoldenCase golden) throws IOException {
        JsonNode settings = golden.settings();
        String activation = settings.get("activation").asText();
        if (isTopKTranscoder(golden)) {
            Path directory = Files.createDirectories(folder.resolve("explainer"));
            SafetensorsWriter.create()
                    .add("W_enc", DType.F64, golden.input("W_enc"))
                    .addVector("b_enc", DType.F64, golden.input("b_enc").values())
                    .add("W_dec", DType.F64, golden.decoderWeights())
                    .addVector("b_dec", DType.F64, golden.input("b_dec").values())
                    .writeTo(directory.resolve(weightsFile(golden)));
            Files.writeString(
                    directory.resolve("config.yaml"),
                    "model_kind: transcoder_set%nactivation: topk%nk: %s%n".formatted(settings.get("topk")));
            return directory;
        }
        String architecture = activation.equals("relu") ? "standard" : activation;
        Path directory = Files.createDirectories(folder.resolve("explainer"));
        SafetensorsWriter writer = SafetensorsWriter.create()
                .add("W_enc", DType.F64, golden.input("W_enc").transpose())
                .addVector("b_enc", DType.F64, golden.input("b_enc").values())
                .add("W_dec", DType.F64, golden.decoderWeights())
                .addVector("b_dec", DType.F64, golden.input("b_dec").values());
        if (golden.hasInput("threshold")) {
            writer.addVector("threshold", DType.F64, golden.input("threshold").values());
        }
        writer.writeTo(directory.resolve("sae_weights.safetensors"));
        Files.writeString(directory.resolve("cfg.json"), """
                {"architecture": "%s", "d_in": %d, "d_out": %d, "d_sae": %d, "k": %s, "activation_fn": "%s",
                 "apply_b_dec_to_input": false, "normalize_activations": "none", "dtype": "float64",
                 "metadata": {"hook_name": "golden.hook"}}
                """.formatted(
                        architecture,
                        settings.get("d_in").asInt(),
                        settings.get("d_out").asInt(),
                        settings.get("k").asInt(),
                        settings.get("topk"),
                        activation));
        return directory;
    }

    static @Nullable Double number(JsonNode answer, String key) {
        JsonNode value = answer.get(key);
        return value == null || value.isNull() ? null : Double.valueOf(value.asDouble());
    }
}
