package io.plumbline.explainer.formats;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.DecoderSpace;
import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.explainer.ExplainerShape;
import io.plumbline.explainer.LinearLayer;
import io.plumbline.explainer.MatchingPursuitEncoder;
import io.plumbline.explainer.Normalisation;
import io.plumbline.explainer.NormalisingEncoder;
import io.plumbline.explainer.Origin;
import io.plumbline.explainer.ReluEncoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.wire.HeapNeeded;
import io.plumbline.wire.Tensor;
import io.plumbline.wire.TensorFile;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Says how an explainer is put together from the tensors of its file: what the reader of a format makes of names and
 * configuration, in terms that all formats share.
 *
 * <pre>
 * pre  = n(x) (a W_enc) + c b_enc                                  n: the normalisation, if any
 *        with n(x) - b_dec in the place of n(x) where the decoder's bias is subtracted from the input
 * z    = selection(pre)
 * yhat = z (s W_dec) + t b_dec, then the normalisation undone, and x W_skip^T added, where there are such
 * </pre>
 *
 * <p>With {@link Norms#RESCALE} pre-activations are multiplied by the lengths {@code n_j} of the rows of {@code s
 * W_dec} before the selection and codes divided by them after: folded, {@code a W_enc} and {@code c b_enc} times {@code
 * n_j}, {@code s W_dec} divided by it. Then the decoder is multiplied with one more factor.
 */
final class Blueprint {

    /** The treatment of the lengths of the decoder's rows. */
    enum Norms {
        NONE,
        /** Codes are compared and chosen times the length, and divided by it when they are decoded. */
        RESCALE,
        /** Rows are brought to length 1 when the library uses them; codes stay. */
        UNIT_ROWS
    }

    /** The rule by which pre-activations become codes; may read tensors of its own. */
    interface Selection {
        Encoder encoder(LinearLayer layer);
    }

    /** A matrix of the file. */
    record Part(String tensor, boolean featureFirst) {}

    final TensorFile tensors;
    final String architecture;
    final int inputWidth;
    final int features;
    final int targetWidth;

    /** The file that sizes come from, for messages: "of cfg.json". */
    final String source;

    Part encoderWeights = new Part("W_enc", false);

    @Nullable
    String encoderBias = "b_enc";

    Part decoderWeights = new Part("W_dec", true);

    @Nullable
    String decoderBias = "b_dec";

    @Nullable
    Part skip;

    Selection selection = ReluEncoder::new;
    int mostActive;
    boolean subtractsDecoderBias;
    Norms norms = Norms.NONE;
    double encoderFactor = 1.0;
    double encoderBiasFactor = 1.0;
    double decoderFactor = 1.0;
    double decoderFactorAfterNorms = 1.0;
    double decoderBiasFactor = 1.0;
    Normalisation normalisation = Normalisation.NONE;
    boolean normalisationIsUndone;
    MatchingPursuitEncoder.@Nullable Ending pursuit;
    final List<String> notes = new ArrayList<>();

    /** The facts that names of folders decided; each is a note as well. */
    final List<String> decidedByPath = new ArrayList<>();

    @Nullable
    String notRefitted;

    Blueprint(TensorFile tensors, String architecture, int inputWidth, int features, int targetWidth, String source) {
        this.tensors = tensors;
        this.architecture = architecture;
        this.inputWidth = inputWidth;
        this.features = features;
        this.targetWidth = targetWidth;
        this.source = source;
        this.mostActive = features;
    }

    /** Notes what the name of a folder decided. */
    void decidedByPath(String note) {
        notes.add(note);
        decidedByPath.add(note);
    }

    /** Returns whether the decoder is not what lies in the file, but made of it. */
    boolean changesDecoder() {
        return norms != Norms.NONE
                || decoderFactor != 1.0
                || decoderFactorAfterNorms != 1.0
                || decoderBiasFactor != 1.0;
    }

    ExplainerShape shape() {
        boolean floats = !changesDecoder()
                && encoderFactor == 1.0
                && !WeightTensors.isDouble(tensors, encoderWeights.tensor())
                && !WeightTensors.isDouble(tensors, decoderWeights.tensor());
        return new ExplainerShape(
                inputWidth, targetWidth, features, Explainer.isTranscoder(architecture), mostActive, floats);
    }

    /**
     * Reads the weights. The encoder's come first: as they lie in the file they are beside those that are laid out, and
     * the decoder's then take the place of the former.
     */
    Explainer read(Origin origin) {
        ExplainerShape shape = shape();
        String what = "%s of %d features, %d to %d wide,".formatted(architecture, features, inputWidth, targetWidth);
        HeapNeeded.require(what, shape.floatBytes());
        try {
            return readWeights(origin);
        } catch (OutOfMemoryError small) {
            throw new ExplainerFormatException(HeapNeeded.refusal(what, shape.weightBytes()), small);
        }
    }

    private Explainer readWeights(Origin origin) {
        MatchingPursuitEncoder.Ending ending = pursuit;
        Encoder encoder;
        Decoder decoder;
        if (ending == null) {
            encoder = encoder();
            decoder = decoder();
        } else {
            Decoder tied = decoder();
            double[] nothing = new double[inputWidth];
            encoder = new MatchingPursuitEncoder(tied.weights(), subtractsDecoderBias ? tied.bias() : nothing, ending);
            decoder = subtractsDecoderBias ? tied : new Decoder(tied.weights(), nothing);
        }
        return new Explainer(
                architecture,
                normalisation == Normalisation.NONE ? encoder : new NormalisingEncoder(normalisation, encoder),
                decoder,
                space(),
                origin);
    }

    /** Returns the encoder alone. */
    Encoder encoder() {
        return selection.encoder(layer());
    }

