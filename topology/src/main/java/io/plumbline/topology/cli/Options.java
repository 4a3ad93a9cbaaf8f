package io.plumbline.topology.cli;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.UsualRank;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.GivenReconstructions;
import io.plumbline.records.ActivationFile;
import io.plumbline.topology.assessment.Explainers;
import io.plumbline.topology.config.DurationText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;

/** Reads values of options that need a sentence when they are wrong. */
public final class Options {

    private Options() {}

    /** Returns whether {@code --verbose} was given to the program that runs this command. */
    public static boolean isVerbose(CommandSpec command) {
        return command.root().findOption("--verbose").getValue() instanceof Boolean verbose && verbose;
    }

    public static Duration duration(String option, String text) {
        try {
            return DurationText.parse(text);
        } catch (IllegalArgumentException refused) {
            throw new UsageException("%s = %s: %s".formatted(option, text, refused.getMessage()));
        }
    }

    public static Instant instant(String option, String text) {
        try {
            return Instant.parse(text);
        } catch (DateTimeParseException refused) {
            throw new UsageException(
                    "%s = %s: expected an instant such as 2026-01-01T00:00:00Z".formatted(option, text));
        }
    }

    /** Reads an instant, or a duration back from {@code now}. */
    public static Instant instantOrAgo(String option, String text, Instant now) {
        try {
            return now.minus(DurationText.parse(text));
        } catch (IllegalArgumentException noDuration) {
            try {
                return Instant.parse(text);
            } catch (DateTimeParseException refused) {
                throw new UsageException(
                        "%s = %s: expected an instant such as 2026-01-01T00:00:00Z, or how long ago, such as 7d"
                                .formatted(option, text));
            }
        }
    }

    /**
     * The explainer in a folder or file; for {@code none} one whose reconstructions the dumps bring.
     *
     * @param dumps of its site
     */
    static Explainer explainer(Path path, ExplainerOptions options, List<Path> dumps) throws IOException {
        if (!GivenReconstructions.isNamedBy(path)) {
            return explainer(path, options);
        }
        if (dumps.isEmpty()) {
            throw new UsageException(
                    "--explainer = none: expected dumps with a tensor \"reconstructions\", --activations FILE; "
                            + "a baseline without an explainer is not made from a topic");
        }
        try (ActivationFile dump = ActivationFile.open(dumps.get(0))) {
            return GivenReconstructions.of(dump.targetWidth(), options);
        }
    }

    /** The explainer in a folder or file; a missing one is a usage error. */
    static Explainer explainer(Path path, ExplainerOptions options) throws IOException {
        requireExplainer(path);
        return Explainers.read(path, options);
    }

    /**
     * The blocks of an explainer with several targets, all or the one that is named; or the explainer itself.
     *
     * @param dumps of its site, which tell what there is to know of an explainer {@code none}
     */
    public static List<Explainer> blocks(Path path, ExplainerOptions options, List<Path> dumps) throws IOException {
        return GivenReconstructions.isNamedBy(path) ? List.of(explainer(path, options, dumps)) : blocks(path, options);
    }

    /** The blocks of an explainer with several targets, all or the one that is named; or the explainer itself. */
    public static List<Explainer> blocks(Path path, ExplainerOptions options) throws IOException {
        requireExplainer(path);
        return Explainers.readBlocks(path, options);
    }

    private static void requireExplainer(Path path) {
        if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            throw new UsageException("--explainer = %s: no such folder".formatted(path));
        }
    }

    /** The baseline in a file, made with this explainer. */
    public static Baseline baseline(Path file, Explainer explainer) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new UsageException("--baseline = %s: no such file; `plumbline baseline` writes one".formatted(file));
        }
        Baseline baseline = Baseline.read(file);
        if (!baseline.explainerSha256().equals(explainer.decoder().sha256())) {
            throw new UsageException(
                    "%s was made with another decoder (sha256 %s) than that of %s (%s); run `plumbline baseline` again"
                            .formatted(
                                    file,
                                    baseline.explainerSha256(),
                                    explainer.directory(),
                                    explainer.decoder().sha256()));
        }
        return baseline;
    }

    public static void requireRank(int rank, Explainer explainer) {
        if (rank < 1 || rank >= explainer.targetWidth()) {
            throw new UsageException(
                    "--rank = %d: expected 1 to %d, less than the width the explainer writes; %d is usual"
                            .formatted(rank, explainer.targetWidth() - 1, UsualRank.of(explainer.targetWidth())));
        }
    }

    /** Refuses a place to write to before the work is done rather than after it. */
    public static void requireParent(String option, Path file) {
        Path parent = file.toAbsolutePath().getParent();
        if (parent != null && !Files.isDirectory(parent)) {
            throw new UsageException("%s = %s: the folder %s does not exist".formatted(option, file, parent));
        }
    }

    /**
     * Refuses a place to write to that is taken, or in a folder that is not there, before the work is done.
     *
     * @param kind what it will be, {@code file} or {@code folder}
     */
    public static void requireNew(String option, Path path, String kind) {
        if (Files.exists(path)) {
            throw new UsageException("%s = %s: exists already; name a %s that does not".formatted(option, path, kind));
        }
        requireParent(option, path);
    }
}
