package io.plumbline.explainer.formats;

import io.plumbline.explainer.ConfigFile;
import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.explainer.JumpReluEncoder;
import io.plumbline.explainer.LinearLayer;
import io.plumbline.explainer.ReluEncoder;
import io.plumbline.explainer.TopKEncoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;

/**
 * The common part of OpenMOSS' crosscoders and cross-layer transcoders: the configuration, {@code W_E [layers, d,
 * k]} and {@code b_E [layers, k]}, scales of rows, and a rule of selection that looks at pre-activations times lengths
 * of the decoder's rows.
 *
 * <p>The lengths decide which features are active and leave the codes as they are: {@code z = pre} where {@code pre n}
 * is above the threshold is {@code z = pre} where {@code pre} is above the threshold divided by n. So encoders can be
 * shared by decoders of other lengths. Only where the k largest are taken, the lengths are folded into encoder and
 * decoder.
 */
final class OpenMossLayers {

    /** The rule by which pre-activations become codes. */
    enum Selection {
        RELU,
        JUMP_RELU,
        TOP_K
    }

    private static final String ENCODER = "W_E";
    private static final String ENCODER_BIAS = "b_E";

    final ConfigFile config;
    final Safetensors tensors;
    final int width;
    final int features;
    final int layers;
    final Selection selection;
    final int mostActive;
    final boolean lengthsCount;
    private final boolean scaled;

    OpenMossLayers(ConfigFile config, Safetensors tensors) {
        this.config = config;
        this.tensors = tensors;
        OpenMossFormat.refuseGatedLinearUnits(config);
        scaled = OpenMossFormat.isScaled(config);
        lengthsCount = config.flag("sparsity_include_decoder_norm", true);
        width = config.size("d_model");
        List<Long> shape = tensors.shape(ENCODER);
        if (shape.size() != 3 || shape.get(1) != width || shape.get(0) < 1 || shape.get(2) < 1) {
            throw wrongShape(ENCODER, "[layers, %d, features]".formatted(width));
        }
        layers = sizeOf(shape.get(0));
        features = sizeOf(shape.get(2));
        requireShape(ENCODER_BIAS, layers, features);
        String activation = config.text("act_fn", "");
        selection = switch (activation) {
            case "relu" -> Selection.RELU;
            case "jumprelu" -> Selection.JUMP_RELU;
            case "topk" -> Selection.TOP_K;
            default ->
                throw new ExplainerFormatException(
                        ("config.json: act_fn \"%s\" is not supported: it chooses among the features of several layers "
                                        + "or rows together; supported: relu, jumprelu, topk. "
                                        + "Save it with jumprelu and a threshold, "
                                        + "or send what your library makes of the rows as reconstructions "
                                        + "(`explainer: none`)")
                                .formatted(activation));
        };
        mostActive = selection == Selection.TOP_K ? topK() : features;
    }

    private int topK() {
        int k = config.size("top_k");
        if (k > features) {
            throw new ExplainerFormatException(
                    "config.json: top_k = %d: expected at most %d, the number of features".formatted(k, features));
        }
        return k;
    }

    /** Returns the hooks of a key, one for each layer. */
    List<String> hooks(String key) {
        List<String> hooks = config.texts(key);
        if (hooks.size() != layers) {
            throw new ExplainerFormatException(
                    "config.json: %s names %d hooks, but tensor \"%s\" has %d layers; expected a hook for each layer"
                            .formatted(key, hooks.size(), ENCODER, layers));
        }
        return hooks;
    }

    /** Returns the factor that rows of a hook are multiplied with. */
    double scale(String hook) {
        return scaled ? Math.sqrt(width) / OpenMossFormat.norm(tensors, hook) : 1.0;
    }

    /** Returns whether rows are multiplied with factors at all. */
    boolean isScaled() {
        return scaled;
    }

