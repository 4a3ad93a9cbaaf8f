package io.plumbline.topology.cli;

import io.plumbline.topology.emission.TrustedKeys;
import io.plumbline.topology.evidence.EvidenceCheck;
import io.plumbline.wire.Printable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline verify-evidence}: whether a file of evidence is as it was written, and who signed it. */
@Command(
        name = "verify-evidence",
        mixinStandardHelpOptions = true,
        description = {
            "Checks the chain of a file that plumbline report --evidence wrote, and with --key its signature. The first"
                    + " line that was changed, removed, put in or moved is named by its number.",
            "",
            "Without --key it tells a damaged file from a whole one, and not whose it is. Exit code 1 where it is not"
                    + " as it was written."
        },
        footer = "  plumbline verify-evidence evidence.jsonl --key signing.pub")
public final class VerifyEvidenceCommand implements Callable<Integer> {

    @Parameters(paramLabel = "FILE", description = "The file.")
    Path file;

    @Option(
            names = "--key",
            split = ",",
            paramLabel = "FILE",
            description = "Public keys in PEM: one of them must have signed it.")
    List<Path> keys = List.of();

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new UsageException("%s: no such file".formatted(file));
        }
        EvidenceCheck check = EvidenceCheck.of(file, trusted());
        String said = check.problem() == null
                ? "%d lines as they were written, %s"
                        .formatted(
                                check.lines(),
                                check.signer() == null
                                        ? "not signed"
                                        : "signed by %s%s"
                                                .formatted(check.signer(), keys.isEmpty() ? ", not checked" : ""))
                : check.problem();
        spec.commandLine().getOut().println(Printable.of(said));
        spec.commandLine().getOut().flush();
        return check.problem() == null ? ExitCodes.FINE : ExitCodes.DRIFT_FOUND;
    }

    private @Nullable TrustedKeys trusted() {
        try {
            return keys.isEmpty() ? null : TrustedKeys.read(keys);
        } catch (IllegalArgumentException e) {
            throw new UsageException("--key = " + e.getMessage());
        }
    }
}
