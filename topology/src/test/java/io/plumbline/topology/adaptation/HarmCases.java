package io.plumbline.topology.adaptation;

import io.plumbline.baseline.Baseline;
import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.JumpReluEncoder;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampledRow;
import io.plumbline.toy.ToyExplainer;
import io.plumbline.toy.ToyStream;
import io.plumbline.wire.Safetensors;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** Makes the shifts there are data for. */
final class HarmCases {

    private static final int RANK = 32;
    private static final int WINDOW = 2_048;
    private static final int ALL = Integer.MAX_VALUE;

    private HarmCases() {}

    /** The demonstration's autoencoder; its baseline keeps rows of English that are not in the English recording. */
    static HarmCase german(Path folder) throws IOException {
        for (String name : List.of(
                "cfg.json",
                "sae_weights.safetensors",
                "baseline.safetensors",
                "german.safetensors",
                "english.safetensors")) {
            try (InputStream in = Objects.requireNonNull(
                    HarmCases.class.getResourceAsStream("/io/plumbline/fixtures/" + name), name)) {
                Files.copy(in, folder.resolve(name));
            }
        }
        return autoencoder(
                "autoencoder, German",
                folder,
                folder.resolve("german.safetensors"),
                WINDOW,
                Baseline.read(folder.resolve("baseline.safetensors")).rows(),
                folder.resolve("english.safetensors"));
    }

    /** Recordings that are not part of the project: explainer, transcoder, activations and transcoder_activations. */
    static List<HarmCase> recorded(Path recordings) throws IOException {
        Path activations = recordings.resolve("activations");
        List<SampledRow> english = HarmCase.rows(activations.resolve("en_baseline.safetensors"), 0, 2 * WINDOW);
        Path clean = activations.resolve("en.safetensors");
        return List.of(
                autoencoder(
                        "autoencoder, German",
                        recordings.resolve("explainer"),
                        activations.resolve("de.safetensors"),
                        WINDOW,
                        english,
                        clean),
                autoencoder(
                        "autoencoder, code",
                        recordings.resolve("explainer"),
                        activations.resolve("code.safetensors"),
                        WINDOW,
                        english,
                        clean),
                transcoder(recordings));
    }

    /** German rows as three windows pool them. */
    static HarmCase pooled(Path recordings) throws IOException {
        Path activations = recordings.resolve("activations");
        return autoencoder(
                "autoencoder, German, 6,000 rows",
                recordings.resolve("explainer"),
                activations.resolve("de.safetensors"),
                6_000,
                HarmCase.rows(activations.resolve("en_baseline.safetensors"), 0, 2 * WINDOW),
                activations.resolve("en.safetensors"));
    }

    private static HarmCase autoencoder(
            String name, Path explainer, Path shifted, int rows, List<SampledRow> baseline, Path clean)
            throws IOException {
        Explainer read = Formats.read(explainer);
        List<SampledRow> window = HarmCase.rows(shifted, 0, rows);
        return new HarmCase(
                name,
                read.encoder(),
                read.decoder(),
                RANK,
                window,
                HarmCase.rows(shifted, HarmCase.after(window), ALL),
                baseline,
                HarmCase.rows(clean, 0, 2 * WINDOW));
    }

    private static HarmCase transcoder(Path recordings) throws IOException {
        Explainer read = Formats.read(recordings.resolve("transcoder_sparsify"));
        Path shifted = recordings.resolve("transcoder_activations/de.safetensors");
        Path clean = recordings.resolve("transcoder_activations/en.safetensors");
        List<SampledRow> window = HarmCase.rows(shifted, 0, WINDOW);
        List<SampledRow> baseline = HarmCase.rows(clean, 0, WINDOW);
        return new HarmCase(
                "transcoder, German",
                read.encoder(),
                read.decoder(),
                RANK,
                window,
                HarmCase.rows(shifted, HarmCase.after(window), ALL),
                baseline,
                HarmCase.rows(clean, HarmCase.after(baseline), 2 * WINDOW));
    }

    /** The paper's controlled setting at full severity: ReLU as trained, and the same features with thresholds. */
    static List<HarmCase> toy(int rows) {
        ToyExplainer relu = ToyExplainer.autoencoder();
        ToyExplainer transcoder = ToyExplainer.transcoder();
        return List.of(
                toy("toy autoencoder, ReLU", relu.encoder(), relu, false, rows),
                toy("toy autoencoder, JumpReLU", thresholds(), relu, false, rows),
                toy("toy transcoder, ReLU", transcoder.encoder(), transcoder, true, rows));
    }

    private static HarmCase toy(String name, Encoder encoder, ToyExplainer explainer, boolean inputs, int rows) {
        int worst = ToyStream.SEVERITIES - 1;
        return new HarmCase(
                name,
                encoder,
                explainer.decoder(),
                ToyStream.RANK,
                toyRows(worst, 0, rows, inputs),
                toyRows(worst, rows, rows, inputs),
                toyRows(0, 2 * rows, rows, inputs),
                toyRows(0, 3 * rows, 2 * rows, inputs));
    }

    private static List<SampledRow> toyRows(int severity, int from, int count, boolean inputs) {
        ToyStream.Rows rows = ToyStream.load().rows(severity, 7, from, count);
        return HarmCase.rows(inputs ? rows.inputs() : rows.hidden(), rows.hidden());
    }

    private static Encoder thresholds() {
        try (InputStream in = Objects.requireNonNull(ToyExplainer.class.getResourceAsStream("sae_k1024.safetensors"))) {
            Safetensors file = Safetensors.parse(in.readAllBytes());
            Matrix weights = file.tensor("W_enc").toMatrix();
            double[] threshold = new double[weights.rows()];
            Arrays.fill(threshold, 0.05);
            return JumpReluEncoder.of(weights, file.tensor("b_enc").toDoubles(), threshold);
        } catch (IOException e) {
            throw new IllegalStateException("a resource of this project", e);
        }
    }
}
