package io.plumbline.topology.cli;

import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.Origin;
import java.io.IOException;
import java.nio.file.Path;
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
            "Reads an explainer and tells its format, kind and sizes, what was folded, and what cannot be done with it.",
            "",
            "What is refused is refused with what to do instead; a fact that is in none of the files is named as the option to give.",
            ""
        },
        footer = {
            "",
            "Example:",
            "  plumbline explainer sae/",
            "A set of transcoders, one layer of it:",
            "  plumbline explainer transcoders/ --explainer-option layer=12 --json"
        })
final class ExplainerCommand implements Callable<Integer> {

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
        Explainer explainer = Options.explainer(path, facts.options());
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
}
