package io.plumbline.explainer;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a SAELens {@code cfg.json} says about the arithmetic, checked. Everything that changes the arithmetic and is not
 * listed here is refused by name; everything else (names, datasets, training) is none of our business.
 *
 * <pre>
 * key                              meaning here
 * architecture                     standard (also when absent), topk, jumprelu, transcoder, jumprelu_transcoder
 * d_in, d_sae, d_out               widths; d_out is needed for transcoders only
 * activation_fn, activation_fn_str relu or topk; topk turns standard into topk, as SAELens does for its old folders
 * k, activation_fn_kwargs.k        how many features topk keeps; a transcoder with k and no activation_fn is topk
 * apply_b_dec_to_input             absent: true for autoencoders, false for transcoders (SAELens' defaults)
 * normalize_activations            none (false in old folders)
 * reshape_activations              none or hook_z: both mean flat rows by the time they are published
 * rescale_acts_by_decoder_norm     false
 * finetuning_scaling_factor        false
 * </pre>
 *
 * <p>A training configuration nests these under {@code sae}; that is looked through.
 */
record SaeLensConfig(
        String architecture,
        Activation activation,
        int k,
        int inputWidth,
        int features,
        int targetWidth,
        boolean subtractsDecoderBias,
        ObjectNode document) {

    enum Activation {
        RELU,
        TOPK,
        JUMPRELU
    }

    static final String FILE = "cfg.json";

    private static final long LARGEST_BYTES = 1 << 20;
    private static final String APPLY_BIAS = "apply_b_dec_to_input";
    private static final String SUPPORTED = "standard, topk, jumprelu, transcoder, jumprelu_transcoder";
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    static SaeLensConfig read(Path directory) throws IOException {
        Path file = directory.resolve(FILE);
        long bytes = Files.size(file);
        if (bytes > LARGEST_BYTES) {
            throw new ExplainerFormatException(
                    "%s: %d bytes, expected at most %d for a configuration".formatted(file, bytes, LARGEST_BYTES));
        }
        try {
            // As text: from bytes Jackson would guess UTF-16 and UTF-32, and fail otherwise than over its syntax.
            String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
            if (!(JSON.readTree(text) instanceof ObjectNode document)) {
                throw new ExplainerFormatException("not a JSON object");
            }
            return of(document);
        } catch (JsonProcessingException e) {
            throw new ExplainerFormatException(file + ": not valid JSON: " + e.getMessage(), e);
        } catch (ExplainerFormatException e) {
            throw new ExplainerFormatException(file + ": " + e.getMessage(), e);
        }
    }

    /** The document with {@code apply_b_dec_to_input} set to false, everything else as it was. */
    byte[] withoutDecoderBiasSubtraction() {
        ObjectNode copy = document.deepCopy();
        arithmetic(copy).put(APPLY_BIAS, false);
        return copy.toPrettyString().getBytes(StandardCharsets.UTF_8);
    }

    /** The configuration of a folder whose encoder's bias has {@code b_dec} folded in. */
    SaeLensConfig folded() {
        return new SaeLensConfig(architecture, activation, k, inputWidth, features, targetWidth, false, document);
    }

    /** Everything here that codes and reconstructions depend on, as one line. */
    String arithmetic() {
        return "%s, %s %d, %d > %d > %d, b_dec subtracted: %s"
                .formatted(architecture, activation, k, inputWidth, features, targetWidth, subtractsDecoderBias);
    }

    private static SaeLensConfig of(ObjectNode document) {
        ObjectNode cfg = arithmetic(document);
        String architecture = text(cfg, "architecture", "standard");
        boolean transcoder = architecture.endsWith("transcoder");
        int features = size(cfg, "d_sae");
        int inputWidth = size(cfg, "d_in");
        int targetWidth = targetWidth(cfg, transcoder, inputWidth);
        refuseOtherArithmetic(cfg);
        String activationName = text(cfg, "activation_fn", text(cfg, "activation_fn_str", ""));
        JsonNode k = cfg.hasNonNull("k")
                ? cfg.get("k")
                : cfg.path("activation_fn_kwargs").get("k");
        Activation activation = activation(architecture, activationName, k != null && !k.isNull());
        return new SaeLensConfig(
                activation == Activation.TOPK && !transcoder ? "topk" : architecture,
                activation,
                activation == Activation.TOPK ? checkedK(k, features) : 0,
                inputWidth,
                features,
                targetWidth,
                subtractsDecoderBias(cfg, transcoder, inputWidth, targetWidth),
                document);
    }

    private static ObjectNode arithmetic(ObjectNode document) {
        return !document.has("d_in") && document.get("sae") instanceof ObjectNode nested ? nested : document;
    }

    private static Activation activation(String architecture, String name, boolean hasK) {
        switch (architecture) {
            case "standard", "topk", "jumprelu", "transcoder", "jumprelu_transcoder" -> {}
            default ->
                throw new ExplainerFormatException(
                        "architecture \"%s\" is not supported; supported: %s".formatted(architecture, SUPPORTED));
        }
        List<String> allowed =
                switch (architecture) {
                    case "topk" -> List.of("", "topk");
                    case "standard", "transcoder" -> List.of("", "relu", "topk");
                    default -> List.of("", "relu", "jumprelu");
                };
        if (!allowed.contains(name)) {
            throw new ExplainerFormatException(
                    "activation_fn \"%s\" is not supported for architecture %s; expected one of %s"
                            .formatted(name, architecture, allowed.subList(1, allowed.size())));
        }
        if (architecture.startsWith("jumprelu")) {
            return Activation.JUMPRELU;
        }
        boolean topK = architecture.equals("topk")
                || name.equals("topk")
                || (architecture.equals("transcoder") && name.isEmpty() && hasK);
        return topK ? Activation.TOPK : Activation.RELU;
    }

    private static void refuseOtherArithmetic(ObjectNode cfg) {
        JsonNode normalisation = cfg.path("normalize_activations");
        boolean none = normalisation.isMissingNode()
                || normalisation.isNull()
                || (normalisation.isBoolean() && !normalisation.booleanValue())
                || normalisation.asText().equals("none");
        if (!none) {
            throw new ExplainerFormatException(
                    "normalize_activations = %s is not supported; supported: \"none\" ".formatted(normalisation)
                            + "(a constant factor can be folded into the weights beforehand)");
        }
        String reshape = text(cfg, "reshape_activations", "none");
        if (!reshape.equals("none") && !reshape.equals("hook_z")) {
            throw new ExplainerFormatException(
                    "reshape_activations = \"%s\" is not supported; supported: none, hook_z".formatted(reshape));
        }
        for (String extra : List.of("rescale_acts_by_decoder_norm", "finetuning_scaling_factor")) {
            if (flag(cfg, extra, false)) {
                throw new ExplainerFormatException(
                        extra + " = true is not supported; supported: false (the factor folded into the weights)");
            }
        }
    }

    private static int targetWidth(ObjectNode cfg, boolean transcoder, int inputWidth) {
        if (transcoder) {
            return size(cfg, "d_out");
        }
        if (cfg.hasNonNull("d_out") && size(cfg, "d_out") != inputWidth) {
            throw new ExplainerFormatException("d_out = %s and d_in = %d differ; expected architecture \"transcoder\""
                    .formatted(cfg.get("d_out"), inputWidth));
        }
        return inputWidth;
    }

    private static boolean subtractsDecoderBias(ObjectNode cfg, boolean transcoder, int inputWidth, int targetWidth) {
        boolean subtracts = flag(cfg, APPLY_BIAS, !transcoder);
        if (subtracts && inputWidth != targetWidth) {
            throw new ExplainerFormatException(
                    "%s = true with d_in = %d and d_out = %d: b_dec does not fit the input; expected false"
                            .formatted(APPLY_BIAS, inputWidth, targetWidth));
        }
        return subtracts;
    }

    private static int checkedK(@Nullable JsonNode k, int features) {
        if (k == null
                || !k.canConvertToExactIntegral()
                || !k.canConvertToInt()
                || k.intValue() < 1
                || k.intValue() > features) {
            throw new ExplainerFormatException(
                    "k = %s: expected a whole number in 1 .. d_sae = %d for topk".formatted(k, features));
        }
        return k.intValue();
    }

    private static int size(ObjectNode cfg, String key) {
        JsonNode value = cfg.path(key);
        if (!value.isIntegralNumber() || !value.canConvertToInt() || value.intValue() < 1) {
            throw new ExplainerFormatException("%s = %s: expected a width, a whole number from 1 to %d"
                    .formatted(key, value.isMissingNode() ? "(absent)" : value, Integer.MAX_VALUE));
        }
        return value.intValue();
    }

    private static boolean flag(ObjectNode cfg, String key, boolean whenAbsent) {
        JsonNode value = cfg.path(key);
        if (value.isMissingNode() || value.isNull()) {
            return whenAbsent;
        }
        if (!value.isBoolean()) {
            throw new ExplainerFormatException("%s = %s: expected true or false".formatted(key, value));
        }
        return value.booleanValue();
    }

    private static String text(ObjectNode cfg, String key, String whenAbsent) {
        JsonNode value = cfg.path(key);
        if (value.isMissingNode() || value.isNull()) {
            return whenAbsent;
        }
        if (!value.isTextual()) {
            throw new ExplainerFormatException("%s = %s: expected a string".formatted(key, value));
        }
        return value.textValue();
    }
}
