package io.plumbline.explainer.formats;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.DecoderSpace;
import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerShape;
import io.plumbline.explainer.LinearLayer;
import io.plumbline.explainer.SideBySideEncoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.records.TargetBlock;
import io.plumbline.wire.DType;
import io.plumbline.wire.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * An opened cross-layer transcoder of OpenMOSS: features read one of L layers and write into it and those above.
 *
 * <pre>
 * W_E [L, d, k], b_E [L, k]                pre_s = (x_s in_s) W_E_s + b_E_s
 * W_D.t [t + 1, k, d], b_D.t [d]           n_s = lengths of what a feature writes into all layers together
 * activation_function.log_jumprelu_threshold [L, k]
 *                                          z_s = pre_s where pre_s n_s is above the threshold; with act_fn relu,
 *                                                where it is above 0; with topk, where it is one of the k largest of
 *                                                pre_s n_s
 * dataset_average_activation_norm.HOOK []  in_s, out_t = sqrt(d) / it, or 1 with norm_activation inference
 *                                          yhat_t = (sum over s &lt;= t of z_s W_D.t_s + b_D.t) / out_t
 * </pre>
 *
 * <p>As {@code CrossLayerTranscoder} of llamascopium 2.0.0b34 computes them, before its scales are folded.
 */
final class OpenMossCrossLayer implements Blocks {

    final OpenMossLayers layers;
    private final List<String> hooksIn;
    private final List<String> hooksOut;
    private final List<Integer> numbers;

    /** Checks that all tensors fit together. */
    OpenMossCrossLayer(OpenMossLayers layers) {
        this.layers = layers;
        hooksIn = layers.hooks("hook_points_in");
        hooksOut = layers.hooks("hook_points_out");
        List<Integer> in = LayerNumbers.ofHooks(hooksIn);
        numbers = in.equals(LayerNumbers.ofHooks(hooksOut)) ? in : LayerNumbers.counted(layers.layers);
        List<String> decoders = new ArrayList<>();
        for (int t = 0; t < layers.layers; t++) {
            layers.requireShape(decoderWeights(t), t + 1L, layers.features, layers.width);
            layers.requireShape(decoderBias(t), layers.width);
            decoders.add(decoderWeights(t));
            decoders.add(decoderBias(t));
        }
        if (layers.selection == OpenMossLayers.Selection.JUMP_RELU) {
            layers.requireShape(OpenMossFormat.THRESHOLD, layers.layers, layers.features);
        }
        layers.requireOnly(decoders);
    }

    static String decoderWeights(int target) {
        return "W_D." + target;
    }

    static String decoderBias(int target) {
        return "b_D." + target;
    }

    @Override
    public String kind() {
        return "cross-layer transcoder";
    }

    @Override
    public List<Integer> targets() {
        return numbers;
    }

    /** Returns which layer, counted from 0, a block writes into. */
    int place(Explainer block) {
        return numbers.indexOf(block.requireBlock().target());
    }

    /** Returns the factor of what is written into a layer, counted from 0. */
    double scaleOut(int target) {
        return layers.scale(hooksOut.get(target));
    }

    @Override
    public ExplainerShape shape(int target) {
        int read = numbers.indexOf(target) + 1;
        boolean floats = !layers.isScaled()
                && !layers.foldsLengths()
                && layers.tensors.part("W_E", 0).dtype() != DType.F64
                && layers.tensors.part(decoderWeights(read - 1), 0).dtype() != DType.F64;
        int features = Math.multiplyExact(read, layers.features);
        return new ExplainerShape(
                        Math.multiplyExact(read, layers.width),
                        layers.width,
                        features,
                        true,
                        Math.multiplyExact(read, layers.mostActive),
                        floats)
                .ofLayers(read);
    }

