package io.plumbline.topology.cli;

import io.plumbline.explainer.ExplainerOptions;
import java.util.List;
import picocli.CommandLine.Option;

/** Options that tell what is known of an explainer and stands in none of its files. */
public final class ExplainerFacts {

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
