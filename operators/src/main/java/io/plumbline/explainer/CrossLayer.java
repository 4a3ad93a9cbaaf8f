package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.TargetBlock;
import io.plumbline.wire.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The opened files of a cross-layer transcoder: features read one layer and write into it and the layers above.
 *
 * <pre>
 * z_s = selection(x_s W_enc_s + b_enc_s)                      one encoder for each source layer s
 * y_t = sum over s &lt;= t of z_s D_(s to t) + b_dec_t  [+ x_t skip_t]
 * </pre>
 *
 * <p>So the block of target layer t is a transcoder: it reads the rows of the layers 0 to t side by side, its codes are
 * those of all their features, layer after layer, and its decoder has the rows of all D_(s to t) in that order. Feature
 * j of layer s is number {@code s k + j} of every block.
 */
final class CrossLayer {

    /**
     * One layer as a source and as a target.
     *
     * @param encoder of the features that read this layer; its decoder bias and skip are those of this target layer
     * @param thresholds whether pre-activations are compared with thresholds
     * @param file the name of the one with the decoders
     * @param decoderWeights {@code [k, targets, d]}
     * @param firstTarget the target layer that the first of these is of
     */
    record Layer(
            Blueprint encoder,
            boolean thresholds,
            String file,
            Safetensors decoders,
            String decoderWeights,
            int firstTarget) {

        /** Returns where in the decoders' second dimension a target layer stands. */
        int place(int target) {
            return target - firstTarget;
        }
    }

    static final String ARCHITECTURE = "cross_layer_transcoder";

    private final Map<String, Safetensors> files;
    private final List<Layer> layers;

    /**
     * Checks that all layers fit together.
     *
     * @param files by name, open for as long as this object is used
     */
    CrossLayer(Map<String, Safetensors> files, List<Layer> layers) {
        this.files = files;
        this.layers = List.copyOf(layers);
        Blueprint first = layers.get(0).encoder();
        for (int s = 0; s < layers.size(); s++) {
            Layer layer = layers.get(s);
            Blueprint encoder = layer.encoder();
            if (encoder.inputWidth != first.inputWidth
                    || encoder.targetWidth != first.targetWidth
                    || encoder.features != first.features
                    || (encoder.skip == null) != (first.skip == null)
                    || layer.thresholds() != layers.get(0).thresholds()) {
                throw new ExplainerFormatException(
                        "layer %d reads %d values with %d features and writes %d; layer 0 has %d, %d and %d: expected the same, and thresholds and skips in all layers or in none"
                                .formatted(
                                        s,
                                        encoder.inputWidth,
                                        encoder.features,
                                        encoder.targetWidth,
                                        first.inputWidth,
                                        first.features,
                                        first.targetWidth));
            }
            Tensor decoders = layer.decoders().tensor(layer.decoderWeights());
            List<Long> expected = List.of(
                    (long) encoder.features, (long) layers.size() - layer.firstTarget(), (long) encoder.targetWidth);
            if (!decoders.shape().equals(expected)) {
                throw new ExplainerFormatException(
                        "%s: tensor \"%s\": shape %s, expected %s: features, target layers, width"
                                .formatted(layer.file(), decoders.name(), decoders.shape(), expected));
            }
            if (!decoders.dtype().isFloatingPoint()) {
                throw new ExplainerFormatException("%s: tensor \"%s\": dtype %s, expected F64, F32, F16 or BF16"
                        .formatted(layer.file(), decoders.name(), decoders.dtype()));
            }
        }
    }

    Map<String, Safetensors> files() {
        return files;
    }

    List<Layer> layers() {
        return layers;
    }

    /** Returns the sizes of a block. */
    ExplainerShape shape(int target) {
        Blueprint first = layers.get(0).encoder();
        boolean floats = layers.stream()
                .limit(target + 1L)
                .allMatch(
                        layer -> layer.decoders().tensor(layer.decoderWeights()).dtype() != DType.F64
                                && layer.encoder().shape().floats());
        int features = Math.multiplyExact(target + 1, first.features);
        return new ExplainerShape(
                Math.multiplyExact(target + 1, first.inputWidth), first.targetWidth, features, true, features, floats);
    }

    /** Returns the encoders of the layers 0 to {@code target}. */
    List<Encoder> encoders(int target) {
        List<Encoder> encoders = new ArrayList<>();
        for (int s = 0; s <= target; s++) {
            encoders.add(layers.get(s).encoder().encoder());
        }
        return encoders;
    }

    /** Returns what is read and written by a block. */
    static TargetBlock block(int target) {
        return new TargetBlock(target, IntStream.rangeClosed(0, target).boxed().toList());
    }

    /** Returns the decoder of a block, {@code (target + 1) k x d}. */
    Decoder decoder(int target) {
        Blueprint written = layers.get(target).encoder();
        int features = shape(target).features();
        int width = written.targetWidth;
        if ((long) features * width > Integer.MAX_VALUE - 8) {
            throw new ExplainerFormatException(
                    "the decoder of target %d has %d features x %d, more than one array holds; watch a lower target layer"
                            .formatted(target, features, width));
        }
        boolean floats = layers.stream()
                .limit(target + 1L)
                .allMatch(
                        layer -> layer.decoders().tensor(layer.decoderWeights()).dtype() != DType.F64);
        float[] single = new float[floats ? features * width : 0];
        double[] wide = new double[floats ? 0 : features * width];
        int at = 0;
        for (Layer layer : layers.subList(0, target + 1)) {
            Tensor rows = layer.decoders().tensor(layer.decoderWeights()).asRows();
            int targets = layers.size() - layer.firstTarget();
            for (int feature = 0; feature < written.features; feature++) {
                int row = feature * targets + layer.place(target);
                for (double value : rows.rows(row, row + 1).values()) {
                    if (!Double.isFinite(value)) {
                        throw new ExplainerFormatException(
                                "%s: tensor \"%s\": feature %d writes %s into target %d; expected finite weights"
                                        .formatted(layer.file(), rows.name(), feature, value, target));
                    }
                    if (floats) {
                        single[at++] = (float) value;
                    } else {
                        wide[at++] = value;
                    }
                }
            }
        }
        double[] bias = written.bias(written.decoderBias, width, "d_out");
        Weights weights =
                floats ? Weights.ofFloats(features, width, single) : Weights.of(new Matrix(features, width, wide));
        return new Decoder(weights, bias);
    }

    /** Returns what stands between the targets of a block and what its decoder writes. */
    DecoderSpace space(int target) {
        Blueprint written = layers.get(target).encoder();
        Matrix own = written.skip();
        if (own == null) {
            return DecoderSpace.PLAIN;
        }
        Matrix skip = Matrix.zeros((target + 1) * written.inputWidth, written.targetWidth);
        System.arraycopy(
                own.values(), 0, skip.values(), target * written.inputWidth * written.targetWidth, own.values().length);
        return new DecoderSpace(Normalisation.NONE, skip);
    }

    /** Returns the word for the kind of explainer that the blocks are. */
    String architecture() {
        Layer first = layers.get(0);
        return (first.thresholds() ? "jumprelu_" : "") + (first.encoder().skip == null ? "" : "skip_") + ARCHITECTURE;
    }

    /** Returns what is to be known of a block. */
    List<String> notes(int target) {
        int features = layers.get(0).encoder().features;
        return List.of(
                "target layer %d of 0 to %d: reads the layers 0 to %d side by side; feature j of layer s is number %d s + j"
                        .formatted(target, layers.size() - 1, target, features));
    }
}
