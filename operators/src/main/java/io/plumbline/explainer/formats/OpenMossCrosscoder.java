package io.plumbline.explainer.formats;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.DecoderSpace;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.explainer.ExplainerShape;
import io.plumbline.explainer.LinearLayer;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.records.TargetBlock;
import io.plumbline.wire.AtomicFile;
import io.plumbline.wire.DType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * An opened crosscoder of OpenMOSS: every feature reads all of H layers and writes into all of them.
 *
 * <pre>
 * W_E [H, d, k], b_E [H, k]    pre = sum over h of (x_h s_h) W_E_h + b_E_h
 * W_D [H, k, d], b_D [H, d]    n_h = lengths of the rows of W_D_h
 * activation_function.log_jumprelu_threshold [k]
 *                              z_h = pre where pre n_h is above the threshold; with act_fn relu, where it is above 0;
 *                                    with topk, where it is one of the k largest of pre n_h
 * dataset_average_activation_norm.HOOK []
 *                              s_h = sqrt(d) / it, or 1 with norm_activation inference
 *                              yhat_h = (z_h W_D_h + b_D_h) / s_h, compared with x_h
 * </pre>
 *
 * <p>So layers share their pre-activations, and each has codes of its own. As {@code Crosscoder} of llamascopium
 * 2.0.0b34 computes them.
 *
 * <p>The file has one threshold a feature for all layers, and another decoder has other lengths: written back, codes
 * would move. So an adapted block is written as a SAELens transcoder that reads the layers side by side.
 */
final class OpenMossCrosscoder implements Blocks {

    private final OpenMossLayers layers;
    private final List<String> hooks;
    private final List<Integer> numbers;

    /** Checks that all tensors fit together. */
    OpenMossCrosscoder(OpenMossLayers layers) {
        this.layers = layers;
        hooks = layers.hooks("hook_points");
        numbers = LayerNumbers.ofHooks(hooks);
        layers.requireShape("W_D", layers.layers, layers.features, layers.width);
        layers.requireShape("b_D", layers.layers, layers.width);
        if (layers.selection == OpenMossLayers.Selection.JUMP_RELU) {
            layers.requireShape(OpenMossFormat.THRESHOLD, layers.features);
        }
        layers.requireOnly(List.of("W_D", "b_D"));
        if ((long) layers.layers * layers.width * layers.features > Integer.MAX_VALUE - 8) {
            throw new ExplainerFormatException(("tensor \"W_E\": shape %s has more values than one array holds; "
                            + "send what your library makes of the rows as reconstructions (`explainer: none`)")
                    .formatted(layers.tensors.shape("W_E")));
        }
    }

    @Override
    public String kind() {
        return Explainer.CROSSCODER;
    }

    @Override
    public List<Integer> targets() {
        return numbers;
    }

    @Override
    public ExplainerShape shape(int target) {
        boolean floats = !layers.isScaled()
                && !layers.foldsLengths()
                && layers.tensors.part("W_D", 0).dtype() != DType.F64
                && layers.tensors.part("W_E", 0).dtype() != DType.F64;
        return new ExplainerShape(
                layers.layers * layers.width, layers.width, layers.features, true, layers.mostActive, floats);
    }

