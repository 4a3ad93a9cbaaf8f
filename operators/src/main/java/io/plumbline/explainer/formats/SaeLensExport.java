package io.plumbline.explainer.formats;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.GatedEncoder;
import io.plumbline.explainer.JumpReluEncoder;
import io.plumbline.explainer.Normalisation;
import io.plumbline.explainer.NormalisingEncoder;
import io.plumbline.explainer.TopKEncoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.AtomicFile;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * Writes an explainer of another format, with an adapted decoder, as a SAELens folder: everything folded, nothing
 * subtracted or rescaled. Weights are float32, or float64 where they came so.
 */
final class SaeLensExport {

    private SaeLensExport() {}

    static void write(
            Explainer original,
            Decoder adapted,
            DType dtype,
            Map<String, String> lineage,
            Path outDirectory,
            Blueprint blueprint)
            throws IOException {
        AdaptedFolder.requireWritable(original, adapted, dtype);
        AdaptedFolder.requireItsDecoder(original, blueprint.decoder());
        DType wide = dtype == DType.F64 || WeightTensors.isDouble(blueprint.tensors, blueprint.encoderWeights.tensor())
                ? DType.F64
                : DType.F32;
        Normalisation normalisation = Normalisation.NONE;
        Encoder encoder = original.encoder();
        if (encoder instanceof NormalisingEncoder normalising) {
            normalisation = normalising.normalisation();
            encoder = normalising.inner();
        }
        ObjectNode config =
                config(original.architecture(), blueprint.inputWidth, blueprint.features, normalisation, wide);
        if (original.isTranscoder()) {
            config.put("d_out", blueprint.targetWidth);
        }
        Matrix encoderWeights = blueprint.encoderWeights();
        double[] encoderBias = blueprint.encoderBias();
        SafetensorsWriter writer = SafetensorsWriter.create().metadata("format", "pt");
        lineage.forEach(writer::metadata);
        writer.add("W_enc", wide, encoderWeights)
                .add("W_dec", wide, adapted.weights())
                .addVector("b_dec", wide, adapted.bias());
        if (encoder instanceof GatedEncoder gated) {
            addGated(writer, gated, encoderBias, wide);
        } else {
            writer.addVector("b_enc", wide, encoderBias);
        }
        if (encoder instanceof TopKEncoder topK) {
            config.put("k", topK.k()).put("rescale_acts_by_decoder_norm", false);
        } else if (encoder instanceof JumpReluEncoder jumpRelu) {
            writer.addVector("threshold", wide, jumpRelu.threshold());
        }
        writer.sealed();
        AtomicFile.writeFolder(outDirectory, folder -> writeFiles(folder, writer, config));
    }

    /**
     * Writes a transcoder that is no file of its own into a folder that is being written.
     *
     * @param encoder with relu or thresholds
     * @param encoderWeights {@code d_in x d_sae}
     */
    static void writeTranscoder(
            Encoder encoder,
            Matrix encoderWeights,
            double[] encoderBias,
            Decoder adapted,
            DType dtype,
            Map<String, String> lineage,
            Path folder)
            throws IOException {
        SafetensorsWriter writer = SafetensorsWriter.create().metadata("format", "pt");
        lineage.forEach(writer::metadata);
        writer.add("W_enc", dtype, encoderWeights)
                .addVector("b_enc", dtype, encoderBias)
                .add("W_dec", dtype, adapted.weights())
                .addVector("b_dec", dtype, adapted.bias());
        String architecture = "transcoder";
        if (encoder instanceof JumpReluEncoder jumpRelu) {
            architecture = "jumprelu_transcoder";
            writer.addVector("threshold", dtype, jumpRelu.threshold());
        }
        writer.sealed();
        ObjectNode config = config(
                        architecture, encoderWeights.rows(), encoderWeights.columns(), Normalisation.NONE, dtype)
                .put("d_out", adapted.dimension());
        Files.createDirectory(folder);
        writeFiles(folder, writer, config);
    }

    private static void writeFiles(Path folder, SafetensorsWriter writer, ObjectNode config) throws IOException {
        writer.writeTo(folder.resolve(SaeLensFormat.WEIGHTS_FILE));
        AtomicFile.write(
                folder.resolve(SaeLensConfig.FILE), config.toPrettyString().getBytes(StandardCharsets.UTF_8));
    }

    private static void addGated(SafetensorsWriter writer, GatedEncoder gated, double[] gateBias, DType wide) {
        double[] factor = gated.factor();
        double[] magnitudeBias = gated.shift();
        for (int j = 0; j < factor.length; j++) {
            magnitudeBias[j] += factor[j] * gateBias[j];
            factor[j] = Math.log(factor[j]);
        }
        writer.addVector("b_gate", wide, gateBias)
                .addVector("b_mag", wide, magnitudeBias)
                .addVector("r_mag", wide, factor);
    }

    private static ObjectNode config(
            String architecture, int inputWidth, int features, Normalisation normalisation, DType wide) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("architecture", architecture)
                .put("d_in", inputWidth)
                .put("d_sae", features)
                .put("dtype", wide == DType.F64 ? "float64" : "float32")
                .put("device", "cpu")
                .put("apply_b_dec_to_input", false)
                .put("reshape_activations", "none")
                .put(
                        "normalize_activations",
                        switch (normalisation) {
                            case NONE -> "none";
                            case CONSTANT_NORM -> "constant_norm_rescale";
                            case LAYER_NORM -> "layer_norm";
                        });
    }
}
