package io.plumbline.explainer.formats;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.linalg.Weights;
import io.plumbline.wire.AtomicFile;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.Tensor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes adapted decoders of a cross-layer transcoder of OpenMOSS in the layout it came in. Decoders and biases are
 * written times the scale of their target, and every threshold times what the lengths of its feature's decoder rows
 * grew by, so that which features are active stays as it was. Everything else keeps its bytes.
 */
final class OpenMossCrossLayerExport {

    private static final double NEVER = Math.log(1e30);

    private OpenMossCrossLayerExport() {}

    static void write(
            OpenMossCrossLayer set,
            List<Explainer> originals,
            List<Decoder> adapted,
            DType dtype,
            Map<String, String> lineage,
            Path outDirectory)
            throws IOException {
        Map<String, ByteBuffer> weights = new HashMap<>();
        Map<String, double[]> biases = new HashMap<>();
        for (int i = 0; i < originals.size(); i++) {
            int target = set.place(originals.get(i));
            Decoder decoder = adapted.get(i);
            AdaptedFolder.requireWritable(originals.get(i), decoder, dtype);
            AdaptedFolder.requireItsDecoder(originals.get(i), set.decoder(target));
            double[] bias = decoder.bias().clone();
            OpenMossLayers.multiply(bias, set.scaleOut(target));
            biases.put(OpenMossCrossLayer.decoderBias(target), bias);
            weights.put(
                    OpenMossCrossLayer.decoderWeights(target), scaled(decoder.weights(), set.scaleOut(target), dtype));
        }
        Safetensors file = set.layers.tensors;
        SafetensorsWriter writer = AdaptedFolder.writer(file, lineage);
        for (String name : file.names()) {
            double[] bias = biases.get(name);
            ByteBuffer changed = weights.get(name);
            if (name.equals(OpenMossFormat.THRESHOLD) && set.needsLengths()) {
                changed = thresholds(set, weights, dtype);
            }
            if (bias != null) {
                writer.addVector(name, dtype, bias);
            } else if (changed != null) {
                writer.addRaw(name, dtype, shape(file, name), changed);
            } else {
                AdaptedFolder.addUntouched(writer, file.tensor(name));
            }
        }
        writer.sealed();
        byte[] config = Files.readAllBytes(originals.get(0).directory().resolve(OpenMossFormat.CONFIG_FILE));
        AtomicFile.writeFolder(outDirectory, folder -> {
            writer.writeTo(folder.resolve(OpenMossFormat.WEIGHTS_FILE));
            AtomicFile.write(folder.resolve(OpenMossFormat.CONFIG_FILE), config);
        });
    }

    private static long[] shape(Safetensors file, String name) {
        return file.shape(name).stream().mapToLong(Long::longValue).toArray();
    }

    private static ByteBuffer scaled(Weights weights, double factor, DType dtype) {
        ByteBuffer out = buffer((long) weights.rows() * weights.columns(), dtype);
        double[] row = new double[weights.columns()];
        for (int j = 0; j < weights.rows(); j++) {
            weights.copyTo(j * row.length, row, 0, row.length);
            OpenMossLayers.multiply(row, factor);
            dtype.put(out, row);
        }
        return out.flip();
    }

    /** Returns the logarithms of all thresholds: those of the file, and that of each growth in length. */
    private static ByteBuffer thresholds(OpenMossCrossLayer set, Map<String, ByteBuffer> adapted, DType dtype) {
        OpenMossLayers layers = set.layers;
        ByteBuffer out = buffer((long) layers.layers * layers.features, dtype);
        for (int source = 0; source < layers.layers; source++) {
            double[] logarithms = layers.vector(OpenMossFormat.THRESHOLD, source);
            double[] before = set.lengths(source);
            double[] after = lengths(set, source, adapted, dtype);
            for (int j = 0; j < logarithms.length; j++) {
                if (before[j] > 0.0 && after[j] > 0.0 && before[j] != after[j]) {
                    logarithms[j] += Math.log(after[j] / before[j]);
                } else if (before[j] == 0.0 && after[j] > 0.0) {
                    // It was never active, since it wrote nothing: no pre-activation comes near this threshold.
                    logarithms[j] = NEVER + Math.log(after[j]);
                }
            }
            dtype.put(out, logarithms);
        }
        return out.flip();
    }

    /** Returns lengths of rows as they are written, rounded as they are. */
    private static double[] lengths(OpenMossCrossLayer set, int source, Map<String, ByteBuffer> adapted, DType dtype) {
        OpenMossLayers layers = set.layers;
        double[] sums = new double[layers.features];
        for (int target = source; target < layers.layers; target++) {
            ByteBuffer written = adapted.get(OpenMossCrossLayer.decoderWeights(target));
            if (written == null) {
                Tensor kept = set.part(target, source);
                OpenMossLayers.addSquares(layers.decoderWeights(kept), sums);
                continue;
            }
            int at = source * layers.features * layers.width * dtype.bytes();
            for (int j = 0; j < sums.length; j++) {
                for (int i = 0; i < layers.width; i++, at += dtype.bytes()) {
                    double value = dtype == DType.F64 ? written.getDouble(at) : written.getFloat(at);
                    sums[j] += value * value;
                }
            }
        }
        for (int j = 0; j < sums.length; j++) {
            sums[j] = Math.sqrt(sums[j]);
        }
        return sums;
    }

    private static ByteBuffer buffer(long values, DType dtype) {
        if (values * dtype.bytes() > Integer.MAX_VALUE - 8) {
            throw new ExplainerFormatException(
                    ("a decoder of %d weights takes more as %s than one tensor of this program holds; write it as F32, "
                                    + "or adapt a lower target layer")
                            .formatted(values, dtype));
        }
        return ByteBuffer.allocate((int) (values * dtype.bytes())).order(ByteOrder.LITTLE_ENDIAN);
    }
}
