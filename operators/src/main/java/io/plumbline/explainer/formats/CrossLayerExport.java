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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Writes adapted decoders of a cross-layer transcoder's blocks in the format it came in: what is written into the
 * blocks' target layers is new, everything else keeps its bytes, or its values where a tensor's type is widened.
 */
final class CrossLayerExport {

    private static final Set<String> COMPANIONS = Set.of("config.yaml", "config.json");

    private CrossLayerExport() {}

    static void write(
            CrossLayer set,
            List<Explainer> originals,
            List<Decoder> adapted,
            DType dtype,
            Map<String, String> lineage,
            Path outDirectory)
            throws IOException {
        Map<Integer, Decoder> byTarget = new TreeMap<>();
        for (int i = 0; i < originals.size(); i++) {
            Explainer original = originals.get(i);
            int target = set.place(original.requireBlock().target());
            AdaptedFolder.requireWritable(original, adapted.get(i), dtype);
            AdaptedFolder.requireItsDecoder(original, set.decoder(target));
            byTarget.put(target, adapted.get(i));
        }
        Map<String, SafetensorsWriter> writers = new LinkedHashMap<>();
        for (Map.Entry<String, Safetensors> file : set.files().entrySet()) {
            writers.put(file.getKey(), writer(set, file.getValue(), byTarget, dtype, lineage));
        }
        Path folder = originals.get(0).directory();
        AtomicFile.writeFolder(outDirectory, out -> {
            for (Map.Entry<String, SafetensorsWriter> file : writers.entrySet()) {
                file.getValue().writeTo(out.resolve(file.getKey()));
            }
            for (String name : COMPANIONS) {
                if (Files.isRegularFile(folder.resolve(name))) {
                    AtomicFile.write(out.resolve(name), Files.readAllBytes(folder.resolve(name)));
                }
            }
        });
    }

    private static SafetensorsWriter writer(
            CrossLayer set, Safetensors file, Map<Integer, Decoder> adapted, DType dtype, Map<String, String> lineage) {
        SafetensorsWriter writer = AdaptedFolder.writer(file, lineage);
        for (String name : file.names()) {
            Tensor tensor = file.tensor(name);
            Decoder written = bias(set, file, name, adapted);
            int source = source(set, file, name);
            if (written != null) {
                writer.addVector(name, dtype, written.bias());
            } else if (source >= 0 && adapted.keySet().stream().anyMatch(target -> target >= source)) {
                long[] shape =
                        tensor.shape().stream().mapToLong(Long::longValue).toArray();
                writer.addRaw(name, dtype, shape, decoders(set, source, tensor, adapted, dtype));
            } else {
                AdaptedFolder.addUntouched(writer, tensor);
            }
        }
        return writer.sealed();
    }

    /** Returns the adapted decoder whose bias a tensor holds, or null. */
    private static @Nullable Decoder bias(
            CrossLayer set, Safetensors file, String name, Map<Integer, Decoder> adapted) {
        for (Map.Entry<Integer, Decoder> block : adapted.entrySet()) {
            Blueprint layer = set.layers().get(block.getKey()).encoder();
            if (layer.tensors == file && name.equals(layer.decoderBias)) {
                return block.getValue();
            }
        }
        return null;
    }

    /** Returns the layer whose features' decoders a tensor holds; below 0: it holds something else. */
    private static int source(CrossLayer set, Safetensors file, String name) {
        for (int s = 0; s < set.layers().size(); s++) {
            CrossLayer.Layer layer = set.layers().get(s);
            if (layer.decoders() == file && name.equals(layer.decoderWeights())) {
                return s;
            }
        }
        return -1;
    }

    private static ByteBuffer decoders(
            CrossLayer set, int source, Tensor trained, Map<Integer, Decoder> adapted, DType dtype) {
        CrossLayer.Layer layer = set.layers().get(source);
        int features = layer.encoder().features;
        int width = layer.encoder().targetWidth;
        int targets = set.layers().size() - layer.firstTarget();
        Tensor rows = trained.asRows();
        long bytes = (long) features * targets * width * dtype.bytes();
        if (bytes > Integer.MAX_VALUE - 8) {
            throw new ExplainerFormatException(
                    ("%s: tensor \"%s\" takes %d bytes as %s, more than one file of this program holds; "
                                    + "write it as F32, or keep the decoders of single blocks")
                            .formatted(layer.file(), trained.name(), bytes, dtype));
        }
        ByteBuffer out = ByteBuffer.allocate((int) bytes).order(ByteOrder.LITTLE_ENDIAN);
        double[] row = new double[width];
        for (int feature = 0; feature < features; feature++) {
            for (int place = 0; place < targets; place++) {
                int target = place + layer.firstTarget();
                Decoder decoder = target < source ? null : adapted.get(target);
                if (decoder == null) {
                    int at = feature * targets + place;
                    System.arraycopy(rows.rows(at, at + 1).values(), 0, row, 0, width);
                } else {
                    Weights weights = decoder.weights();
                    weights.copyTo((source * features + feature) * width, row, 0, width);
                }
                dtype.put(out, row);
            }
        }
        return out.flip();
    }
}
