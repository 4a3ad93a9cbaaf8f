package io.plumbline.explainer.formats;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.plumbline.explainer.ConfigFile;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.MatchingPursuitEncoder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The checked content of a SAELens {@code cfg.json} about the arithmetic. SAELens' own rules hold: a key it does not
 * know for an architecture changes nothing there, and an absent one has its default. Names, datasets and training are
 * none of our business.
 *
 * <pre>
 * key                              meaning here
 * architecture                     standard (or absent), topk, jumprelu, gated, abstopk, matching_pursuit, transcoder,
 *                                  skip_transcoder, jumprelu_transcoder, jumprelu_skip_transcoder
 * d_in, d_sae, d_out               widths; d_out, of transcoders only, is 768 when absent
 * activation_fn_kwargs.k           with activation_fn topk, before version 6: the architecture is topk
 * k                                how many features topk and abstopk keep; absent: 100
 * rescale_acts_by_decoder_norm     topk and abstopk: pre-activations are compared times the length of the decoder's row
 * apply_b_dec_to_input             absent: true for autoencoders, false for transcoders, which cannot have it
 * normalize_activations            none, constant_norm_rescale, layer_norm, expected_average_only_in; before 6 also
 *                                  false (none) and true (expected_average_only_in)
 * reshape_activations              none or hook_z: both mean flat rows by the time they are published
 * residual_threshold, max_iterations, stop_on_duplicate_support    of matching_pursuit
 * finetuning_scaling_factor        false
 * </pre>
 *
 * <p>A training configuration nests these under {@code sae}; that is looked through.
 */
