package io.plumbline.explainer.formats;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerFiles;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.ExplainerShape;
import io.plumbline.explainer.FormatFacts;
import io.plumbline.explainer.GatedEncoder;
import io.plumbline.explainer.JumpReluEncoder;
import io.plumbline.explainer.LinearLayer;
import io.plumbline.explainer.MatchingPursuitEncoder;
import io.plumbline.explainer.Normalisation;
import io.plumbline.explainer.Origin;
import io.plumbline.explainer.ReluEncoder;
import io.plumbline.explainer.SignedTopKEncoder;
import io.plumbline.explainer.TopKEncoder;
import io.plumbline.wire.AtomicFile;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsException;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.Tensor;
import io.plumbline.wire.TensorFileException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The folders SAELens saves and loads: {@code cfg.json} and {@code sae_weights.safetensors}.
 *
 * <pre>
 * tensor                  shape (or its transpose)   in
 * W_enc                   [d_in, d_sae]              all but matching_pursuit
 * b_enc                   [d_sae]                    all but gated and matching_pursuit
 * b_gate, b_mag, r_mag    [d_sae]                    gated
 * W_dec                   [d_sae, d_out]             all; d_out = d_in for autoencoders
 * b_dec                   [d_out]                    all
 * threshold               [d_sae]                    jumprelu, jumprelu_transcoder, jumprelu_skip_transcoder
 * W_skip                  [d_out, d_in]              skip_transcoder, jumprelu_skip_transcoder
 * </pre>
 *
 * <p>The shape of a matrix tells which way round it is stored; a square matrix is read in SAELens' own way. Any other
 * tensor would change the arithmetic and is refused by name, except a {@code scaling_factor} of ones, which SAELens
 * drops as well. Tensors are taken as they are stored, whatever {@code dtype} the configuration names.
 *
 * <p><b>{@code apply_b_dec_to_input}.</b> The encoder of such a folder reads {@code x - b_dec}. It is folded:
 * {@code b_enc' = b_enc - W_enc b_dec}, once, with the trained {@code b_dec}. Writing a new {@code b_dec} under the
 * same flag would silently move every pre-activation, so the adapted folder says {@code apply_b_dec_to_input: false}
 * and carries the folded {@code b_enc'} in F64: read back here, the encoder gives the same bits; SAELens rounds it to
 * the folder's {@code dtype}, which is float32 where it was a 16-bit one. {@code rescale_acts_by_decoder_norm} is
 * folded too: its norms go into the encoder, and the flag is cleared. Without either all encoder tensors keep their
 * bytes and {@code cfg.json} is copied.
 *
 * <p><b>Damage.</b> An adapted folder carries a checksum of its tensors and what {@code cfg.json} says about the
 * arithmetic; reading refuses a folder that differs from them in one bit. A folder from elsewhere has neither.
 *
 * <p><b>JumpReLU.</b> SAELens computes {@code relu(pre) * (pre > threshold)}. A negative threshold therefore acts as
 * 0, and is read as 0.
 */
final class SaeLensFormat implements ExplainerFormat {

    static final String WEIGHTS_FILE = "sae_weights.safetensors";
    private static final String W_ENC = "W_enc";
    private static final String B_ENC = "b_enc";
    private static final String W_DEC = "W_dec";
    private static final String B_DEC = "b_dec";
    private static final String W_SKIP = "W_skip";
    private static final String THRESHOLD = "threshold";
    private static final String B_GATE = "b_gate";
    private static final String B_MAG = "b_mag";
    private static final String R_MAG = "r_mag";
    private static final String SCALING_FACTOR = "scaling_factor";
    private static final String ARITHMETIC = "plumbline.arithmetic";
    private static final String NAME = "SAELens";
    private static final String SOURCE = "of cfg.json";
    private static final String REMEDY =
            "copy the folder again from where it was made, or write it again with `plumbline adapt` or `plumbline"
                    + " decoders fetch`";
    private static final String TIED =
            "its encoder's directions are its decoder's, so that another decoder would give other codes; fit another"
                    + " kind of dictionary, or watch only (`adaptation: {mode: observe}`)";

    @Override
    public FormatFacts facts() {
        return new FormatFacts(
                NAME,
                "cfg.json and " + WEIGHTS_FILE,
                "SAELens 2 to 6 (`save_model`, `save_inference_model`); BatchTopK and Matryoshka come as jumprelu",
                "standard, topk, abstopk, jumprelu, gated, matching_pursuit (watched, not refitted), transcoder,"
                        + " skip_transcoder, jumprelu_transcoder, jumprelu_skip_transcoder",
                "SAELens; folded, with `apply_b_dec_to_input` and `rescale_acts_by_decoder_norm` false, where they"
                        + " were true",
                "norm, for `expected_average_only_in`: a factor that rows were scaled with; k, for a transcoder that"
                        + " was trained with TopK, which SAELens reads as ReLU",
                "temporal (not a function of one row); batchtopk and matryoshka checkpoints (save them with"
                        + " `save_inference_model`); `scaling_factor`; other normalisations");
    }

    @Override
    public boolean recognises(ExplainerFiles files) {
        return files.names().contains(SaeLensConfig.FILE)
                && (files.chosen() == null
                        || Set.of(SaeLensConfig.FILE, WEIGHTS_FILE).contains(files.chosen()));
    }

    @Override
    public ExplainerShape shape(ExplainerFiles files, ExplainerOptions options) throws IOException {
        SaeLensConfig config = SaeLensConfig.read(files.folder()).keeping(options.k());
        return new ExplainerShape(
                config.inputWidth(),
                config.targetWidth(),
                config.features(),
                config.isTranscoder(),
                mostActive(config),
                !config.rescaled() && options.norm() == null && storesFloats(files.folder()));
    }

    private static int mostActive(SaeLensConfig config) {
        MatchingPursuitEncoder.Ending pursuit = config.pursuit();
        if (pursuit != null) {
            return Math.min(pursuit.mostSteps(), config.features());
        }
        return config.k() > 0 ? config.k() : config.features();
    }

    /**
     * Returns whether the weights are stored as floats, as in nearly every folder; one whose weights cannot be read is
     * refused when they are.
     */
    private static boolean storesFloats(Path directory) throws IOException {
        try (Safetensors opened = openWeights(directory)) {
            return !WeightTensors.isDouble(opened, W_ENC) && !WeightTensors.isDouble(opened, W_DEC);
        } catch (ExplainerFormatException unreadable) {
            return true;
        }
    }

    @Override
    public Explainer read(ExplainerFiles files, ExplainerOptions options) throws IOException {
        Path directory = files.folder();
        SaeLensConfig config = SaeLensConfig.read(directory).keeping(options.k());
        Safetensors opened = openWeights(directory);
        try (opened) {
            requireUnchanged(opened);
            requireItsConfig(config, opened.metadata());
            refuseOtherTensors(config, opened);
            Blueprint blueprint = blueprint(config, opened, options);
            return blueprint.read(new Origin(
                    NAME,
                    files.path(),
                    options,
                    blueprint.notes,
                    blueprint.decidedByPath,
                    config.pursuit() == null ? null : TIED));
        } catch (SafetensorsException | TensorFileException | ExplainerFormatException e) {
            throw new ExplainerFormatException(directory.resolve(WEIGHTS_FILE) + ": " + e.getMessage(), e);
        }
    }

    /**
     * Refuses weights that changed since Plumbline wrote them; a folder from elsewhere has no checksum to compare with.
     */
    private static void requireUnchanged(Safetensors weights) throws IOException {
        try {
            if (weights.isSealed()) {
                weights.requireUnchanged();
            }
        } catch (SafetensorsException changed) {
            throw new ExplainerFormatException("%s; %s".formatted(changed.getMessage(), REMEDY), changed);
        }
    }

    /** Refuses a cfg.json that says another arithmetic than the one the weights were written with. */
    private static void requireItsConfig(SaeLensConfig config, Map<String, String> metadata) {
        String expected = metadata.getOrDefault(ARITHMETIC, config.arithmetic());
        if (!config.arithmetic().equals(expected)) {
            throw new ExplainerFormatException("%s says \"%s\", the weights were written for \"%s\"; %s"
                    .formatted(SaeLensConfig.FILE, config.arithmetic(), expected, REMEDY));
        }
    }

    private static Blueprint blueprint(SaeLensConfig config, Safetensors weights, ExplainerOptions options) {
        Blueprint blueprint = new Blueprint(
                weights, config.architecture(), config.inputWidth(), config.features(), config.targetWidth(), SOURCE);
        blueprint.notes.addAll(config.notes());
        blueprint.subtractsDecoderBias = config.subtractsDecoderBias();
        blueprint.pursuit = config.pursuit();
        blueprint.selection = selection(config, blueprint);
        blueprint.encoderBias = config.activation() == SaeLensConfig.Activation.GATED ? B_GATE : B_ENC;
        if (config.hasSkip()) {
            blueprint.skip = new Blueprint.Part(W_SKIP, true);
        }
        if (config.rescaled()) {
            blueprint.norms = Blueprint.Norms.RESCALE;
            blueprint.notes.add(
                    "rescale_acts_by_decoder_norm: lengths of the decoder's rows folded into W_enc, b_enc and W_dec");
        }
        if (config.subtractsDecoderBias() && config.pursuit() == null) {
            blueprint.notes.add("apply_b_dec_to_input: b_dec folded into the encoder's bias");
        }
        normalise(config, options, blueprint);
        return blueprint;
    }

    private static void normalise(SaeLensConfig config, ExplainerOptions options, Blueprint blueprint) {
        boolean average = config.normalisation().equals(SaeLensConfig.EXPECTED_AVERAGE);
        List<String> known = new ArrayList<>(average ? List.of(ExplainerOptions.NORM) : List.of());
        if (config.isTranscoder() && config.activation() == SaeLensConfig.Activation.TOPK) {
            known.add(ExplainerOptions.K);
        }
        options.requireOnly(NAME, known.toArray(String[]::new));
        if (average) {
            Double factor = options.norm();
            if (factor == null) {
                blueprint.notes.add(
                        ("normalize_activations = %s: taken without a factor, as SAELens loads it from a disk; "
                                        + "where its release list has a norm_scaling_factor, give %s")
                                .formatted(
                                        SaeLensConfig.EXPECTED_AVERAGE,
                                        ExplainerOptions.howTo(ExplainerOptions.NORM, "FACTOR")));
                return;
            }
            blueprint.encoderFactor = factor;
            blueprint.decoderFactor = 1.0 / factor;
            blueprint.decoderBiasFactor = 1.0 / factor;
            blueprint.notes.add("norm = %s folded into W_enc, W_dec and b_dec".formatted(factor));
            return;
        }
        blueprint.normalisation = switch (config.normalisation()) {
            case "constant_norm_rescale" -> Normalisation.CONSTANT_NORM;
            case "layer_norm" -> Normalisation.LAYER_NORM;
            default -> Normalisation.NONE;
        };
        blueprint.normalisationIsUndone = !config.isTranscoder();
    }

    private static Blueprint.Selection selection(SaeLensConfig config, Blueprint blueprint) {
        return switch (config.activation()) {
            case RELU, MATCHING_PURSUIT -> ReluEncoder::new;
            case TOPK -> layer -> new TopKEncoder(layer, config.k());
            case ABSTOPK -> layer -> new SignedTopKEncoder(layer, config.k(), true);
            case JUMPRELU ->
                layer -> new JumpReluEncoder(layer, atLeastZero(blueprint.bias(THRESHOLD, config.features(), "d_sae")));
            case GATED -> layer -> gated(layer, blueprint, R_MAG, B_MAG, B_GATE);
        };
    }

    /**
     * Returns the gated encoder; the folded bias of the gate moves both paths alike: what is left of the other one does
     * not depend on it.
     */
    static Encoder gated(LinearLayer gate, Blueprint blueprint, String logFactor, String magnitude, String gateName) {
        double[] factor = blueprint.bias(logFactor, gate.features(), "d_sae");
        double[] shift = blueprint.bias(magnitude, gate.features(), "d_sae");
        double[] gateBias = blueprint.bias(gateName, gate.features(), "d_sae");
        for (int j = 0; j < factor.length; j++) {
            factor[j] = Math.exp(factor[j]);
            shift[j] -= factor[j] * gateBias[j];
        }
        return new GatedEncoder(gate, factor, shift);
    }

    /** Raises negative thresholds to 0, since one lets through what relu has made 0. */
    static double[] atLeastZero(double[] thresholds) {
        for (int j = 0; j < thresholds.length; j++) {
            thresholds[j] = Math.max(thresholds[j], 0.0);
        }
        return thresholds;
    }

    @Override
    public void writeAdapted(
            Explainer original, Decoder adapted, DType dtype, Map<String, String> lineage, Path outDirectory)
            throws IOException {
        AdaptedFolder.requireWritable(original, adapted, dtype);
        Path directory = original.directory();
        SaeLensConfig config = SaeLensConfig.read(directory)
                .keeping(original.origin().options().k());
        try (Safetensors weights = openWeights(directory)) {
            Blueprint blueprint = blueprint(config, weights, original.origin().options());
            AdaptedFolder.requireItsDecoder(original, blueprint.decoder());
            if (blueprint.encoderFactor != 1.0) {
                throw new ExplainerFormatException(
                        ("%s: a decoder adapted with option norm cannot be written in this format, "
                                        + "which has no place for it")
                                .formatted(directory));
            }
            SafetensorsWriter writer = SafetensorsWriter.create();
            weights.metadata().forEach(writer::metadata);
            lineage.forEach(writer::metadata);
            for (String name : weights.names()) {
                add(writer, weights.tensor(name), config, blueprint, adapted, dtype);
            }
            writer.metadata(ARITHMETIC, config.folded().arithmetic()).sealed();
            byte[] configBytes = config.isFolded()
                    ? config.foldedDocument()
                    : Files.readAllBytes(directory.resolve(SaeLensConfig.FILE));
            AtomicFile.writeFolder(outDirectory, folder -> {
                writer.writeTo(folder.resolve(WEIGHTS_FILE));
                AtomicFile.write(folder.resolve(SaeLensConfig.FILE), configBytes);
            });
        }
    }

    private static void add(
            SafetensorsWriter writer,
            Tensor tensor,
            SaeLensConfig config,
            Blueprint blueprint,
            Decoder adapted,
            DType dtype) {
        String name = tensor.name();
        boolean moved = config.isFolded();
        switch (name) {
            case W_DEC -> {
                boolean featureFirst =
                        tensor.shape().equals(List.of((long) config.features(), (long) config.targetWidth()));
                writer.add(
                        name,
                        dtype,
                        featureFirst ? adapted.weights() : adapted.weights().transpose());
            }
            case B_DEC -> writer.addVector(name, dtype, adapted.bias());
            case B_ENC, B_GATE -> addMoved(writer, tensor, moved, blueprint.encoderBias());
            case B_MAG -> addMoved(writer, tensor, moved, movedMagnitudeBias(blueprint));
            case W_ENC -> {
                if (config.rescaled()) {
                    writer.add(name, DType.F64, blueprint.encoderWeights());
                } else {
                    AdaptedFolder.addUntouched(writer, tensor);
                }
            }
            default -> AdaptedFolder.addUntouched(writer, tensor);
        }
    }

    private static void addMoved(SafetensorsWriter writer, Tensor tensor, boolean moved, double[] bias) {
        if (moved) {
            writer.addVector(tensor.name(), DType.F64, bias);
        } else {
            AdaptedFolder.addUntouched(writer, tensor);
        }
    }

    /**
     * Returns {@code b_mag} beside a gate whose bias has the decoder's folded in: {@code e^r_mag} times the gate's
     * move.
     */
    private static double[] movedMagnitudeBias(Blueprint blueprint) {
        double[] moved = blueprint.bias(B_MAG, blueprint.features, "d_sae");
        double[] factor = blueprint.bias(R_MAG, blueprint.features, "d_sae");
        double[] before = blueprint.bias(B_GATE, blueprint.features, "d_sae");
        double[] after = blueprint.encoderBias();
        for (int j = 0; j < moved.length; j++) {
            moved[j] += Math.exp(factor[j]) * (after[j] - before[j]);
        }
        return moved;
    }

    private static Safetensors openWeights(Path directory) throws IOException {
        return SafetensorsFiles.openUnchecked(directory.resolve(WEIGHTS_FILE));
    }

    private static void refuseOtherTensors(SaeLensConfig config, Safetensors weights) {
        for (String name : weights.names()) {
            switch (name) {
                case W_DEC, B_DEC -> {}
                case W_ENC, B_ENC -> requireFor(name, config, config.pursuit() == null);
                case THRESHOLD -> requireFor(name, config, config.activation() == SaeLensConfig.Activation.JUMPRELU);
                case B_GATE, B_MAG, R_MAG ->
                    requireFor(name, config, config.activation() == SaeLensConfig.Activation.GATED);
                case W_SKIP -> requireFor(name, config, config.hasSkip());
                case SCALING_FACTOR -> {
                    for (double factor : weights.tensor(name).toDoubles()) {
                        if (factor != 1.0) {
                            throw new ExplainerFormatException(
                                    ("tensor \"scaling_factor\" holds %s; expected 1 throughout, "
                                                    + "or the factors folded into the weights")
                                            .formatted(factor));
                        }
                    }
                }
                default ->
                    throw new ExplainerFormatException(
                            ("tensor \"%s\" is not part of what is supported: W_enc, b_enc, W_dec, b_dec, threshold, "
                                            + "W_skip, b_gate, b_mag, r_mag")
                                    .formatted(name));
            }
        }
    }

    private static void requireFor(String tensor, SaeLensConfig config, boolean expected) {
        if (!expected) {
            throw new ExplainerFormatException(
                    "tensor \"%s\" beside architecture %s, which has none".formatted(tensor, config.architecture()));
        }
    }
}
