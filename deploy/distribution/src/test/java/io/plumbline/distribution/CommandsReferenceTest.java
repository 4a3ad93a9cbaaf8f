package io.plumbline.distribution;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.topology.Repository;
import io.plumbline.topology.cli.Markdown;
import io.plumbline.topology.cli.Plumbline;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/**
 * Holds docs/reference/commands.md to the help of each command. With {@code -Dplumbline.write.documents=true} it writes
 * that part of the page anew.
 */
class CommandsReferenceTest {

    private static final String PAGE = "docs/reference/commands.md";
    private static final String BEGIN = "<!-- What follows is written by CommandsReferenceTest -->\n";

    @Test
    void thePageHasTheHelpOfEveryCommand() throws IOException {
        String text = Markdown.read(PAGE).text();
        String head = text.substring(0, text.indexOf(BEGIN) + BEGIN.length());
        String expected = head + reference();
        if (Boolean.getBoolean("plumbline.write.documents")) {
            Files.writeString(Repository.ROOT.resolve(PAGE), expected);
        } else {
            assertEquals(expected, text, "run this test with -Dplumbline.write.documents=true and commit the page");
        }
    }

    private static String reference() {
        StringBuilder page = new StringBuilder();
        for (CommandLine command : leaves(Plumbline.commandLine())) {
            CommandLine.Model.CommandSpec spec = command.getCommandSpec();
            if (!spec.usageMessage().hidden() && !spec.name().equals("help")) {
                page.append("\n## %s\n\n```text\n%s```\n"
                        .formatted(
                                spec.qualifiedName(),
                                command.getUsageMessage(CommandLine.Help.Ansi.OFF)
                                        .replaceAll("[ \\t]+(?=\\R)", "")));
            }
        }
        return page.toString();
    }

    /** Returns the command and all its sub-commands, in the order of the help. */
    private static List<CommandLine> leaves(CommandLine command) {
        List<CommandLine> all = new ArrayList<>(List.of(command));
        command.getSubcommands().values().stream().distinct().forEach(child -> all.addAll(leaves(child)));
        return all;
    }
}
