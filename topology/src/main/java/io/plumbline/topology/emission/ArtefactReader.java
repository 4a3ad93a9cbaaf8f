package io.plumbline.topology.emission;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Weights;
import io.plumbline.topology.emission.DecoderSubscription.Parent;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.Tensor;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads the decoder of an artefact whose bytes are those its manifest names, unless this process holds it already.
 *
 * <p><b>Memory:</b> the decoder.
 */
final class ArtefactReader {

    private final HeldDecoders held;

    /** @param held what need not be read again */
    ArtefactReader(HeldDecoders held) {
        this.held = held;
    }

    /** Throws {@link IllegalArgumentException} when the artefact is not a decoder such as {@code parent}. */
    PublishedDecoder read(
            Safetensors blob, DecoderManifest manifest, RecordSignature signature, @Nullable Parent parent) {
        Tensor weights = blob.tensor(DecoderArtefact.WEIGHTS);
        Tensor bias = blob.tensor(DecoderArtefact.BIAS);
        requireShapes(weights, bias, parent);
        try {
            Decoder decoder = held.of(manifest.sha256(), () -> finite(weights, bias));
            return new PublishedDecoder(manifest, decoder, weights.dtype(), signature);
        } catch (OutOfMemoryError e) {
            throw noRoom(weights.shape(), weights.dtype(), e);
        }
    }

    private static Decoder finite(Tensor weights, Tensor bias) {
        Weights read = weights.toWeights();
        int place = read.firstNotFinite();
        if (place >= 0) {
            requireFinite(weights, read.get(place / read.columns(), place % read.columns()), place);
        }
        double[] offsets = bias.toDoubles();
        for (int i = 0; i < offsets.length; i++) {
            requireFinite(bias, offsets[i], i);
        }
        return new Decoder(read, offsets);
    }

    /**
     * Returns the refusal of one array that was asked for and not given; everything else, the decoder in service above
     * all, is as it was.
     */
    private static IllegalArgumentException noRoom(List<Long> shape, DType dtype, OutOfMemoryError cause) {
        return new IllegalArgumentException(
                ("the heap has no room for its weights, %s of %d bytes each; "
                                + "give this program a larger one (-Xmx) and start it again")
                        .formatted(shape, dtype == DType.F64 ? Double.BYTES : Float.BYTES),
                cause);
    }

    private static void requireShapes(Tensor weights, Tensor bias, @Nullable Parent parent) {
        if (!weights.dtype().isFloatingPoint() || !bias.dtype().isFloatingPoint()) {
            throw new IllegalArgumentException(
                    "it holds %s and %s: expected F64, F32, F16 or BF16".formatted(weights, bias));
        }
        if (weights.shape().size() != 2
                || bias.shape().size() != 1
                || !weights.shape().get(1).equals(bias.shape().get(0))) {
            throw new IllegalArgumentException(
                    "it holds %s and %s: expected [features, dimension] and [dimension]".formatted(weights, bias));
        }
        if (parent != null
                && parent.knowsShape()
                && !weights.shape().equals(List.of((long) parent.features(), (long) parent.dimension()))) {
            throw new IllegalArgumentException("it is a decoder of %s, the explainer held here has [%d, %d]"
                    .formatted(weights.shape(), parent.features(), parent.dimension()));
        }
    }

    private static void requireFinite(Tensor tensor, double value, long place) {
        if (!Double.isFinite(value)) {
            throw new IllegalArgumentException(
                    "its %s holds %s at place %d: expected finite numbers".formatted(tensor.name(), value, place));
        }
    }
}
