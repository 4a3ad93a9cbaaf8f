package io.plumbline.explainer;

import io.plumbline.wire.DType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Pattern;

/** Recognises dictionaries that are no function of one row at one site, only to refuse them by name. */
final class CrossLayerFormats implements ExplainerFormat {

    private static final String NAME = "cross-layer and temporal dictionaries";
    private static final Pattern CROSS_LAYER =
            Pattern.compile("W_enc_\\d+\\.safetensors|W_dec_\\d+\\.safetensors|params_layer_\\d+\\.safetensors");

    @Override
    public FormatFacts facts() {
        return new FormatFacts(
                NAME,
                "W_enc_N.safetensors; params_layer_N.safetensors; conf.yaml and latest_ckpt.safetensors",
                "circuit-tracer, Gemma Scope 2 (clt), SAELens (temporal)",
                "none",
                "",
                "",
                "all: they write into several layers, or read a whole sequence; watch each layer with a transcoder of its own");
    }

    @Override
    public boolean recognises(ExplainerFiles files) {
        return !files.matching(CROSS_LAYER).isEmpty() || isTemporal(files);
    }

    private static boolean isTemporal(ExplainerFiles files) {
        return files.has("conf.yaml", "latest_ckpt.safetensors");
    }

    @Override
    public ExplainerShape shape(ExplainerFiles files, ExplainerOptions options) {
        throw refusal(files);
    }

    @Override
    public Explainer read(ExplainerFiles files, ExplainerOptions options) {
        throw refusal(files);
    }

    @Override
    public void writeAdapted(
            Explainer original, Decoder adapted, DType dtype, Map<String, String> lineage, Path outDirectory)
            throws IOException {
        throw refusal(ExplainerFiles.of(original.origin().path()));
    }

    private static ExplainerFormatException refusal(ExplainerFiles files) {
        return new ExplainerFormatException(
                isTemporal(files)
                        ? "%s: a temporal SAE: its codes depend on the rows before a row in its sequence, and rows are read one by one here; watch the site with another dictionary"
                                .formatted(files.path())
                        : "%s: a cross-layer transcoder: each of its features writes into several layers, and a site is one layer; watch the layers with transcoders of their own"
                                .formatted(files.path()));
    }
}
