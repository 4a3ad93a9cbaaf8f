package io.plumbline.explainer.formats;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.AtomicFile;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Writes an adapted decoder in the format it came in, where that is safetensors and a configuration beside it: the
 * decoder's tensors are new, the others keep their bytes.
 *
 * <p>Where the library subtracts the decoder's bias from the input, the encoder's bias is moved by as much as the new
 * bias moves the pre-activations, in the type of the file, float32 for 16-bit ones; all tensors are then of that type.
 */
final class SafetensorsInPlace {

    private SafetensorsInPlace() {}

    /**
     * Writes the folder.
     *
     * @param weights the opened file
     * @param name of the weights in the folder
     * @param copied files that are copied from the explainer's folder
     */
    static void write(
            Explainer original,
            Decoder adapted,
            DType dtype,
            Map<String, String> lineage,
            Path outDirectory,
            Blueprint blueprint,
            Safetensors weights,
            String name,
            List<String> copied)
            throws IOException {
        AdaptedFolder.requireWritable(original, adapted, dtype);
        AdaptedFolder.requireItsDecoder(original, blueprint.decoder());
        SafetensorsWriter writer = AdaptedFolder.writer(weights, lineage);
        DType stored = weights.tensor(blueprint.encoderWeights.tensor()).dtype();
        // sparsify takes all tensors for what the first one is.
        boolean widened = blueprint.subtractsDecoderBias;
        DType wide = stored == DType.F64 || dtype == DType.F64 ? DType.F64 : DType.F32;
        for (String tensorName : weights.names()) {
            Tensor tensor = weights.tensor(tensorName);
            if (tensorName.equals(blueprint.decoderWeights.tensor())) {
                boolean featureFirst = blueprint.decoderWeights.featureFirst()
                        ? WeightTensors.isAsStored(tensor, blueprint.features, blueprint.targetWidth, "d_sae x d_out")
                        : !WeightTensors.isAsStored(tensor, blueprint.targetWidth, blueprint.features, "d_out x d_sae");
                writer.add(
                        tensorName,
                        widened ? wide : dtype,
                        featureFirst ? adapted.weights() : adapted.weights().transpose());
            } else if (tensorName.equals(blueprint.decoderBias)) {
                writer.addVector(tensorName, widened ? wide : dtype, adapted.bias());
            } else if (widened && tensorName.equals(blueprint.encoderBias)) {
                writer.addVector(tensorName, wide, movedBias(blueprint, adapted.bias()));
            } else if (widened && tensor.dtype().isFloatingPoint() && tensor.dtype() != wide) {
                addWidened(writer, tensor, wide);
            } else {
                AdaptedFolder.addUntouched(writer, tensor);
            }
        }
        writer.sealed();
        AtomicFile.writeFolder(outDirectory, folder -> {
            writer.writeTo(folder.resolve(name));
            for (String file : copied) {
                AtomicFile.write(
                        folder.resolve(file),
                        Files.readAllBytes(original.directory().resolve(file)));
            }
        });
    }

    /**
     * Returns the bias under which {@code x - b} gives the pre-activations that the trained one gave, for the new b.
     */
    private static double[] movedBias(Blueprint blueprint, double[] decoderBias) {
        double[] bias = blueprint.encoderBias();
        Matrix weights = blueprint.encoderWeights();
        for (int input = 0; input < decoderBias.length; input++) {
            Kernels.addScaled(decoderBias[input], weights.values(), input * bias.length, bias, 0, bias.length);
        }
        return bias;
    }

    private static void addWidened(SafetensorsWriter writer, Tensor tensor, DType wide) {
        if (tensor.shape().size() == 2) {
            writer.add(tensor.name(), wide, tensor.toMatrix());
        } else {
            writer.addVector(tensor.name(), wide, tensor.toDoubles());
        }
    }
}
