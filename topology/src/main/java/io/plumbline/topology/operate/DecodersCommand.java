package io.plumbline.topology.operate;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.JointDecoder;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.ExplainerFacts;
import io.plumbline.topology.cli.Options;
import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.emission.DecoderManifest;
import io.plumbline.topology.emission.DecoderSubscription;
import io.plumbline.topology.emission.PublishedDecoder;
import io.plumbline.wire.DType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline decoders}: what was published, explainer folders made of it, and who decides what serves. */
@Command(
        name = "decoders",
        mixinStandardHelpOptions = true,
        description =
                "Lists published decoders, joins them to the trained explainer, and decides what goes into service.",
        footer = {
            "  plumbline decoders list --config plumbline.yaml",
            "  plumbline decoders approve --config plumbline.yaml --site encoder.layer.2 --candidate 3",
            "  plumbline decoders follow --help"
        },
        subcommands = {
            DecodersListCommand.class,
            DecodersShowCommand.class,
            DecodersCommand.Fetch.class,
            DecodersCommand.Follow.class,
            SwapCommands.Approve.class,
            SwapCommands.Pin.class,
            SwapCommands.Unpin.class,
            SwapCommands.Rollback.class
        })
final class DecodersCommand {

    /** Options that name one site's trained explainer and where folders go. */
    static final class Target {
        @Option(names = "--site", required = true, paramLabel = "SITE", description = "The site.")
        String site;

        @Option(
                names = "--explainer",
                required = true,
                paramLabel = "DIR",
                description = "Folder or file of the trained explainer; a decoder made from another one is refused.")
        Path explainer;

        @Mixin
        ExplainerFacts facts;

        @Option(names = "--out", required = true, paramLabel = "DIR", description = "The folder to write.")
        Path out;

        @Option(
                names = "--targets",
                split = ",",
                paramLabel = "L",
                description = "The target layers that the site lists, in its order. Default: all of the explainer.")
        List<Integer> targets = List.of();

        /** Returns the trained explainer, or the blocks whose decoders are published as one. */
        List<Explainer> trained() throws IOException {
            List<Explainer> all = Options.blocks(explainer, facts.options());
            List<Explainer> listed = new ArrayList<>();
            for (int target : targets) {
                listed.add(all.stream()
                        .filter(one -> one.block() != null && one.block().target() == target)
                        .findFirst()
                        .orElseThrow(() -> new UsageException(
                                "--targets = %d: expected target layers of %s".formatted(target, explainer))));
            }
            return targets.isEmpty() ? all : listed;
        }

        /** Returns the trained decoder that what is published was made from. */
        static Decoder parent(List<Explainer> trained) {
            return trained.size() == 1
                    ? trained.get(0).decoder()
                    : JointDecoder.of(decoders(trained)).join(decoders(trained));
        }

        private static List<Decoder> decoders(List<Explainer> trained) {
            return trained.stream().map(Explainer::decoder).toList();
        }

        DecoderSubscription of(List<Explainer> trained) {
            return DecoderSubscription.of(Map.of(site, parent(trained)));
        }

        static void write(List<Explainer> trained, PublishedDecoder published, Path folder) throws IOException {
            DecoderManifest manifest = published.manifest();
            Map<String, String> lineage = new LinkedHashMap<>(manifest.lineage());
            lineage.put("site", manifest.site());
            lineage.put("version", Long.toString(manifest.version()));
            lineage.put("parent_sha256", manifest.parentSha256());
            // A half holds no value that a float does not, and not every reader of these folders takes halves.
            DType dtype = published.dtype() == DType.F64 ? DType.F64 : DType.F32;
            if (trained.size() == 1) {
                Formats.writeAdapted(trained.get(0), published.decoder(), dtype, lineage, folder);
            } else {
                List<Decoder> blocks = JointDecoder.of(decoders(trained)).split(published.decoder());
                Formats.writeAdapted(trained, blocks, dtype, lineage, folder);
            }
        }
    }

    @Command(
            name = "fetch",
            mixinStandardHelpOptions = true,
            description = "Writes the newest decoder of a site, joined to its trained explainer, as a folder.",
            footer = {
                "  plumbline decoders fetch --bootstrap-servers localhost:9092 --site encoder.layer.2 \\",
                "      --explainer sae/ --out adapted/"
            })
    static final class Fetch implements Callable<Integer> {

        @Mixin
        DecoderSource source;

        @Mixin
        Target target;

        @Option(
                names = "--candidate",
                description = "The newest candidate instead, to be looked at before it is approved.")
        boolean candidate;

        @Spec
        CommandSpec spec;

        @Override
        public Integer call() throws IOException {
            Options.requireNew("--out", target.out, "folder");
            List<Explainer> trained = target.trained();
            PublishedDecoder newest = null;
            try (DecoderReading reading = source.readSigned(
                    candidate
                            ? DecoderSubscription.ofCandidates(target.site, Target.parent(trained))
                            : target.of(trained))) {
                for (DecoderReading.Found found = reading.next();
                        !(found instanceof DecoderReading.Found.CaughtUp);
                        found = reading.next()) {
                    if (found instanceof DecoderReading.Found.Published published) {
                        newest = published.decoder();
                    } else {
                        DecoderReading.printRefused(spec.commandLine().getErr(), DecoderReading.orFail(found));
                    }
                }
            }
            if (newest == null) {
                throw new IllegalStateException("no decoder of site %s, made from %s, was found; nothing was written"
                        .formatted(target.site, target.explainer));
            }
            Target.write(trained, newest, target.out);
            spec.commandLine().getOut().println("version %d in %s".formatted(newest.version(), target.out));
            return ExitCodes.FINE;
        }
    }

    @Command(
            name = "follow",
            mixinStandardHelpOptions = true,
            description = {
                "Writes every new decoder of a site as a folder OUT/version-N, until it is interrupted.",
                "",
                "A folder appears whole or not at all; one that is there already is left alone."
            },
            footer = {
                "  plumbline decoders follow --bootstrap-servers localhost:9092 --site encoder.layer.2 \\",
                "      --explainer sae/ --out adapted/"
            })
    static final class Follow implements Callable<Integer> {

        @Mixin
        DecoderSource source;

        @Mixin
        Target target;

        @Option(names = "--count", paramLabel = "N", description = "Stop after N decoders. Default: never.")
        @Nullable
        Integer count;

        @Spec
        CommandSpec spec;

        @Override
        public Integer call() throws IOException {
            List<Explainer> trained = target.trained();
            Files.createDirectories(target.out);
            Function<PublishedDecoder, Path> folder = published -> target.out.resolve("version-" + published.version());
            int left = count == null ? Integer.MAX_VALUE : count;
            try (DecoderReading reading = source.readSigned(target.of(trained))) {
                while (left > 0) {
                    DecoderReading.Found found = reading.next();
                    if (found instanceof DecoderReading.Found.Published published) {
                        Path out = folder.apply(published.decoder());
                        if (!Files.exists(out)) {
                            Target.write(trained, published.decoder(), out);
                        }
                        spec.commandLine()
                                .getOut()
                                .println("version %d (%s) in %s"
                                        .formatted(
                                                published.decoder().version(),
                                                published.decoder().manifest().kind(),
                                                out));
                        spec.commandLine().getOut().flush();
                        left--;
                    } else {
                        DecoderReading.printRefused(spec.commandLine().getErr(), found);
                    }
                }
            }
            return ExitCodes.FINE;
        }
    }
}