    /** Refuses tensors that are not part of the dictionary. */
    void requireOnly(List<String> decoders) {
        TreeSet<String> known = new TreeSet<>(decoders);
        known.addAll(List.of(ENCODER, ENCODER_BIAS));
        if (selection == Selection.JUMP_RELU) {
            known.add(OpenMossFormat.THRESHOLD);
        }
        for (String name : tensors.names()) {
            if (!name.startsWith(OpenMossFormat.NORM) && !known.contains(name)) {
                throw new ExplainerFormatException("tensor \"%s\" is not part of what is supported: %s, %sHOOK"
                        .formatted(name, String.join(", ", known), OpenMossFormat.NORM));
            }
        }
    }

    /** Compares the shape of a tensor before anything of it is read. */
    void requireShape(String name, long... expected) {
        if (!tensors.shape(name).equals(Arrays.stream(expected).boxed().toList())) {
            throw wrongShape(name, Arrays.toString(expected));
        }
    }

    /** Returns the encoder weights of a layer, {@code d x k}, times the factor of its rows. */
    Matrix encoderWeights(int layer, double scale) {
        Matrix weights = WeightTensors.asItLies(tensors.part(ENCODER, layer));
        multiply(weights.values(), scale);
        return weights;
    }

    double[] encoderBias(int layer) {
        return vector(ENCODER_BIAS, layer);
    }

    /** Returns one row of a matrix. */
    double[] vector(String name, int row) {
        return WeightTensors.vector(
                tensors.part(name, row), (int) (long) tensors.shape(name).get(1), "of a layer");
    }

    /** Returns a part of a tensor as decoder weights {@code k x d}. */
    Weights decoderWeights(Tensor part) {
        return WeightTensors.weights(part, features, width, "features x d_model");
    }

    /** Returns thresholds of pre-activations that are not multiplied with lengths. */
    static double[] thresholds(double[] logarithms, double[] lengths) {
        double[] thresholds = new double[logarithms.length];
        for (int j = 0; j < thresholds.length; j++) {
            // A feature whose row has length 0 is never active: 0 is above no threshold. Files hold finite numbers
            // only.
            thresholds[j] = Math.min(Math.exp(logarithms[j]) / lengths[j], Float.MAX_VALUE);
        }
        return thresholds;
    }

    /** Returns the encoder of a linear layer; weights of the k largest have the lengths folded in. */
    Encoder encoder(LinearLayer layer, double[] logarithms, double[] lengths) {
        return switch (selection) {
            case RELU -> new ReluEncoder(layer);
            case JUMP_RELU -> new JumpReluEncoder(layer, thresholds(logarithms, lengths));
            case TOP_K -> new TopKEncoder(layer, mostActive);
        };
    }

    /** Returns whether lengths are folded into encoder and decoder. */
    boolean foldsLengths() {
        return selection == Selection.TOP_K && lengthsCount;
    }

    String architecture(String kind) {
        return switch (selection) {
            case RELU -> kind;
            case JUMP_RELU -> "jumprelu_" + kind;
            case TOP_K -> "topk_" + kind;
        };
    }

    /** Adds the squares of each row's values to one sum a row. */
    static void addSquares(Weights rows, double[] sums) {
        double[] row = new double[rows.columns()];
        for (int j = 0; j < sums.length; j++) {
            rows.copyTo(j * row.length, row, 0, row.length);
            for (double value : row) {
                sums[j] += value * value;
            }
        }
    }

    /** Multiplies the columns of encoder weights, and their biases, with lengths. */
    static void fold(Matrix weights, double[] bias, double[] lengths) {
        for (int i = 0; i < weights.rows(); i++) {
            for (int j = 0; j < lengths.length; j++) {
                weights.set(i, j, weights.get(i, j) * lengths[j]);
            }
        }
        for (int j = 0; j < lengths.length; j++) {
            bias[j] *= lengths[j];
        }
    }

    static void multiply(double[] values, double factor) {
        for (int i = 0; factor != 1.0 && i < values.length; i++) {
            values[i] *= factor;
        }
    }

    ExplainerFormatException wrongShape(String name, String expected) {
        return new ExplainerFormatException(
                "tensor \"%s\": shape %s, expected %s".formatted(name, tensors.shape(name), expected));
    }

    private static int sizeOf(long size) {
        if (size > Integer.MAX_VALUE - 8) {
            throw new ExplainerFormatException("tensor \"%s\" has a dimension of %d".formatted(ENCODER, size));
        }
        return (int) size;
    }
}
