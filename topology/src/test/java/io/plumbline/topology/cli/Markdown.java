package io.plumbline.topology.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What a test needs to know of a page: its code, and the commands in it. */
record Markdown(String name, String text) {

    static final Path REPOSITORY = Path.of("..").toAbsolutePath().normalize();

    private static final Pattern BLOCK = Pattern.compile("(?ms)^```(\\w*)\\R(.*?)^```$");
    private static final Pattern SPAN = Pattern.compile("`([^`\\n]+)`");
    private static final Pattern COMMAND = Pattern.compile("(?:\\$ )?(?:\\./)?plumbline( .*)?");

    /** A fenced block and where it begins. */
    record Block(String language, String code, int offset) {}

    static Markdown read(String name) throws IOException {
        return new Markdown(name, Files.readString(REPOSITORY.resolve(name)));
    }

    List<Block> blocks() {
        List<Block> blocks = new ArrayList<>();
        Matcher matcher = BLOCK.matcher(text);
        while (matcher.find()) {
            blocks.add(new Block(matcher.group(1), matcher.group(2), matcher.start()));
        }
        return blocks;
    }

    List<Block> blocks(String language) {
        return blocks().stream()
                .filter(block -> block.language().equals(language))
                .toList();
    }

    /** Code within sentences. */
    List<String> spans() {
        return SPAN.matcher(BLOCK.matcher(text).replaceAll(""))
                .results()
                .map(result -> result.group(1))
                .toList();
    }

    /** The arguments of every {@code plumbline ...} line in the blocks. */
    List<List<String>> blockCommands() {
        return blocks().stream()
                .flatMap(block -> block.code().replaceAll("\\\\\\R\\s*", "").lines())
                .flatMap(Markdown::arguments)
                .toList();
    }

    /** The same of code within sentences, where a command may be cut short. */
    List<List<String>> spanCommands() {
        return spans().stream().flatMap(Markdown::arguments).toList();
    }

    /** The words after {@code plumbline}, up to a comment, a pipe or a redirection; nothing for other lines. */
    private static Stream<List<String>> arguments(String line) {
        Matcher command = COMMAND.matcher(line.strip());
        if (!command.matches()) {
            return Stream.empty();
        }
        String rest = command.group(1) == null ? "" : command.group(1);
        String own = rest.replaceFirst("(?:^|\\s)[#|>].*", "").strip();
        return Stream.of(own.isEmpty() ? List.of() : List.of(own.split("\\s+")));
    }
}