    @Override
    public List<Block> read(List<Integer> targets) {
        Matrix weights = encoderWeights();
        double[] bias = encoderBias();
        LinearLayer shared = layers.foldsLengths() ? null : LinearLayer.inputByFeature(weights, bias);
        double[] logarithms = logarithms();
        List<Block> blocks = new ArrayList<>();
        for (int target : targets) {
            int layer = numbers.indexOf(target);
            double[] lengths = lengths(layer);
            blocks.add(new Block(
                    layers.architecture(Explainer.CROSSCODER),
                    layers.encoder(shared != null ? shared : folded(weights, bias, lengths), logarithms, lengths),
                    decoder(layer, lengths),
                    DecoderSpace.PLAIN,
                    new TargetBlock(target, numbers, true),
                    List.of("%s, layer %d of %s: codes are those of this layer"
                            .formatted(hooks.get(layer), target, LayerNumbers.words(numbers))),
                    layers.selection == OpenMossLayers.Selection.TOP_K
                            ? "a feature is one of the k largest by the length of its decoder row; save it with act_fn"
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
        for (int i = 0; i < originals.size(); i++) {
            int layer = layer(originals.get(i));
            AdaptedFolder.requireWritable(originals.get(i), adapted.get(i), dtype);
            AdaptedFolder.requireItsDecoder(originals.get(i), decoder(layer, lengths(layer)));
        }
        Matrix weights = encoderWeights();
        double[] bias = encoderBias();
        AtomicFile.writeFolder(outDirectory, folder -> {
            for (int i = 0; i < originals.size(); i++) {
                Explainer original = originals.get(i);
                SaeLensExport.writeTranscoder(
                        original.encoder(),
                        weights,
                        bias,
                        adapted.get(i),
                        dtype,
                        lineage,
                        folder.resolve(original.requireBlock().name()));
            }
        });
    }

    private int layer(Explainer block) {
        return numbers.indexOf(block.requireBlock().target());
    }

    private Matrix encoderWeights() {
        Matrix all = Matrix.zeros(layers.layers * layers.width, layers.features);
        for (int layer = 0; layer < layers.layers; layer++) {
            double[] part =
                    layers.encoderWeights(layer, layers.scale(hooks.get(layer))).values();
            System.arraycopy(part, 0, all.values(), layer * part.length, part.length);
        }
        return all;
    }

    private double[] encoderBias() {
        double[] sum = new double[layers.features];
        for (int layer = 0; layer < layers.layers; layer++) {
            double[] bias = layers.encoderBias(layer);
            for (int j = 0; j < sum.length; j++) {
                sum[j] += bias[j];
            }
        }
        return sum;
    }

    private double[] logarithms() {
        return layers.selection == OpenMossLayers.Selection.JUMP_RELU
                ? WeightTensors.vector(layers.tensors.tensor(OpenMossFormat.THRESHOLD), layers.features, "features")
                : new double[0];
    }

    private double[] lengths(int layer) {
        double[] lengths = new double[layers.features];
        Arrays.fill(lengths, 1.0);
        if (layers.lengthsCount) {
            Arrays.fill(lengths, 0.0);
            OpenMossLayers.addSquares(layers.decoderWeights(layers.tensors.part("W_D", layer)), lengths);
            Arrays.setAll(lengths, j -> Math.sqrt(lengths[j]));
        }
        return lengths;
    }

    private static LinearLayer folded(Matrix weights, double[] bias, double[] lengths) {
        Matrix own =
                new Matrix(weights.rows(), weights.columns(), weights.values().clone());
        double[] ownBias = bias.clone();
        OpenMossLayers.fold(own, ownBias, lengths);
        return LinearLayer.inputByFeature(own, ownBias);
    }

    private Decoder decoder(int layer, double[] lengths) {
        double factor = 1.0 / layers.scale(hooks.get(layer));
        Weights stored = layers.decoderWeights(layers.tensors.part("W_D", layer));
        double[] bias = layers.vector("b_D", layer);
        if (factor == 1.0 && !layers.foldsLengths()) {
            return new Decoder(stored, bias);
        }
        Matrix weights = stored.toMatrix();
        OpenMossLayers.multiply(weights.values(), factor);
        OpenMossLayers.multiply(bias, factor);
        for (int j = 0; layers.foldsLengths() && j < layers.features; j++) {
            for (int i = 0; lengths[j] > 0.0 && i < layers.width; i++) {
                weights.set(j, i, weights.get(j, i) / lengths[j]);
            }
        }
        return new Decoder(weights, bias);
    }
}
