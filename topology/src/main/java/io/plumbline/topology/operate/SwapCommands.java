package io.plumbline.topology.operate;

import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.assessment.AdaptationMessage.Verb;
import io.plumbline.topology.cli.UsageException;
import java.io.IOException;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The commands by which a person decides about a site's decoder: each sends one command to the adapter and waits for
 * its answer.
 */
final class SwapCommands {

    private SwapCommands() {}

    @Command(
            name = "approve",
            mixinStandardHelpOptions = true,
            description = {
                "Puts the candidate that waits into service.",
                "",
                "The adapter reads it back from the topic, checks its SHA-256, its parent and that it is the one"
                        + " which passed",
                "the gate, and publishes it as the site's next version. Refused: one that was superseded, that has"
                        + " expired, or",
                "for which the site is pinned; the answer says what to write instead."
            },
            footer = {
                "  plumbline decoders list --config plumbline.yaml",
                "  plumbline decoders approve --config plumbline.yaml --site encoder.layer.2 --candidate 3",
                "",
                "Exit codes: 0 in service, 2 not carried out, 3 no answer."
            })
    static final class Approve implements Callable<Integer> {

        @Mixin
        SwapOrder order;

        @Option(
                names = "--candidate",
                required = true,
                paramLabel = "N",
                description =
                        "Its version, as `plumbline decoders list` shows it: nobody approves what came meanwhile.")
        long candidate;

        @Spec
        CommandSpec spec;

        @Override
        public Integer call() throws IOException {
            if (candidate < 1) {
                throw new UsageException("--candidate = %d: expected 1 or more".formatted(candidate));
            }
            return order.send(Verb.APPROVE, candidate, spec.commandLine());
        }
    }

    @Command(
            name = "pin",
            mixinStandardHelpOptions = true,
            description = {
                "Keeps the decoder in service until `unpin`: nothing is swapped, nothing reverts, whatever the"
                        + " traffic does.",
                "",
                "Only what is in service can be pinned, since older versions are not kept, and the trained decoder."
            },
            footer = {
                "  plumbline decoders pin --bootstrap-servers localhost:9092 --site encoder.layer.2",
                "  plumbline decoders pin --bootstrap-servers localhost:9092 --site encoder.layer.2 --trained",
                "",
                "Exit codes: 0 pinned, 2 not carried out, 3 no answer."
            })
    static final class Pin implements Callable<Integer> {

        @Mixin
        SwapOrder order;

        @ArgGroup
        @Nullable
        Which which;

        static final class Which {
            @Option(
                    names = "--version-in-service",
                    paramLabel = "N",
                    description = "Only if this version is in service. Default: whichever is.")
            @Nullable
            Long version;

            @Option(names = "--trained", description = "Return to the trained decoder first, if an adapted one serves.")
            boolean trained;
        }

        @Spec
        CommandSpec spec;

        @Override
        public Integer call() throws IOException {
            return order.send(Verb.PIN, version(), spec.commandLine());
        }

        private long version() {
            if (which == null) {
                return AdaptationMessage.Command.IN_SERVICE;
            }
            if (which.version != null && which.version < 1) {
                throw new UsageException(
                        "--version-in-service = %d: expected 1 or more, or --trained".formatted(which.version));
            }
            return which.version == null ? 0 : which.version;
        }
    }

    @Command(
            name = "unpin",
            mixinStandardHelpOptions = true,
            description =
                    "Lets a pinned site adapt and revert again; what the traffic asks for comes with the next windows.",
            footer = {
                "  plumbline decoders unpin --bootstrap-servers localhost:9092 --site encoder.layer.2",
                "",
                "Exit codes: 0 unpinned, 2 not carried out, 3 no answer."
            })
    static final class Unpin implements Callable<Integer> {

        @Mixin
        SwapOrder order;

        @Spec
        CommandSpec spec;

        @Override
        public Integer call() throws IOException {
            return order.send(Verb.UNPIN, 0, spec.commandLine());
        }
    }

    @Command(
            name = "rollback",
            mixinStandardHelpOptions = true,
            description = {
                "Takes the adapted decoder out of service: the trained one returns as a new version.",
                "",
                "Nothing is fitted for pause_after_rollback then. To keep the trained decoder for longer: pin"
                        + " --trained."
            },
            footer = {
                "  plumbline decoders rollback --bootstrap-servers localhost:9092 --site encoder.layer.2",
                "",
                "Exit codes: 0 rolled back, 2 not carried out, 3 no answer."
            })
    static final class Rollback implements Callable<Integer> {

        @Mixin
        SwapOrder order;

        @Spec
        CommandSpec spec;

        @Override
        public Integer call() throws IOException {
            return order.send(Verb.ROLL_BACK, 0, spec.commandLine());
        }
    }
}
