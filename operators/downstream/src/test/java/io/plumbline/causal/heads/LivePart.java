package io.plumbline.causal.heads;

import ai.onnxruntime.OrtException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The committed part of a live model: a head, explainers, requests and what an independent implementation found. */
public final class LivePart {

    private static final Path TESTS = checkout().resolve("operators/downstream/src/test/resources/live");
    private static final Path DEMONSTRATION =
            checkout().resolve("topology/demo/src/main/resources/io/plumbline/demo/live");

    private final String site;

    private LivePart(String site) {
        this.site = site;
    }

    public static LivePart autoencoder() {
        return new LivePart("sae");
    }

    public static LivePart transcoder() {
        return new LivePart("transcoder");
    }

    /** Returns the file of the head, which reads activations. */
    public static Path head() {
        return DEMONSTRATION.resolve("model/head.onnx");
    }

    /** Returns the first half of the model, which also makes what a transcoder reads and writes. */
    public static LiveModel model() throws OrtException {
        return new LiveModel(DEMONSTRATION.resolve("model/body.onnx"), TESTS.resolve("requests"));
    }

    /** Returns the explainer with all of its features. */
    public Explainer wholeExplainer() throws IOException {
        return Formats.read(wholeFolder());
    }

    public Path wholeFolder() {
        return site.equals("sae") ? DEMONSTRATION.resolve("explainer") : TESTS.resolve("explainers/transcoder");
    }

    public Path folder() {
        return TESTS.resolve(site);
    }

    public Path requests() {
        return folder().resolve("requests.safetensors");
    }

    public Explainer explainer() throws IOException {
        return Formats.read(folder());
    }

    public JsonNode json(String name) throws IOException {
        return new JsonMapper().readTree(folder().resolve(name).toFile());
    }

    /** Returns the trained decoder and every other that the oracle has, by name. */
    Map<String, Decoder> decoders() throws IOException {
        Explainer explainer = explainer();
        Map<String, Decoder> decoders = new LinkedHashMap<>();
        for (String name : json("oracle.json").path("methods").properties().stream()
                .map(Map.Entry::getKey)
                .toList()) {
            decoders.put(
                    name,
                    name.equals("fixed")
                            ? explainer.decoder()
                            : refit(folder().resolve(name + ".safetensors"), explainer));
        }
        return decoders;
    }

    /**
     * Reads a refit as the oracle measured it: with weights of float16, also where they are the trained ones and a file
     * has the bias alone.
     */
    static Decoder refit(Path file, Explainer explainer) throws IOException {
        Decoder read = DecoderFile.read(file, explainer, ExplainerOptions.NONE);
        Matrix rounded = read.weights().rowRange(0, read.features());
        for (int i = 0; i < rounded.values().length; i++) {
            rounded.values()[i] = DType.F16.rounded(rounded.values()[i]);
        }
        return new Decoder(rounded, read.bias());
    }

    /** Returns the ids in the whole explainer of the features that are left. */
    public long[] featureIds() throws IOException {
        try (Safetensors file = Safetensors.open(requests())) {
            return file.tensor("feature_ids").toLongs();
        }
    }

    /** Returns a head for targets and residual, made of one for activations: both are what their sum is to it. */
    static Head summing(Head activations) {
        return new Head() {
            @Override
            public boolean readsResidual() {
                return true;
            }

            @Override
            public Logits logits(Matrix rows, @Nullable Matrix residual) {
                return activations.logits(rows.plus(1.0, Objects.requireNonNull(residual)), null);
            }
        };
    }

    /**
     * Returns the folder of the checkout: tests of other modules have these classes in a jar, where a file has no path
     * that others can open.
     */
    private static Path checkout() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("mvnw"))) {
            folder = Objects.requireNonNull(folder.getParent(), "these tests run within a checkout");
        }
        return folder;
    }
}
