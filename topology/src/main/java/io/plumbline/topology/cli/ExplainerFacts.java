package io.plumbline.topology.cli;

import io.plumbline.explainer.ExplainerOptions;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options that tell what is known of an explainer and stands in none of its files. */
public final class ExplainerFacts {

    /** Options that say where an explainer is, and what stands in none of its files. */
    public static final class Place {

        @Option(
                names = "--explainer",
                required = true,
                paramLabel = "DIR",
                description = "Folder or file of the explainer.")
        Path path;

        @Mixin
        ExplainerFacts facts;

        public Path path() {
            return path;
        }

        /** Returns what was given, as {@link ExplainerFacts#options} does. */
        public ExplainerOptions options() {
            return facts.options();
        }
    }

    @Option(
            names = "--explainer-option",
            paramLabel = "NAME=VALUE",
            description =
                    "A fact that is in none of the explainer's files: k, kind (sae or transcoder), layer, target, "
                            + "norm or features. May"
                            + " be repeated; a message names the one that is missing.")
    List<String> given = List.of();

    /**
     * Returns what was given.
     *
     * @throws UsageException where it is no option of an explainer
     */
    public ExplainerOptions options() {
        try {
            return ExplainerOptions.parse(given);
        } catch (IllegalArgumentException refused) {
            throw new UsageException("--explainer-option: " + refused.getMessage());
        }
    }
}
