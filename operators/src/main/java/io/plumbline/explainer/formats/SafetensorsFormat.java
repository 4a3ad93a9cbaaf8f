package io.plumbline.explainer.formats;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerFiles;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A format of safetensors files in which an adapted decoder is written back as it came. */
abstract class SafetensorsFormat extends PublishedFormat {

    /** Returns the name of the file of weights in the folder. */
    abstract String weights(ExplainerFiles files, ExplainerOptions options);

    /** Returns the names of the files beside it that are copied where they are. */
    abstract List<String> companions();

    @Override
    Safetensors open(ExplainerFiles files, ExplainerOptions options) throws IOException {
        return SafetensorsFiles.open(files.file(weights(files, options)));
    }

    @Override
    public void writeAdapted(
            Explainer original, Decoder adapted, DType dtype, Map<String, String> lineage, Path outDirectory)
            throws IOException {
        ExplainerFiles files = ExplainerFiles.of(original.origin().path());
        ExplainerOptions options = original.origin().options();
        try (Safetensors tensors = open(files, options)) {
            SafetensorsInPlace.write(
                    original,
                    adapted,
                    dtype,
                    lineage,
                    outDirectory,
                    blueprint(files, tensors, options),
                    tensors,
                    weights(files, options),
                    companions().stream().filter(files.names()::contains).toList());
        }
    }
}
