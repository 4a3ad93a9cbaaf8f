package io.plumbline.distribution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.Repository;
import io.plumbline.topology.cli.Markdown;
import io.plumbline.topology.operate.Plumbline;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.ArgGroupSpec;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * Holds docs/reference/commands.md to the help of each command: its first paragraph and its options. An option that two
 * commands describe in the same words stands once, above all commands. With {@code -Dplumbline.write.documents=true} it
 * writes that part of the page anew.
 */
class CommandsReferenceTest {

    private static final String PAGE = "docs/reference/commands.md";
    private static final String BEGIN = "<!-- What follows is written by CommandsReferenceTest -->\n";
    private static final int COLUMNS = 120;
    private static final Pattern PARAGRAPHS = Pattern.compile("\n\\s*\n");

    /** Matches a word, or words within code together with what touches them. */
    private static final Pattern WORD = Pattern.compile("(?:`[^`]*`|[^\\s`])+");

    /** The options that every command has, and that no command lists. */
    private static final Set<String> EVERYWHERE = Set.of("--help", "--version", "--verbose");

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

    @Test
    void everyOptionStandsWithItsCommandOrAmongTheShared() throws IOException {
        String page = Markdown.read(PAGE).text();
        String shared = page.substring(page.indexOf(BEGIN), page.indexOf("\n## plumbline "));
        for (CommandSpec command : commands()) {
            int begin = page.indexOf("\n## %s\n".formatted(command.qualifiedName()));
            int end = page.indexOf("\n## ", begin + 1);
            String own = page.substring(begin, end < 0 ? page.length() : end);
            for (OptionSpec option : options(command)) {
                String name = "`" + option.longestName();
                assertTrue(
                        own.contains(item(option, option.required() && option.group() == null))
                                || ((own.contains(name + "`") || own.contains("`%s`".formatted(signature(option))))
                                        && shared.contains(item(option, false))),
                        command.qualifiedName() + " " + option.longestName());
            }
        }
    }

    private static String reference() {
        List<CommandSpec> commands = commands();
        Map<String, String> shared = shared(commands);
        StringBuilder page = new StringBuilder("\n## Options of several commands\n\n");
        shared.values().forEach(page::append);
        for (CommandSpec command : commands) {
            page.append("\n## %s\n\n".formatted(command.qualifiedName()));
            page.append(wrapped(PARAGRAPHS.split(plain(command.usageMessage().description()), 2)[0], ""));
            StringBuilder choices = new StringBuilder();
            command.argGroups().stream()
                    .filter(ArgGroupSpec::exclusive)
                    .forEach(group -> choices.append(choice(group)));
            List<String> elsewhere = new ArrayList<>();
            StringBuilder items = new StringBuilder();
            for (PositionalParamSpec parameter : command.positionalParameters()) {
                items.append(item(parameter.paramLabel(), parameter, false));
            }
            for (OptionSpec option : options(command)) {
                boolean required = option.required() && option.group() == null;
                String name = "`%s`".formatted(option.longestName());
                if (!shared.containsValue(item(option, false))) {
                    items.append(item(option, required));
                } else if (choices.indexOf(name) < 0) {
                    boolean alone = shared.keySet().stream()
                                    .filter(other -> (other + "=").startsWith(option.longestName() + "="))
                                    .count()
                            < 2;
                    name = alone ? name : "`%s`".formatted(signature(option));
                    elsewhere.add(name + (required ? " (required)" : ""));
                }
            }
            String also = elsewhere.isEmpty() ? "" : "Takes %s. ".formatted(String.join(", ", elsewhere));
            page.append(also.isEmpty() && choices.isEmpty() ? "" : "\n" + wrapped(also + choices, ""));
            page.append(items.isEmpty() ? "" : "\n" + items);
        }
        return page.toString();
    }

