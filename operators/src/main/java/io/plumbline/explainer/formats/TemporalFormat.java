package io.plumbline.explainer.formats;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerFiles;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.ExplainerShape;
import io.plumbline.explainer.FormatFacts;
import io.plumbline.wire.DType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/** Temporal SAEs, which are recognised only to be refused by their name: their codes are of a whole sequence. */
final class TemporalFormat implements ExplainerFormat {

    private static final String NAME = "temporal SAE";

    @Override
    public FormatFacts facts() {
        return new FormatFacts(
                NAME,
                "conf.yaml and latest_ckpt.safetensors",
                "SAELens",
                "none",
                "",
                "",
                "all: they read a whole sequence; watch the site with another dictionary");
    }

    @Override
    public boolean recognises(ExplainerFiles files) {
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
                ("%s: a temporal SAE: its codes depend on the rows before a row in its sequence, "
                                + "and rows are read one by one here; watch the site with another dictionary")
                        .formatted(files.path()));
    }
}
