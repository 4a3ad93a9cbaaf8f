package io.plumbline.topology.cli;

import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline completion}: prints the completion script of the shell. */
@Command(
        name = "completion",
        mixinStandardHelpOptions = true,
        description = "Prints a script that teaches the shell to complete Plumbline's commands and options.",
        footerHeading = "Example, for this shell (bash; the same line works in zsh):%n",
        footer = {
            "  source <(./plumbline completion)",
            "For every shell to come:",
            "  ./plumbline completion bash > ~/.local/share/bash-completion/completions/plumbline"
        })
public final class CompletionCommand implements Callable<Integer> {

    enum Shell {
        BASH,
        ZSH;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Parameters(
            arity = "0..1",
            paramLabel = "bash|zsh",
            defaultValue = "BASH",
            description = "The shell. One script serves both: in zsh it loads bashcompinit first.")
    Shell shell;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() {
        spec.commandLine()
                .getOut()
                .print(AutoComplete.bash("plumbline", spec.root().commandLine()));
        spec.commandLine().getOut().flush();
        return ExitCodes.FINE;
    }
}
