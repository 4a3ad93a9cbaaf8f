package io.plumbline.explainer.formats;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.DecoderSpace;
import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.explainer.ExplainerShape;
import io.plumbline.explainer.Normalisation;
import io.plumbline.explainer.SideBySideEncoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.records.TargetBlock;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The opened files of a cross-layer transcoder or a weakly causal crosscoder: features read one layer and write into it
 * and the layers above.
 *
 * <pre>
 * z_s = selection(x_s W_enc_s + b_enc_s)                      one encoder for each source layer s
 * y_t = sum over s &lt;= t of z_s D_(s to t) + b_dec_t  [+ x_t skip_t]
 * </pre>
 *
 * <p>So the block of target layer t is a transcoder: it reads the rows of the layers 0 to t side by side, its codes are
 * those of all their features, layer after layer, and its decoder has the rows of all D_(s to t) in that order. Feature
 * j of the s-th layer is number {@code s k + j} of every block.
 *
 * <p>Inside, layers are counted from 0; what others see of them are their numbers. A crosscoder's y_t are the rows x_t.
 */
final class CrossLayer implements Blocks {

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
    private final List<Integer> numbers;
    private final boolean crosscoder;
    private final List<String> decidedByPath;

    /**
     * Checks that all layers fit together.
     *
     * @param files by name, open for as long as this object is used
     * @param numbers of the layers
     * @param crosscoder whether what is written into a layer reproduces what is read there
     * @param decidedByPath what names of folders decided, one sentence each
     */
    CrossLayer(
            Map<String, Safetensors> files,
            List<Layer> layers,
            List<Integer> numbers,
            boolean crosscoder,
            List<String> decidedByPath) {
        this.decidedByPath = List.copyOf(decidedByPath);
        this.files = files;
        this.layers = List.copyOf(layers);
        this.numbers = List.copyOf(numbers);
        this.crosscoder = crosscoder;
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
                        ("layer %d reads %d values with %d features and writes %d; layer 0 has %d, %d and %d: "
                                        + "expected the same, and thresholds and skips in all layers or in none")
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

    @Override
    public String kind() {
        return crosscoder ? "crosscoder" : "cross-layer transcoder";
    }

    @Override
    public List<String> decidedByPath() {
        return decidedByPath;
    }

    @Override
    public List<Integer> targets() {
        return numbers;
    }

    /** Returns which layer, counted from 0, has a number. */
    int place(int number) {
        return numbers.indexOf(number);
    }

    @Override
    public List<Block> read(List<Integer> targets) {
        int highest = targets.stream().mapToInt(this::place).max().orElseThrow();
        List<Encoder> encoders = encoders(highest);
        List<Block> blocks = new ArrayList<>();
        for (int number : targets) {
            int target = place(number);
            blocks.add(new Block(
                    architecture(),
                    new SideBySideEncoder(encoders.subList(0, target + 1)),
                    decoder(target),
                    space(target),
                    new TargetBlock(number, numbers.subList(0, target + 1), crosscoder),
                    List.of(LayerNumbers.sideBySide(
                            numbers, target, layers.get(0).encoder().features)),
                    null));
        }
        return blocks;
    }

    @Override
    public void write(
            List<Explainer> originals,
            List<Decoder> adapted,
            DType dtype,
            Map<String, String> lineage,
            Path outDirectory)
            throws IOException {
        CrossLayerExport.write(this, originals, adapted, dtype, lineage, outDirectory);
    }

    @Override
    public ExplainerShape shape(int number) {
        return shapeOf(place(number));
    }

    private ExplainerShape shapeOf(int target) {
        Blueprint first = layers.get(0).encoder();
        boolean floats = layers.stream()
                .limit(target + 1L)
                .allMatch(
                        layer -> layer.decoders().tensor(layer.decoderWeights()).dtype() != DType.F64
                                && layer.encoder().shape().floats());
        int features = Math.multiplyExact(target + 1, first.features);
        return new ExplainerShape(
                        Math.multiplyExact(target + 1, first.inputWidth),
                        first.targetWidth,
                        features,
                        true,
                        features,
                        floats)
                .ofLayers(target + 1);
    }

    /** Returns the encoders of the layers 0 to {@code target}. */
    private List<Encoder> encoders(int target) {
        List<Encoder> encoders = new ArrayList<>();
        for (int s = 0; s <= target; s++) {
            encoders.add(layers.get(s).encoder().encoder());
        }
        return encoders;
    }

    /** Returns the decoder of a block, {@code (target + 1) k x d}. */
    Decoder decoder(int target) {
        Blueprint written = layers.get(target).encoder();
        int features = shapeOf(target).features();
        int width = written.targetWidth;
        Blocks.requireOneArray(numbers.get(target), features, width);
        boolean floats = layers.stream()
                .limit(target + 1L)
                .allMatch(
                        layer -> layer.decoders().tensor(layer.decoderWeights()).dtype() != DType.F64);
        if (crosscoder) {
            requireNothingBelow(target);
        }
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
                                        .formatted(layer.file(), rows.name(), feature, value, numbers.get(target)));
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

    /** Refuses a crosscoder whose features write into a layer below the one they read. */
    private void requireNothingBelow(int target) {
        for (int s = target + 1; s < layers.size(); s++) {
            Layer layer = layers.get(s);
            Tensor rows = layer.decoders().tensor(layer.decoderWeights()).asRows();
            int targets = layers.size() - layer.firstTarget();
            for (int feature = 0; feature < layer.encoder().features; feature++) {
                int row = feature * targets + layer.place(target);
                for (double value : rows.rows(row, row + 1).values()) {
                    if (value != 0.0) {
                        throw new ExplainerFormatException(
                                ("%s: tensor \"%s\": feature %d of layer %d writes %s into layer %d below it; "
                                                + "a weakly causal crosscoder has zeros there. "
                                                + "Set them to zero where they are left over from training, "
                                                + "or send what your library makes of the rows as "
                                                + "reconstructions (`explainer: none`)")
                                        .formatted(
                                                layer.file(),
                                                rows.name(),
                                                feature,
                                                numbers.get(s),
                                                value,
                                                numbers.get(target)));
                    }
                }
            }
        }
    }

    /** Returns what stands between the targets of a block and what its decoder writes. */
    private DecoderSpace space(int target) {
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
    private String architecture() {
        Layer first = layers.get(0);
        return (first.thresholds() ? "jumprelu_" : "")
                + (first.encoder().skip == null ? "" : "skip_")
                + (crosscoder ? Explainer.CROSSCODER : ARCHITECTURE);
    }
}
