package io.plumbline.topology.cli;

import io.plumbline.topology.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A page of the repository, as its tests look at it: code, commands, links, headings and lines of prose. */
public record Markdown(String name, String text) {

    private static final Pattern BLOCK = Pattern.compile("(?ms)^ *```(\\w*)\\R(.*?)^ *```$");
    private static final Pattern SPAN = Pattern.compile("`([^`\\n]+)`");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} (.+)$");
    private static final Set<String> OUTPUT = Set.of("target", ".git", ".idea");
    private static final Pattern COMMAND = Pattern.compile("(?:\\$ )?(?:\\./|\\S*/bin/)?plumbline( .*)?");

    /** A fenced block and where it begins. */
    public record Block(String language, String code, int offset) {}

    public static Markdown read(String name) throws IOException {
        return new Markdown(name, Files.readString(Repository.ROOT.resolve(name)));
    }

    /** Every page of the repository, by its path from the root. */
    public static List<Markdown> all() throws IOException {
        try (Stream<Path> files = Files.walk(Repository.ROOT)) {
            List<Markdown> pages = new ArrayList<>();
            for (Path file : files.filter(found -> found.toString().endsWith(".md"))
                    .sorted()
                    .toList()) {
                Path inside = Repository.ROOT.relativize(file);
                boolean written = Stream.iterate(inside, part -> part != null, Path::getParent)
                        .noneMatch(part -> OUTPUT.contains(part.getFileName().toString()));
                if (written) {
                    pages.add(read(inside.toString()));
                }
            }
            return pages;
        }
    }

    /** Returns the targets of its links to files of the repository, anchors included. */
    public List<String> relativeLinks() {
        return LINK.matcher(withoutCode())
                .results()
                .map(result -> result.group(1))
                .filter(target -> !target.contains("://"))
                .toList();
    }

    /** Returns the anchors that its headings give, as GitHub makes them. */
    public Set<String> anchors() {
        Set<String> anchors = new LinkedHashSet<>();
        Map<String, Integer> taken = new HashMap<>();
        Matcher heading = HEADING.matcher(withoutCode());
        while (heading.find()) {
            String anchor = heading.group(1)
                    .toLowerCase(Locale.ROOT)
                    .replaceAll("[^\\p{L}\\p{N} _-]", "")
                    .replace(' ', '-');
            int before = taken.merge(anchor, 1, Integer::sum) - 1;
            anchors.add(before == 0 ? anchor : anchor + "-" + before);
        }
        return anchors;
    }

    /** Returns its lines of prose: no code, no table, and of a link only its text. */
    public List<String> prose() {
        return LINK.matcher(withoutCode())
                .replaceAll("]")
                .lines()
                .filter(line -> !line.strip().startsWith("|"))
                .toList();
    }

    private String withoutCode() {
        return BLOCK.matcher(text).replaceAll("");
    }

    public List<Block> blocks() {
        List<Block> blocks = new ArrayList<>();
        Matcher matcher = BLOCK.matcher(text);
        while (matcher.find()) {
            blocks.add(new Block(matcher.group(1), matcher.group(2), matcher.start()));
        }
        return blocks;
    }

    public List<Block> blocks(String language) {
        return blocks().stream()
                .filter(block -> block.language().equals(language))
                .toList();
    }

    /** Returns the code within sentences. */
    public List<String> spans() {
        return SPAN.matcher(withoutCode())
                .results()
                .map(result -> result.group(1))
                .toList();
    }

    /** The arguments of every {@code plumbline ...} line in the blocks; those marked {@code text} hold none. */
    public List<List<String>> blockCommands() {
        return blocks().stream()
                .filter(block -> !block.language().equals("text"))
                .flatMap(block -> block.code().replaceAll("\\\\\\R\\s*", "").lines())
                .flatMap(Markdown::arguments)
                .toList();
    }

    /** Returns the arguments of commands within sentences, where a command may be cut short. */
    public List<List<String>> spanCommands() {
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