record SaeLensConfig(
        String architecture,
        Activation activation,
        int k,
        boolean rescaled,
        int inputWidth,
        int features,
        int targetWidth,
        boolean subtractsDecoderBias,
        String normalisation,
        MatchingPursuitEncoder.@Nullable Ending pursuit,
        List<String> notes,
        ObjectNode document) {

    enum Activation {
        RELU,
        TOPK,
        ABSTOPK,
        JUMPRELU,
        GATED,
        MATCHING_PURSUIT
    }

    static final String FILE = "cfg.json";
    static final String EXPECTED_AVERAGE = "expected_average_only_in";

    private static final String APPLY_BIAS = "apply_b_dec_to_input";
    private static final String RESCALE = "rescale_acts_by_decoder_norm";
    private static final List<String> ARCHITECTURES = List.of(
            "standard",
            "topk",
            "jumprelu",
            "gated",
            "abstopk",
            "matching_pursuit",
            "transcoder",
            "skip_transcoder",
            "jumprelu_transcoder",
            "jumprelu_skip_transcoder");
    private static final int DEFAULT_K = 100;
    private static final int DEFAULT_D_OUT = 768;

    static SaeLensConfig read(Path directory) throws IOException {
        Path file = directory.resolve(FILE);
        ConfigFile config = ConfigFile.json(file);
        try {
            return of(config.document());
        } catch (ExplainerFormatException e) {
            throw new ExplainerFormatException(file + ": " + e.getMessage(), e);
        }
    }

    boolean isTranscoder() {
        return Explainer.isTranscoder(architecture);
    }

    boolean hasSkip() {
        return architecture.contains("skip");
    }

    /** Returns the document as it must be beside an encoder into which everything of the decoder is folded. */
    byte[] foldedDocument() {
        ObjectNode copy = document.deepCopy();
        ObjectNode cfg = arithmetic(copy);
        if (cfg.path("dtype").asText().endsWith("float16")) {
            // SAELens would round what was folded to 16 bits, and other features would be active.
            cfg.put("dtype", "float32");
        }
        if (subtractsDecoderBias) {
            cfg.put(APPLY_BIAS, false);
        }
        if (rescaled) {
            cfg.put(RESCALE, false);
        }
        return copy.toPrettyString().getBytes(StandardCharsets.UTF_8);
    }

    /** Returns whether something of the decoder is in what the encoder computes, and is folded into its weights. */
    boolean isFolded() {
        return subtractsDecoderBias || rescaled;
    }

    /**
     * Returns this configuration with the k largest pre-activations kept, where the user says that a ReLU transcoder
     * was trained so; SAELens has no such architecture and reads the folder as it is written.
     *
     * @param kept k, or null where nothing is said
     */
    SaeLensConfig keeping(@Nullable Integer kept) {
        if (kept == null || !isTranscoder() || activation != Activation.RELU) {
            return this;
        }
        if (kept > features) {
            throw new ExplainerFormatException("option k = %d: expected at most d_sae = %d".formatted(kept, features));
        }
        return new SaeLensConfig(
                "topk_" + architecture,
                Activation.TOPK,
                kept,
                rescaled,
                inputWidth,
                features,
                targetWidth,
                subtractsDecoderBias,
                normalisation,
                pursuit,
                List.of("k = %d: the %d largest pre-activations are kept; SAELens itself keeps all above 0"
                        .formatted(kept, kept)),
                document);
    }

    /** Returns the configuration of a folder whose encoder has all of it folded in. */
    SaeLensConfig folded() {
        return new SaeLensConfig(
                architecture,
                activation,
                k,
                false,
                inputWidth,
                features,
                targetWidth,
                false,
                normalisation,
                pursuit,
                notes,
                document);
    }

    /** Returns everything here that codes and reconstructions depend on, as one line. */
    String arithmetic() {
        return "%s, %s %d, %d > %d > %d, b_dec subtracted: %s%s%s"
                .formatted(
                        architecture,
                        activation,
                        k,
                        inputWidth,
                        features,
                        targetWidth,
                        subtractsDecoderBias,
                        rescaled ? ", rescaled" : "",
                        normalisation.equals("none") ? "" : ", " + normalisation);
    }

    private static SaeLensConfig of(ObjectNode document) {
        ObjectNode cfg = arithmetic(document);
        ConfigFile keys = new ConfigFile(cfg);
        boolean old = isBefore6(cfg);
        List<String> notes = new ArrayList<>();
        boolean oldTopK = old
                && activationName(keys).equals("topk")
                && cfg.path("activation_fn_kwargs").hasNonNull("k");
        String architecture = oldTopK ? "topk" : keys.text("architecture", "standard");
        requireSupported(architecture);
        if (oldTopK && Explainer.isTranscoder(keys.text("architecture", "standard"))) {
            throw new ExplainerFormatException(
                    ("architecture %s with activation_fn topk: SAELens has no TopK transcoder; "
                                    + "write the weights as EleutherAI's sparsify does (transcode: true, k), "
                                    + "which is read here")
                            .formatted(keys.text("architecture", "standard")));
        }
        boolean transcoder = Explainer.isTranscoder(architecture);
        boolean topK = architecture.endsWith("topk");
        Activation activation = activation(architecture);
        noteActivation(keys, architecture, notes);
        int features = keys.size("d_sae");
        int inputWidth = keys.size("d_in");
        int targetWidth = targetWidth(keys, transcoder, inputWidth);
        refuseOtherArithmetic(keys);
        if (!topK && keys.flag(RESCALE, false)) {
            notes.add("%s is not read by SAELens for %s: nothing is rescaled".formatted(RESCALE, architecture));
        }
        JsonNode k = oldTopK ? cfg.path("activation_fn_kwargs").get("k") : cfg.get("k");
        return new SaeLensConfig(
                architecture,
                activation,
                topK ? checkedK(k == null || k.isNull() ? document.numberNode(DEFAULT_K) : k, features) : 0,
                topK && keys.flag(RESCALE, false),
                inputWidth,
                features,
                targetWidth,
                subtractsDecoderBias(keys, transcoder),
                normalisation(cfg),
                activation == Activation.MATCHING_PURSUIT ? pursuit(keys, inputWidth) : null,
                List.copyOf(notes),
                document);
    }

    private static ObjectNode arithmetic(ObjectNode document) {
        return !document.has("d_in") && document.get("sae") instanceof ObjectNode nested ? nested : document;
    }

    /** Returns whether the folder is read by the rules that SAELens keeps for what was written before its version 6. */
    private static boolean isBefore6(ObjectNode cfg) {
        JsonNode own = cfg.path("sae_lens_version");
        String version = (own.isTextual() ? own : cfg.path("metadata").path("sae_lens_version")).asText("");
        int dot = version.indexOf('.');
        try {
            return dot < 1 || Integer.parseInt(version.substring(0, dot)) < 6;
        } catch (NumberFormatException unknown) {
            return true;
        }
    }

    private static String activationName(ConfigFile keys) {
        return keys.text("activation_fn", keys.text("activation_fn_str", ""));
    }

    private static void requireSupported(String architecture) {
        if (ARCHITECTURES.contains(architecture)) {
            return;
        }
        String advice =
                switch (architecture) {
                    case "temporal" ->
                        "its codes depend on the rows before a row in its sequence, and rows are read one by one"
                                + " here; watch the site with another dictionary";
                    case "batchtopk", "matryoshka_batchtopk", "matryoshka" ->
                        "this is a training checkpoint; save it with SAELens' save_inference_model, which writes a"
                                + " jumprelu that is read here";
                    default -> "supported: " + String.join(", ", ARCHITECTURES);
                };
        throw new ExplainerFormatException("architecture \"%s\" is not supported; %s".formatted(architecture, advice));
    }

    private static Activation activation(String architecture) {
        return switch (architecture) {
            case "topk" -> Activation.TOPK;
            case "abstopk" -> Activation.ABSTOPK;
            case "gated" -> Activation.GATED;
            case "matching_pursuit" -> Activation.MATCHING_PURSUIT;
            default -> architecture.startsWith("jumprelu") ? Activation.JUMPRELU : Activation.RELU;
        };
    }

    /** Notes an activation that SAELens ignores: it computes what the architecture says. */
    private static void noteActivation(ConfigFile keys, String architecture, List<String> notes) {
        String name = activationName(keys);
        String own = architecture.startsWith("jumprelu") ? "jumprelu" : architecture;
        if (!List.of("", "relu", "topk", own).contains(name)) {
            throw new ExplainerFormatException(
                    "activation_fn \"%s\" is not supported for architecture %s; expected relu, topk or none"
                            .formatted(name, architecture));
        }
        if (name.equals("topk") && !architecture.endsWith("topk")) {
            boolean jumpRelu = architecture.startsWith("jumprelu");
            notes.add("activation_fn topk is not read by SAELens for architecture %s: %s is computed%s"
                    .formatted(
                            architecture,
                            jumpRelu ? "JumpReLU" : "ReLU",
                            jumpRelu
                                    ? ""
                                    : "; where only the k largest features were active in training, give "
                                            + ExplainerOptions.howTo(ExplainerOptions.K, "K")));
        }
    }

    private static String normalisation(ObjectNode cfg) {
        JsonNode value = cfg.path("normalize_activations");
        if (value.isMissingNode() || value.isNull()) {
            return "none";
        }
        if (value.isBoolean()) {
            return value.booleanValue() ? EXPECTED_AVERAGE : "none";
        }
        return switch (value.asText()) {
            case "none", "constant_norm_rescale", "layer_norm", EXPECTED_AVERAGE -> value.asText();
            default ->
                throw new ExplainerFormatException(
                        ("normalize_activations = %s is not supported; supported: none, constant_norm_rescale, "
                                        + "layer_norm, %s (fold another one into the weights before saving, "
                                        + "as SAELens' save_inference_model does)")
                                .formatted(value, EXPECTED_AVERAGE));
        };
    }

    private static void refuseOtherArithmetic(ConfigFile keys) {
        String reshape = keys.text("reshape_activations", "none");
        if (!reshape.equals("none") && !reshape.equals("hook_z")) {
            throw new ExplainerFormatException(
                    "reshape_activations = \"%s\" is not supported; supported: none, hook_z".formatted(reshape));
        }
        if (keys.flag("finetuning_scaling_factor", false)) {
            throw new ExplainerFormatException(
                    "finetuning_scaling_factor = true is not supported; supported: false (the factor folded into the"
                            + " weights)");
        }
    }

    private static MatchingPursuitEncoder.Ending pursuit(ConfigFile keys, int inputWidth) {
        return new MatchingPursuitEncoder.Ending(
                keys.isNull("max_iterations") ? inputWidth : keys.size("max_iterations"),
                keys.number("residual_threshold", 1e-2),
                keys.flag("stop_on_duplicate_support", true));
    }

    private static int targetWidth(ConfigFile keys, boolean transcoder, int inputWidth) {
        if (transcoder) {
            return keys.isNull("d_out") ? DEFAULT_D_OUT : keys.size("d_out");
        }
        if (!keys.isNull("d_out") && keys.size("d_out") != inputWidth) {
            throw new ExplainerFormatException("d_out = %d and d_in = %d differ; expected architecture \"transcoder\""
                    .formatted(keys.size("d_out"), inputWidth));
        }
        return inputWidth;
    }

    private static boolean subtractsDecoderBias(ConfigFile keys, boolean transcoder) {
        boolean subtracts = keys.flag(APPLY_BIAS, !transcoder);
        if (subtracts && transcoder) {
            throw new ExplainerFormatException(
                    "%s = true for a transcoder: b_dec is of the output and not of the input; expected false"
                            .formatted(APPLY_BIAS));
        }
        return subtracts;
    }

    private static int checkedK(JsonNode k, int features) {
        if (!k.canConvertToExactIntegral() || !k.canConvertToInt() || k.intValue() < 1 || k.intValue() > features) {
            throw new ExplainerFormatException(
                    "k = %s: expected a whole number in 1 .. d_sae = %d for topk".formatted(k, features));
        }
        return k.intValue();
    }
}
