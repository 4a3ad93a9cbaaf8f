package io.plumbline.topology.cli;

import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.Origin;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline explainer}: what a folder or file holds, and what is made of it. */
@Command(
        name = "explainer",
        mixinStandardHelpOptions = true,
        description = {
            "Reads an explainer and tells its format, kind and sizes, what was folded, "
                    + "and what cannot be done with it.",
            "",
            "What is refused is refused with what to do instead; a fact that is in none of the files is named as the "
                    + "option to give."
        },
        footer = {
            "  plumbline explainer sae/",
            "A set of transcoders, one layer of it:",
            "  plumbline explainer transcoders/ --explainer-option layer=12 --json",
            "A cross-layer transcoder or crosscoder, the block that writes into layer 3:",
            "  plumbline explainer clt/ --explainer-option target=3"
        })
public final class ExplainerCommand implements Callable<Integer> {

    @Parameters(paramLabel = "PATH", description = "Folder or file of the explainer.")
    Path path;

    @Mixin
    ExplainerFacts facts;

    @Option(names = "--json", description = "Print one JSON object.")
    boolean json;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        List<Explainer> blocks = Options.blocks(path, facts.options());
        Explainer explainer = blocks.get(0);
        if (blocks.size() > 1) {
            tellBlocks(blocks);
            return ExitCodes.FINE;
        }
        Origin origin = explainer.origin();
        Answer answer = new Answer()
                .put("format", origin.format())
                .put("architecture", explainer.architecture())
                .put("transcoder", explainer.isTranscoder())
                .put("input_width", explainer.inputWidth())
                .put("features", explainer.features())
                .put("target_width", explainer.targetWidth())
                .put("decoder_sha256", explainer.decoder().sha256());
        String between = explainer.space().describe();
        answer.put("targets", between.isEmpty() ? "as they come" : between).put("notes", origin.notes());
        String notRefitted = origin.notRefitted();
        answer.put("refitted", notRefitted == null ? "yes" : "no: " + notRefitted);
        answer.put(
                "watched",
                explainer.space().isPlain()
                        ? "by the service, and by baseline, assess and adapt"
                        : "by baseline, assess and adapt; the service refuses it, since " + between);
        answer.print(spec.commandLine().getOut(), json);
        return ExitCodes.FINE;
    }

    private void tellBlocks(List<Explainer> blocks) {
        Explainer first = blocks.get(0);
        Answer answer = new Answer()
                .put("format", first.origin().format())
                .put("architecture", first.architecture())
                .put("transcoder", first.isTranscoder())
                .put("targets", blocks.size());
        if (json) {
            answer.put("blocks", blocks.stream().map(ExplainerCommand::facts).toList());
        } else {
            blocks.forEach(block -> answer.put(
                    TargetReports.name(block),
                    "reads layers %s (%d values), %d features, writes %d values; decoder %s"
                            .formatted(
                                    TargetReports.sources(block),
                                    block.inputWidth(),
                                    block.features(),
                                    block.targetWidth(),
                                    block.decoder().sha256())));
        }
        String notRefitted = first.origin().notRefitted();
        answer.put("refitted", notRefitted == null ? "yes, each block by itself" : "no: " + notRefitted)
                .put("watched", "each target layer by itself; one alone with --explainer-option target=L")
                .print(spec.commandLine().getOut(), json);
    }

    private static Map<String, Object> facts(Explainer block) {
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("name", TargetReports.name(block));
        told.put("sources", TargetReports.sources(block));
        told.put("input_width", block.inputWidth());
        told.put("features", block.features());
        told.put("target_width", block.targetWidth());
        told.put("decoder_sha256", block.decoder().sha256());
        told.put("notes", block.origin().notes());
        return told;
    }
}
