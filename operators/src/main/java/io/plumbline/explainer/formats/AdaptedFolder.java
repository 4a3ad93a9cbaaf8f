package io.plumbline.explainer.formats;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.linalg.Weights;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.Tensor;
import java.util.Map;

/** Holds what all writers of adapted decoders share. */
public final class AdaptedFolder {

    private AdaptedFolder() {}

    public static void addUntouched(SafetensorsWriter writer, Tensor tensor) {
        long[] shape = tensor.shape().stream().mapToLong(Long::longValue).toArray();
        writer.addRaw(tensor.name(), tensor.dtype(), shape, tensor.pieces());
    }

    /** Returns a writer with the metadata of a file, but for the checksum of its content, and with the lineage. */
    static SafetensorsWriter writer(Safetensors file, Map<String, String> lineage) {
        SafetensorsWriter writer = SafetensorsWriter.create();
        file.metadata().entrySet().stream()
                .filter(entry -> !entry.getKey().equals("content_sha256"))
                .forEach(entry -> writer.metadata(entry.getKey(), entry.getValue()));
        lineage.forEach(writer::metadata);
        return writer;
    }

    static void requireWritable(Explainer original, Decoder adapted, DType dtype) {
        if (dtype != DType.F32 && dtype != DType.F64) {
            throw new IllegalArgumentException("an adapted decoder is written as F32 or F64, not " + dtype);
        }
        if (adapted.features() != original.features() || adapted.dimension() != original.targetWidth()) {
            throw new IllegalArgumentException("the adapted decoder is %d x %d, the explainer's %d x %d"
                    .formatted(adapted.features(), adapted.dimension(), original.features(), original.targetWidth()));
        }
        double largest = dtype == DType.F32 ? Float.MAX_VALUE : Double.MAX_VALUE;
        Weights weights = adapted.weights();
        double[] row = new double[weights.columns()];
        for (int feature = 0; feature < weights.rows(); feature++) {
            weights.copyTo(feature * row.length, row, 0, row.length);
            requireWithin(row, largest, "weights");
        }
        requireWithin(adapted.bias(), largest, "bias");
    }

    /** Refuses files that changed since they were read. */
    static void requireItsDecoder(Explainer original, Decoder onDisk) {
        if (!onDisk.sha256().equals(original.decoder().sha256())) {
            throw new ExplainerFormatException(original.origin().path()
                    + ": the decoder on disk is no longer the one that was read; nothing was written");
        }
    }

    private static void requireWithin(double[] values, double largest, String what) {
        for (double value : values) {
            // Written this way round so that NaN is caught.
            if (!(Math.abs(value) <= largest)) {
                throw new IllegalArgumentException(
                        "the adapted decoder's %s hold %s; nothing was written".formatted(what, value));
            }
        }
    }
}