    /** Returns the decoder alone. */
    Decoder decoder() {
        Weights stored = WeightTensors.weights(
                tensors.tensor(decoderWeights.tensor()), features, targetWidth, "d_sae x d_out " + source);
        double[] bias = bias(decoderBias, targetWidth, "d_out");
        if (!changesDecoder()) {
            return new Decoder(stored, bias);
        }
        Matrix weights = stored.toMatrix();
        scale(weights.values(), decoderFactor);
        if (norms != Norms.NONE) {
            for (int j = 0; j < features; j++) {
                double length = length(weights, j);
                for (int i = 0; i < targetWidth && length > 0.0; i++) {
                    weights.set(j, i, weights.get(j, i) / length);
                }
            }
        }
        scale(weights.values(), decoderFactorAfterNorms);
        scale(bias, decoderBiasFactor);
        return new Decoder(weights, bias);
    }

    /** Returns {@code W_enc} with everything folded, {@code d_in x d_sae}. */
    Matrix encoderWeights() {
        Matrix weights = WeightTensors.matrix(
                tensors.tensor(encoderWeights.tensor()), inputWidth, features, "d_in x d_sae " + source);
        return foldedInto(weights, false);
    }

    /** Returns {@code b_enc} with everything folded. */
    double[] encoderBias() {
        return foldedBias(Weights.of(encoderWeights()), false);
    }

    private LinearLayer layer() {
        Tensor tensor = tensors.tensor(encoderWeights.tensor());
        boolean featureFirst = encoderWeights.featureFirst()
                ? WeightTensors.isAsStored(tensor, features, inputWidth, "d_sae x d_in " + source)
                : !WeightTensors.isAsStored(tensor, inputWidth, features, "d_in x d_sae " + source);
        Weights stored = WeightTensors.weightsAsTheyLie(tensor);
        Weights weights = encoderFactor == 1.0 && norms != Norms.RESCALE
                ? stored
                : Weights.of(foldedInto(stored.toMatrix(), featureFirst));
        double[] bias = foldedBias(weights, featureFirst);
        return featureFirst ? LinearLayer.featureByInput(weights, bias) : LinearLayer.inputByFeature(weights, bias);
    }

    private Matrix foldedInto(Matrix weights, boolean featureFirst) {
        scale(weights.values(), encoderFactor);
        if (norms == Norms.RESCALE) {
            double[] lengths = decoderLengths();
            for (int i = 0; i < weights.rows(); i++) {
                for (int j = 0; j < weights.columns(); j++) {
                    weights.set(i, j, weights.get(i, j) * lengths[featureFirst ? i : j]);
                }
            }
        }
        return weights;
    }

    private double[] foldedBias(Weights foldedWeights, boolean featureFirst) {
        double[] bias = bias(encoderBias, features, "d_sae");
        scale(bias, encoderBiasFactor);
        if (norms == Norms.RESCALE) {
            double[] lengths = decoderLengths();
            for (int j = 0; j < bias.length; j++) {
                bias[j] *= lengths[j];
            }
        }
        if (subtractsDecoderBias) {
            double[] decoderBiases = bias(decoderBias, targetWidth, "d_out");
            scale(decoderBiases, decoderBiasFactor);
            subtract(foldedWeights, featureFirst, decoderBiases, bias);
        }
        return bias;
    }

    private static void subtract(Weights weights, boolean featureFirst, double[] from, double[] bias) {
        for (int i = 0; i < weights.rows(); i++) {
            for (int j = 0; j < weights.columns(); j++) {
                bias[featureFirst ? i : j] -= from[featureFirst ? j : i] * weights.get(i, j);
            }
        }
    }

    private double[] decoderLengths() {
        Weights stored = WeightTensors.weights(
                tensors.tensor(decoderWeights.tensor()), features, targetWidth, "d_sae x d_out " + source);
        double[] lengths = new double[features];
        double[] row = new double[targetWidth];
        for (int j = 0; j < features; j++) {
            stored.copyTo(j * targetWidth, row, 0, targetWidth);
            double squares = 0.0;
            for (double value : row) {
                squares += value * decoderFactor * (value * decoderFactor);
            }
            lengths[j] = Math.sqrt(squares);
        }
        return lengths;
    }

    private DecoderSpace space() {
        Matrix matrix = skip();
        Normalisation undone = normalisationIsUndone ? normalisation : Normalisation.NONE;
        return matrix == null && undone == Normalisation.NONE ? DecoderSpace.PLAIN : new DecoderSpace(undone, matrix);
    }

    /** The skip connection, {@code d_in x d_out}; null where there is none. */
    @Nullable
    Matrix skip() {
        Part part = skip;
        Matrix matrix = null;
        if (part != null) {
            Tensor tensor = tensors.tensor(part.tensor());
            boolean outputFirst = part.featureFirst()
                    ? WeightTensors.isAsStored(tensor, targetWidth, inputWidth, "d_out x d_in " + source)
                    : !WeightTensors.isAsStored(tensor, inputWidth, targetWidth, "d_in x d_out " + source);
            Matrix read = WeightTensors.asItLies(tensor);
            matrix = outputFirst ? read.transpose() : read;
        }
        return matrix;
    }

    double[] bias(@Nullable String name, int length, String meaning) {
        return name == null
                ? new double[length]
                : WeightTensors.vector(tensors.tensor(name), length, meaning + " " + source);
    }

    private static double length(Matrix matrix, int row) {
        double squares = 0.0;
        for (int i = 0; i < matrix.columns(); i++) {
            squares += matrix.get(row, i) * matrix.get(row, i);
        }
        return Math.sqrt(squares);
    }

    private static void scale(double[] values, double factor) {
        if (factor != 1.0) {
            for (int i = 0; i < values.length; i++) {
                values[i] *= factor;
            }
        }
    }
}
