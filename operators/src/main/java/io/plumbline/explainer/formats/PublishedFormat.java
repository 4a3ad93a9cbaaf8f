package io.plumbline.explainer.formats;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerFiles;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.ExplainerShape;
import io.plumbline.explainer.Origin;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsException;
import io.plumbline.wire.TensorFile;
import io.plumbline.wire.TensorFileException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/** A format whose reader makes a {@link Blueprint} of one file of tensors and what lies beside it. */
abstract class PublishedFormat implements ExplainerFormat {

    /** Opens the tensors; those of safetensors are compared with their checksum where they have one. */
    abstract TensorFile open(ExplainerFiles files, ExplainerOptions options) throws IOException;

    /** Returns what names and configuration mean. */
    abstract Blueprint blueprint(ExplainerFiles files, TensorFile tensors, ExplainerOptions options) throws IOException;

    @Override
    public final ExplainerShape shape(ExplainerFiles files, ExplainerOptions options) throws IOException {
        try (TensorFile tensors = open(files, options)) {
            return blueprint(files, tensors, options).shape();
        } catch (SafetensorsException | TensorFileException | ExplainerFormatException e) {
            throw named(files, e);
        }
    }

    @Override
    public final Explainer read(ExplainerFiles files, ExplainerOptions options) throws IOException {
        try (TensorFile tensors = open(files, options)) {
            Blueprint blueprint = blueprint(files, tensors, options);
            return blueprint.read(new Origin(
                    facts().name(),
                    files.path(),
                    options,
                    blueprint.notes,
                    blueprint.decidedByPath,
                    blueprint.notRefitted));
        } catch (SafetensorsException | TensorFileException | ExplainerFormatException e) {
            throw named(files, e);
        }
    }

    /** Returns a refusal that begins with the path. */
    static ExplainerFormatException named(ExplainerFiles files, RuntimeException refused) {
        String message = String.valueOf(refused.getMessage());
        return new ExplainerFormatException(
                message.startsWith(files.folder().toString()) ? message : files.path() + ": " + message, refused);
    }

    /** Writes a SAELens folder, into which everything of the decoder is folded. */
    @Override
    public void writeAdapted(
            Explainer original, Decoder adapted, DType dtype, Map<String, String> lineage, Path outDirectory)
            throws IOException {
        ExplainerFiles files = ExplainerFiles.of(original.origin().path());
        ExplainerOptions options = original.origin().options();
        try (TensorFile tensors = open(files, options)) {
            SaeLensExport.write(original, adapted, dtype, lineage, outDirectory, blueprint(files, tensors, options));
        }
    }
}
