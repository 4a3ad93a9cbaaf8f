package io.plumbline.distribution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compiles the examples in the comments of public classes, each in a package of its own and a method. */
class ExamplesTest {

    private static final Pattern EXAMPLE = Pattern.compile("(?s)<pre>\\{@code\\n(.*?)\\n \\* }</pre>");

    /** The packages that a program imports; an example says no more about it. */
    private static final List<String> IMPORTS = List.of(
            "io.plumbline.explainer.*",
            "io.plumbline.explainer.formats.*",
            "io.plumbline.geometry.*",
            "io.plumbline.linalg.*",
            "io.plumbline.moments.*",
            "io.plumbline.topology.emission.*",
            "java.nio.file.Path",
            "java.util.*",
            "java.util.concurrent.atomic.AtomicReference");

    @TempDir
    private Path folder;

    @Test
    void theExamplesOfThePublicClassesCompile() throws IOException {
        Map<String, String> examples = new TreeMap<>();
        for (Path file : HouseTest.sources()) {
            if (file.toString().contains("/src/main/")) {
                String name = file.getFileName().toString().replace(".java", "");
                EXAMPLE.matcher(Files.readString(file))
                        .results()
                        .forEach(found -> examples.merge(
                                name,
                                found.group(1).replaceAll("(?m)^ \\* ?", ""),
                                (one, other) -> one + "\n" + other));
            }
        }
        assertTrue(
                examples.keySet().containsAll(List.of("DecoderSubscriber", "Explainer", "SecondMomentAccumulator")),
                examples::toString);
        for (Map.Entry<String, String> example : examples.entrySet()) {
            assertEquals("", compile(example.getKey(), example.getValue()), example.getKey());
            long lines = example.getValue().lines().count();
            assertTrue(lines >= 4 && lines <= 10, () -> "%s: %d lines".formatted(example.getKey(), lines));
        }
    }

    /** Returns what the compiler says. */
    private String compile(String name, String example) throws IOException {
        StringBuilder source = new StringBuilder("package example;\n");
        IMPORTS.forEach(one -> source.append("import ").append(one).append(";\n"));
        source.append("class Example {\n  void run() throws Exception {\n")
                .append(example)
                .append("\n  }\n}\n");
        Path file = Files.createDirectories(folder.resolve(name)).resolve("Example.java");
        Files.writeString(file, source);
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        int exit = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        said,
                        said,
                        "-proc:none",
                        "--release",
                        "17",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-d",
                        folder.toString(),
                        file.toString());
        return exit == 0 ? "" : said.toString(StandardCharsets.UTF_8);
    }
}
