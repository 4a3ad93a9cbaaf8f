package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.Repository;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests with the real Java what a process keeps for the next one; runs after {@code package}. */
class KeptClassesIT {

    private static final String OF_A_FILE = KeptClasses.class.getName() + " source: shared objects file (top)";

    @TempDir
    Path folder;

    private Path kept;
    private Path file;
    private Path loaded;

    /** Keeps its classes, and does nothing else. */
    public static final class Keeper {

        private Keeper() {}

        /** Keeps its classes, where it is told to. */
        public static void main(String[] arguments) {
            KeptClasses.keep();
        }
    }

    @BeforeEach
    void names() throws IOException {
        kept = Files.createDirectory(folder.resolve("kept classes"));
        file = kept.resolve("run-1.jsa");
        loaded = folder.resolve("loaded.txt");
        jar();
    }

    @Test
    void theSecondStartTakesItsClassesFromWhatTheFirstKept() throws Exception {
        start("-Dplumbline.classes=" + file, "-XX:+RecordDynamicDumpInfo");
        assertFalse(Files.readString(loaded).contains(OF_A_FILE));
        start("-XX:SharedArchiveFile=" + file);
        assertTrue(Files.readString(loaded).contains(OF_A_FILE));
    }

    /** Tests that nothing piles up: neither what other jars left nor what a killed process had half written. */
    @Test
    void oneFileOfACommandIsLeftAndOfOthersAll() throws Exception {
        for (String name : List.of("run-2.jsa", "run-3.jsa.77.part", "demo-2.jsa", "run.txt")) {
            Files.writeString(kept.resolve(name), name);
        }
        start("-Dplumbline.classes=" + file, "-XX:+RecordDynamicDumpInfo");
        try (Stream<Path> files = Files.list(kept)) {
            assertEquals(
                    List.of("demo-2.jsa", "run-1.jsa", "run.txt"),
                    files.map(path -> path.getFileName().toString()).sorted().toList());
        }
    }

    @Test
    void aJavaThatKeepsNothingEndsAsWell() throws Exception {
        start("-Dplumbline.classes=" + file);
        assertFalse(Files.exists(file));
        start("-Dplumbline.classes=/proc/nowhere/run-1.jsa", "-XX:+RecordDynamicDumpInfo");
        start();
        assertFalse(Files.exists(file));
    }

    private void start(String... options) throws IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java", "-Xlog:cds*=off"));
        command.addAll(List.of(options));
        command.addAll(List.of(
                "-Xlog:class+load:file=" + loaded,
                "-cp",
                "%s:%s:topology/target/lib/*".formatted(folder.resolve("keeper.jar"), serviceJar()),
                Keeper.class.getName()));
        Process process = new ProcessBuilder(command)
                .directory(Repository.ROOT.toFile())
                .redirectError(folder.resolve("err.txt").toFile())
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(1, TimeUnit.MINUTES), "it did not end");
        assertEquals(0, process.exitValue(), Files.readString(folder.resolve("err.txt")));
        assertEquals("", said, "standard output carries results and nothing else");
    }

    /** Java keeps classes of jars and of no folder. */
    private void jar() throws IOException {
        String name = Keeper.class.getName().replace('.', '/') + ".class";
        try (OutputStream out = Files.newOutputStream(folder.resolve("keeper.jar"));
                JarOutputStream jar = new JarOutputStream(out);
                InputStream keeper =
                        Objects.requireNonNull(Keeper.class.getClassLoader().getResourceAsStream(name), name)) {
            jar.putNextEntry(new JarEntry(name));
            keeper.transferTo(jar);
        }
    }

    private static Path serviceJar() throws IOException {
        try (Stream<Path> files = Files.list(Repository.path("topology", "target"))) {
            return files.filter(path ->
                            path.getFileName().toString().matches("plumbline-topology-[0-9.]+(-SNAPSHOT)?\\.jar"))
                    .findFirst()
                    .orElseThrow();
        }
    }
}
