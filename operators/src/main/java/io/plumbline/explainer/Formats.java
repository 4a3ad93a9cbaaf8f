package io.plumbline.explainer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** All formats known, in the order in which they are tried. */
final class Formats {

    private static final List<ExplainerFormat> ALL = List.of(
            new SparsifyFormat(),
            new SaeLensFormat(),
            new GemmaScope1Format(),
            new GemmaScope2Format(),
            new CircuitTracerFormat(),
            new LlamaScopeFormat(),
            new OpenMossBlocksFormat(),
            new OpenMossFormat(),
            new CircuitTracerCrossLayerFormat(),
            new GemmaScope2CrossLayerFormat(),
            new TemporalFormat(),
            new TorchFormat());

    private Formats() {}

    static List<FormatFacts> facts() {
        return ALL.stream().map(ExplainerFormat::facts).toList();
    }

    /**
     * Returns the format of some files.
     *
     * @throws ExplainerFormatException where it is none, naming all that are
     */
    static ExplainerFormat of(ExplainerFiles files) throws IOException {
        for (ExplainerFormat format : ALL) {
            if (format.recognises(files)) {
                return format;
            }
        }
        throw new ExplainerFormatException("%s holds no explainer%s; supported: %s"
                .formatted(
                        files.path(),
                        inside(files),
                        ALL.stream().map(format -> format.facts().description()).collect(Collectors.joining(", "))));
    }

    /** Says which explainers a folder holds: a folder of several is often given in the place of one. */
    private static String inside(ExplainerFiles files) throws IOException {
        if (files.chosen() != null) {
            return "";
        }
        try (Stream<Path> below = Files.list(files.folder())) {
            for (Path folder :
                    below.filter(Files::isDirectory).sorted().limit(50).toList()) {
                ExplainerFiles inner = ExplainerFiles.of(folder);
                for (ExplainerFormat format : ALL) {
                    if (format.recognises(inner)) {
                        return ", but its folder %s does (%s): give that one"
                                .formatted(folder.getFileName(), format.facts().name());
                    }
                }
            }
        }
        return "";
    }
}
