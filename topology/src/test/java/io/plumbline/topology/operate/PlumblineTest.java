package io.plumbline.topology.operate;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.cli.Failures;
import io.plumbline.topology.cli.Shell;
import io.plumbline.topology.cli.UsageException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class PlumblineTest {

    @Test
    void everyCommandTeachesWithAnExample() {
        assertAll(leaves(Plumbline.commandLine()).stream().map(command -> () -> {
            String usage = command.getUsageMessage();
            String name = command.getCommandSpec().qualifiedName();
            assertTrue(usage.contains("Example"), name + " --help shows no example:\n" + usage);
            assertTrue(usage.contains("plumbline"), name + " --help shows no command to copy:\n" + usage);
        }));
    }

    @Test
    void helpAndVersionGoToStandardOutputAndAreFine() {
        Shell help = Shell.run("--help");
        Shell version = Shell.run("--version");
        assertEquals(0, help.exitCode());
        assertTrue(help.out().contains("Exit codes"), help.out());
        assertEquals("", help.err());
        assertEquals(0, version.exitCode());
        assertTrue(version.out().startsWith("plumbline "), version.out());
    }

    @Test
    void mistypedCommandIsAUsageErrorWithASuggestion() {
        Shell shell = Shell.run("complation");
        assertEquals(2, shell.exitCode());
        assertTrue(shell.err().contains("completion"), shell.err());
        assertEquals("", shell.out());
        assertFalse(shell.err().contains("\tat "), "no stack trace: " + shell.err());
    }

    @Test
    void unknownOptionIsAUsageError() {
        Shell shell = Shell.run("completion", "--nonsense");
        assertEquals(2, shell.exitCode());
        assertTrue(shell.err().startsWith("plumbline: "), shell.err());
    }

    @Test
    void whatIsCompletedIsWhatTheHelpSays() {
        for (CommandLine command : leaves(Plumbline.commandLine())) {
            for (CommandLine.Model.ArgSpec argument : command.getCommandSpec().args()) {
                if (argument.completionCandidates() != null) {
                    argument.completionCandidates()
                            .forEach(candidate -> assertEquals(candidate.toLowerCase(Locale.ROOT), candidate));
                }
            }
        }
        String script = Shell.run("completion").out();
        assertTrue(script.contains("\"all\" \"monitor\" \"adapter\""), script);
    }

    @Test
    void completionScriptKnowsTheCommandsAndServesBothShells() {
        String script = Shell.run("completion", "zsh").out();
        assertTrue(script.contains("complete -F _complete_plumbline"), script);
        assertTrue(script.contains("bashcompinit"), script);
        for (CommandLine command : Plumbline.commandLine().getSubcommands().values()) {
            assertTrue(script.contains(command.getCommandName()), command.getCommandName());
        }
    }

    @Test
    void missingFileIsUsageAndAnythingElseIsFailure() {
        StringWriter err = new StringWriter();
        assertEquals(2, Failures.explain(new NoSuchFileException("gone.yaml"), new PrintWriter(err), false));
        assertEquals(2, Failures.explain(new UsageException("write 60s"), new PrintWriter(err), false));
        assertEquals(3, Failures.explain(new IllegalStateException("broken"), new PrintWriter(err), false));
        assertTrue(err.toString().contains("no such file or folder: gone.yaml"), err.toString());
        assertFalse(err.toString().contains("\tat "), err.toString());
    }

    @Test
    void verboseShowsTheStack() {
        StringWriter err = new StringWriter();
        Failures.explain(new IllegalStateException("broken"), new PrintWriter(err), true);
        assertTrue(err.toString().contains("\tat "), err.toString());
    }

    private static List<CommandLine> leaves(CommandLine command) {
        List<CommandLine> leaves = new ArrayList<>();
        for (CommandLine child : command.getSubcommands().values()) {
            if (child.getSubcommands().isEmpty() && !child.getCommandName().equals("help")) {
                leaves.add(child);
            } else {
                leaves.addAll(leaves(child));
            }
        }
        return leaves;
    }

    /** Tests commands whose jars stand on other class paths than this one. */
    @ParameterizedTest
    @CsvSource({"demo, laboratory/", "bench, laboratory/", "causal, downstream/", "evaluate, downstream/"})
    void aCommandThatIsNotPartOfTheServiceSaysWhereItIs(String command, String folder) {
        Shell shell = Shell.run(command);
        assertEquals(2, shell.exitCode());
        assertTrue(
                shell.err().startsWith("plumbline: " + command + " is not part of this installation")
                        && shell.err().contains(folder),
                shell.err());
    }
}
