package io.plumbline.topology.operate;

import io.plumbline.topology.cli.AdaptCommand;
import io.plumbline.topology.cli.AddedCommand;
import io.plumbline.topology.cli.ApproveBaselineCommand;
import io.plumbline.topology.cli.AssessCommand;
import io.plumbline.topology.cli.CompareCommand;
import io.plumbline.topology.cli.CompletionCommand;
import io.plumbline.topology.cli.ConfigCommand;
import io.plumbline.topology.cli.EncodeCommand;
import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.ExplainerCommand;
import io.plumbline.topology.cli.ExportTrainingCommand;
import io.plumbline.topology.cli.Failures;
import io.plumbline.topology.cli.MatchCommand;
import io.plumbline.topology.cli.PrincipalCommand;
import io.plumbline.topology.cli.VerifyEvidenceCommand;
import io.plumbline.topology.cli.VerifyReleaseCommand;
import io.plumbline.topology.cli.Version;
import java.io.PrintWriter;
import java.util.Map;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The program and its commands: {@code plumbline <command>}. */
@Command(
        name = "plumbline",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisSubcommandLabel = "COMMAND",
        description = "Watches whether a sparse autoencoder or transcoder still describes the model it was trained on,"
                + " and repairs its decoder when it does not.",
        footerHeading = "Start here:%n",
        footer = {
            "  plumbline baseline --explainer sae/ --activations clean.safetensors --rank 32 --out"
                    + " baseline.safetensors",
            "  plumbline assess --explainer sae/ --baseline baseline.safetensors --activations today.safetensors"
                    + " --rank 32",
            "",
            "Exit codes: 0 fine, 1 drift or a failed policy where that was asked for, 2 usage, 3 failure, 4 undecided.",
            "PLUMBLINE_JAVA_OPTS passes options to Java, PLUMBLINE_LOG=info shows the log."
        },
        subcommands = {
            BaselineCommand.class,
            ApproveBaselineCommand.class,
            BaselinesCommand.class,
            AssessCommand.class,
            AdaptCommand.class,
            CompareCommand.class,
            ExplainerCommand.class,
            EncodeCommand.class,
            MatchCommand.class,
            PrincipalCommand.class,
            VerifyReleaseCommand.class,
            ExportTrainingCommand.class,
            RunCommand.class,
            ReplayCommand.class,
            DecodersCommand.class,
            CheckCommand.class,
            TopicsCommand.class,
            OffsetsCommand.class,
            EraseCommand.class,
            ExportCommand.class,
            ReportCommand.class,
            VerifyEvidenceCommand.class,
            HealthCommand.class,
            ConfigCommand.class,
            CompletionCommand.class,
            CommandLine.HelpCommand.class
        })
public final class Plumbline {

    @Option(
            names = "--verbose",
            scope = ScopeType.INHERIT,
            description = "Print every number and why; on a failure the stack trace too.")
    boolean verbose;

    /** The width of the help, which is enough for the examples that people copy. */
    private static final int USAGE_WIDTH = 120;

    /** Commands in jars of their own, an {@link AddedCommand} where they are, and their folder. */
    private static final Map<String, String> ELSEWHERE = Map.of(
            "demo",
            "laboratory/",
            "broker",
            "laboratory/",
            "bench",
            "laboratory/",
            "causal",
            "downstream/",
            "evaluate",
            "downstream/");

    private Plumbline() {}

    public static void main(String[] arguments) {
        int exitCode;
        try {
            exitCode = commandLine().execute(arguments);
        } catch (OutOfMemoryError full) {
            // Where the launcher does not have Java end at once.
            System.err.println(Failures.PREFIX + Failures.noMemory(full));
            exitCode = ExitCodes.FAILURE;
        }
        System.exit(exitCode);
    }

    /** The command line with its exit codes; a test sets its own writers. */
    public static CommandLine commandLine() {
        Plumbline program = new Plumbline();
        CommandLine commandLine = new CommandLine(program);
        ServiceLoader.load(AddedCommand.class).forEach(commandLine::addSubcommand);
        layOut(commandLine.getCommandSpec());
        commandLine.setCaseInsensitiveEnumValuesAllowed(true);
        commandLine.setAbbreviatedOptionsAllowed(false);
        commandLine.setUsageHelpWidth(USAGE_WIDTH);
        commandLine.setParameterExceptionHandler(Plumbline::explainUsage);
        commandLine.setExecutionExceptionHandler(
                (failure, failed, parsed) -> Failures.explain(failure, failed.getErr(), program.verbose));
        return commandLine;
    }

    /** Puts blank lines above what a command takes and above its examples, and a heading where it has no other. */
    private static void layOut(CommandSpec command) {
        UsageMessageSpec usage = command.usageMessage();
        if (!command.helpCommand()) {
            if (command.positionalParameters().isEmpty()) {
                usage.optionListHeading("%n");
            } else {
                usage.parameterListHeading("%n");
            }
            usage.footerHeading("%n" + (usage.footerHeading().isEmpty() ? "Example:%n" : usage.footerHeading()));
        }
        command.subcommands().values().forEach(child -> layOut(child.getCommandSpec()));
    }

    private static int explainUsage(CommandLine.ParameterException mistake, String[] arguments) {
        CommandLine command = mistake.getCommandLine();
        PrintWriter err = command.getErr();
        String absent = absentCommand(mistake, arguments);
        if (absent != null) {
            err.println(Failures.PREFIX + absent);
            return ExitCodes.USAGE;
        }
        err.println(Failures.PREFIX + mistake.getMessage());
        if (!CommandLine.UnmatchedArgumentException.printSuggestions(mistake, err)) {
            err.println("See: " + command.getCommandSpec().qualifiedName() + " --help");
        }
        return ExitCodes.USAGE;
    }

    /** Returns what to say where the command is one whose jars are not here, else null. */
    private static @Nullable String absentCommand(CommandLine.ParameterException mistake, String[] arguments) {
        boolean absent = mistake.getCommandLine().getParent() == null
                && arguments.length > 0
                && ELSEWHERE.containsKey(arguments[0])
                && !mistake.getCommandLine().getSubcommands().containsKey(arguments[0]);
        return absent
                ? ("%s is not part of this installation, which holds the service alone: run it from a checkout, or"
                                + " from the"
                                + " unpacked distribution, whose folder %s has its jars")
                        .formatted(arguments[0], ELSEWHERE.get(arguments[0]))
                : null;
    }
}
