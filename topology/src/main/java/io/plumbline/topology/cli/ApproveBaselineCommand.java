package io.plumbline.topology.cli;

import io.plumbline.topology.emission.ApprovedBaseline;
import io.plumbline.topology.emission.DecoderSigner;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline approve-baseline}: signs baselines that a person has looked at. */
@Command(
        name = "approve-baseline",
        mixinStandardHelpOptions = true,
        description =
                "Signs baselines, in a file FILE.approval beside each. Where the configuration says signing.baselines,"
                        + " a monitor judges by none that no key of signing.approvers signed.",
        footer = "  plumbline approve-baseline --key ada.pem baseline-2.safetensors")
public final class ApproveBaselineCommand implements Callable<Integer> {

    @Parameters(arity = "1..*", paramLabel = "FILE", description = "The baselines.")
    List<Path> baselines = List.of();

    @Option(names = "--key", required = true, paramLabel = "FILE", description = "Your private Ed25519 key in PEM.")
    Path key;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        DecoderSigner signer;
        try {
            signer = DecoderSigner.read(key);
        } catch (IllegalArgumentException e) {
            throw new UsageException("--key = " + e.getMessage());
        }
        for (Path baseline : baselines) {
            try {
                spec.commandLine().getOut().println("wrote " + ApprovedBaseline.approve(baseline, signer));
            } catch (IllegalArgumentException e) {
                throw new UsageException(String.valueOf(e.getMessage()));
            }
        }
        spec.commandLine().getOut().flush();
        return ExitCodes.FINE;
    }
}
