package io.plumbline.topology.cli;

import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.FeatureLabels;
import io.plumbline.features.FeatureMap;
import io.plumbline.judgement.Amounts;
import io.plumbline.wire.AtomicFile;
import java.io.IOException;
import java.io.Writer;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline match}: which features of an explainer are found again in another one. */
@Command(
        name = "match",
        mixinStandardHelpOptions = true,
        description = {
            "Finds for each feature of an explainer the nearest one of another, by the cosine of their decoder columns,"
                    + " and carries labels over.",
            "",
            "The file has a line a feature of --after: its index, the label of the nearest feature of --before where"
                    + " the cosine is at least --cosine, the index of that one, and the cosine. It can stand as"
                    + " features.labels of a site. Each --explainer-option is given to both."
        },
        footer = "  plumbline match --before sae/ --after new_sae/ --labels labels.csv --out new_labels.csv")
public final class MatchCommand implements Callable<Integer> {

    @Option(
            names = "--before",
            required = true,
            paramLabel = "PATH",
            description = "Folder or file of the explainer whose features are known.")
    Path before;

    @Option(
            names = "--after",
            required = true,
            paramLabel = "PATH",
            description = "Folder or file of the explainer whose features are looked for among them.")
    Path after;

    @Mixin
    ExplainerFacts facts;

    @Option(
            names = "--labels",
            paramLabel = "FILE",
            description = "Labels of the features of --before: JSON or CSV. Without it none are carried over.")
    @Nullable
    Path labels;

    @Option(
            names = "--cosine",
            paramLabel = "C",
            defaultValue = "" + FeatureMap.SAME,
            description = "From which on a feature counts as found again, 0 to 1. Default: ${DEFAULT-VALUE}.")
    double cosine;

    @Option(names = "--out", required = true, paramLabel = "FILE", description = "The CSV to write; must not exist.")
    Path out;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        if (!(cosine >= 0.0 && cosine <= 1.0)) {
            throw new UsageException("--cosine = %s: expected 0 to 1".formatted(cosine));
        }
        Options.requireNew("--out", out, "file");
        Explainer known = Options.explainer(before, facts.options());
        Explainer other = Options.explainer(after, facts.options());
        FeatureLabels named = labels == null ? null : FeatureLabels.read(labels, known.features());
        if (known.targetWidth() != other.targetWidth()) {
            throw new UsageException("--after = %s: writes %d columns and --before %d: features of one place have a map"
                    .formatted(after, other.targetWidth(), known.targetWidth()));
        }
        FeatureMap.Nearest[] nearest =
                FeatureMap.between(other.decoder(), known.decoder()).all();
        int found = 0;
        int carried = 0;
        StringBuilder lines = new StringBuilder("feature,label,nearest,cosine\n");
        for (int feature = 0; feature < nearest.length; feature++) {
            boolean again = nearest[feature].cosine() >= cosine;
            String label = again && named != null ? named.of(nearest[feature].feature()) : null;
            found += again ? 1 : 0;
            carried += label == null ? 0 : 1;
            lines.append(String.format(
                    Locale.ROOT,
                    "%d,%s,%d,%.4f%n",
                    feature,
                    label == null ? "" : '"' + label.replace("\"", "\"\"") + '"',
                    nearest[feature].feature(),
                    nearest[feature].cosine()));
        }
        AtomicFile.write(out, channel -> {
            Writer writer = Channels.newWriter(channel, StandardCharsets.UTF_8);
            writer.append(lines);
            writer.flush();
        });
        spec.commandLine()
                .getOut()
                .println("wrote %s: %d of %s found again, %s carried over"
                        .formatted(
                                out, found, Amounts.count(nearest.length, "feature"), Amounts.count(carried, "label")));
        return ExitCodes.FINE;
    }
}