    @Override
    public List<Block> read(List<Integer> targets) {
        int highest = targets.stream().mapToInt(numbers::indexOf).max().orElseThrow();
        List<double[]> lengths = new ArrayList<>();
        List<Encoder> encoders = new ArrayList<>();
        for (int s = 0; s <= highest; s++) {
            double[] length = needsLengths() ? lengths(s) : new double[0];
            lengths.add(length);
            encoders.add(encoder(s, length));
        }
        List<Block> blocks = new ArrayList<>();
        for (int number : targets) {
            int target = numbers.indexOf(number);
            blocks.add(new Block(
                    layers.architecture(CrossLayer.ARCHITECTURE),
                    new SideBySideEncoder(encoders.subList(0, target + 1)),
                    decoder(target, lengths),
                    DecoderSpace.PLAIN,
                    new TargetBlock(number, numbers.subList(0, target + 1)),
                    List.of(LayerNumbers.sideBySide(numbers, target, layers.features)),
                    layers.selection == OpenMossLayers.Selection.TOP_K
                            ? "a feature is one of the k largest by the lengths of its decoder rows; "
                                    + "save it with act_fn"
                                    + " jumprelu, or watch only"
                            : null));
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
        OpenMossCrossLayerExport.write(this, originals, adapted, dtype, lineage, outDirectory);
    }

    /** Returns whether which features are active depends on lengths of decoder rows. */
    boolean needsLengths() {
        return layers.lengthsCount && layers.selection != OpenMossLayers.Selection.RELU;
    }

    /** Returns the decoder of a target, counted from 0, where no lengths are folded. */
    Decoder decoder(int target) {
        return decoder(target, List.of());
    }

    private Decoder decoder(int target, List<double[]> lengths) {
        int features = (target + 1) * layers.features;
        Blocks.requireOneArray(numbers.get(target), features, layers.width);
        double factor = 1.0 / scaleOut(target);
        double[] bias = WeightTensors.vector(layers.tensors.tensor(decoderBias(target)), layers.width, "d_model");
        OpenMossLayers.multiply(bias, factor);
        Matrix all = Matrix.zeros(features, layers.width);
        for (int s = 0; s <= target; s++) {
            Weights rows = layers.decoderWeights(part(target, s));
            int at = s * layers.features * layers.width;
            rows.copyTo(0, all.values(), at, layers.features * layers.width);
            for (int j = 0; j < layers.features; j++) {
                double length = layers.foldsLengths() ? lengths.get(s)[j] : 1.0;
                double own = length > 0.0 ? factor / length : factor;
                for (int i = 0; own != 1.0 && i < layers.width; i++) {
                    all.values()[at + j * layers.width + i] *= own;
                }
            }
        }
        return new Decoder(all, bias);
    }

    /** Returns what the features of a layer write into a target, both counted from 0. */
    Tensor part(int target, int source) {
        return layers.tensors.part(decoderWeights(target), source);
    }

    /** Returns the lengths of what each feature of a layer writes into all layers together. */
    double[] lengths(int source) {
        double[] lengths = new double[layers.features];
        for (int t = source; t < layers.layers; t++) {
            OpenMossLayers.addSquares(layers.decoderWeights(part(t, source)), lengths);
        }
        Arrays.setAll(lengths, j -> Math.sqrt(lengths[j]));
        return lengths;
    }

    private Encoder encoder(int source, double[] lengths) {
        Matrix weights = layers.encoderWeights(source, layers.scale(hooksIn.get(source)));
        double[] bias = layers.encoderBias(source);
        double[] counted = lengths;
        if (lengths.length == 0) {
            counted = new double[layers.features];
            Arrays.fill(counted, 1.0);
        } else if (layers.foldsLengths()) {
            OpenMossLayers.fold(weights, bias, lengths);
        }
        double[] logarithms = layers.selection == OpenMossLayers.Selection.JUMP_RELU
                ? layers.vector(OpenMossFormat.THRESHOLD, source)
                : new double[0];
        return layers.encoder(LinearLayer.inputByFeature(weights, bias), logarithms, counted);
    }
}