    /** Returns the options that several commands describe in the same words, the commonest of each name and value. */
    private static Map<String, String> shared(List<CommandSpec> commands) {
        Map<String, Integer> uses = new HashMap<>();
        Map<String, String> commonest = new TreeMap<>();
        for (CommandSpec command : commands) {
            for (OptionSpec option : options(command)) {
                uses.merge(item(option, false), 1, Integer::sum);
            }
        }
        for (CommandSpec command : commands) {
            for (OptionSpec option : options(command)) {
                String item = item(option, false);
                String other = commonest.getOrDefault(signature(option), item);
                int times = uses.getOrDefault(item, 0);
                if (times > 1 && times >= uses.getOrDefault(other, 0)) {
                    commonest.put(signature(option), item);
                }
            }
        }
        return commonest;
    }

    /** Returns the commands that do something, in the order of the help. */
    private static List<CommandSpec> commands() {
        return leaves(Plumbline.commandLine()).stream()
                .map(CommandLine::getCommandSpec)
                .filter(command -> command.subcommands().isEmpty())
                .filter(command ->
                        !command.usageMessage().hidden() && !command.name().equals("help"))
                .toList();
    }

    private static List<CommandLine> leaves(CommandLine command) {
        List<CommandLine> all = new ArrayList<>(List.of(command));
        command.getSubcommands().values().stream().distinct().forEach(child -> all.addAll(leaves(child)));
        return all;
    }

    private static List<OptionSpec> options(CommandSpec command) {
        return command.options().stream()
                .filter(option -> !option.hidden() && !EVERYWHERE.contains(option.longestName()))
                .sorted(Comparator.comparing(OptionSpec::longestName))
                .toList();
    }

    private static String item(OptionSpec option, boolean required) {
        String value = signature(option);
        return item(
                option.arity().min() == 0 && option.arity().max() > 0 ? option.longestName() + "`, `" + value : value,
                option,
                required);
    }

    /** Returns the name of an option with what it takes. */
    private static String signature(OptionSpec option) {
        String name = option.longestName();
        if (option.arity().max() == 0) {
            return name;
        }
        String plain =
                option.paramLabel().replaceAll("^<.*>$", name.substring(2).toUpperCase(Locale.ROOT));
        String several = option.arity().max() > 1 ? "..." : "";
        String more = option.splitRegex().isEmpty() ? several : "[,%s...]".formatted(plain);
        return name + "=" + plain + more;
    }

    private static String item(String name, ArgSpec argument, boolean required) {
        return wrapped(
                "* `%s`%s: %s".formatted(name, required ? " (required)" : "", plain(argument.description())), "  ");
    }

    private static String choice(ArgGroupSpec group) {
        String options = group.args().stream()
                .map(argument -> "`%s`".formatted(((OptionSpec) argument).longestName()))
                .collect(Collectors.joining(", "));
        boolean needed = group.multiplicity().min() > 0;
        return "%s one of %s. ".formatted(needed ? "Exactly" : "At most", options);
    }

    /** Returns lines of a help as paragraphs. */
    private static String plain(String[] lines) {
        return Help.Ansi.OFF
                .string(String.join("\n", lines).replace("%n", "\n").replace("%%", "%"))
                .strip();
    }

    /** Returns the text with each paragraph broken at 120 columns, but not within code. */
    private static String wrapped(String text, String indent) {
        StringBuilder all = new StringBuilder();
        for (String paragraph : PARAGRAPHS.split(text, -1)) {
            all.append(all.isEmpty() ? "" : "\n");
            int column = 0;
            for (MatchResult match : WORD.matcher(paragraph).results().toList()) {
                String word = match.group();
                boolean fits = column + 1 + word.length() <= COLUMNS;
                String space = column == 0 ? "" : fits ? " " : "\n" + indent;
                all.append(space).append(word);
                column = (fits ? column : 0) + space.length() + word.length();
            }
            all.append('\n');
        }
        return all.toString();
    }
}
