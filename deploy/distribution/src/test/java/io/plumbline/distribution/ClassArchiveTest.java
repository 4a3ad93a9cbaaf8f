package io.plumbline.distribution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.Repository;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the launcher's archives of classes with a script in the place of Java: it prints its options, and writes an
 * archive where Java would.
 */
class ClassArchiveTest {

    private static final String READS = "-XX:SharedArchiveFile=";
    private static final String WRITES = "-XX:ArchiveClassesAtExit=";

    /** The first bytes of an archive, and the name of a class that a process reads to speak to a broker. */
    private static final String WHOLE = "\\xa8\\xab\\x0b\\xf0 org/apache/kafka/clients/NetworkClient";

    @TempDir
    private Path folder;

    private Path cache;

    @BeforeEach
    void makeInstallation() throws IOException {
        Files.createDirectories(folder.resolve("jdk/bin"));
        Files.createDirectories(folder.resolve("a b/lib"));
        Files.writeString(folder.resolve("jdk/release"), "JAVA_VERSION=\"17.0.15\"\nMODULES=\"java.base\"\n");
        Files.writeString(folder.resolve("a b/lib/plumbline-topology-0.1.0.jar"), "a jar");
        cache = folder.resolve("cache");
        javaWrites(WHOLE);
    }

    @Test
    void theFirstCheckWritesAnArchiveAndLaterStartsReadIt() throws Exception {
        String first = start("check --config x");
        assertTrue(first.contains(WRITES) && first.contains("-Xlog:cds*=off"), first);
        assertEquals(1, files().size());
        for (String later : List.of("check --config x", "run --config x", "decoders list")) {
            String options = start(later);
            assertTrue(options.contains(READS + files().get(0) + "|-Xlog:cds*=off|"), options);
        }
        assertTrue(files().get(0).toString().endsWith(".jsa"), files().toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "run --config x",
                "check --offline --config x",
                "check --help",
                "demo --toy",
                "topics --create",
                "--version"
            })
    void otherCommandsWriteNone(String arguments) throws Exception {
        String options = start(arguments);
        assertTrue(!options.contains("Archive"), options);
        assertEquals(List.of(), files());
    }

    /** Tests options with which Java ends with an error when it should write, or refuses a second archive. */
    @ParameterizedTest
    @ValueSource(strings = {"-javaagent:a.jar", "--patch-module=a=b", "-Xshare:off", "-XX:SharedArchiveFile=mine.jsa"})
    void anOptionThatJavaDoesNotTakeWithItLeavesItOut(String option) throws Exception {
        for (String variable : List.of("PLUMBLINE_JAVA_OPTS", "JDK_JAVA_OPTIONS")) {
            String options = start("check --config x", Map.of(variable, option));
            assertTrue(!options.contains(WRITES) && !options.contains("-Xlog"), options);
        }
        assertTrue(start("check --config x", Map.of("PLUMBLINE_JAVA_OPTS", "-Xmx4g -Da=b"))
                .contains(WRITES));
    }

    /** Tests what a process leaves that is killed, before it writes and while it does, and one that read too little. */
    @ParameterizedTest
    @CsvSource({"''", "'\\0\\0\\0\\0 org/apache/kafka/clients/NetworkClient'", "'\\xa8\\xab\\x0b\\xf0 little'"})
    void whatIsNotWholeIsRemovedAndWrittenAgain(String left) throws Exception {
        javaWrites(left);
        start("check --config x");
        Path broken = files().get(0);
        javaWrites(WHOLE);
        String options = start("check --config x");
        assertTrue(options.contains(WRITES), options);
        assertEquals(1, files().size());
        assertNotEquals(broken, files().get(0));
        assertTrue(start("run --config x").contains(READS));
    }

    @Test
    void aFileOfAnotherBootIsNotTrusted() throws Exception {
        start("check --config x");
        Path written = files().get(0);
        String name = written.getFileName().toString();
        String archive = name.substring(0, name.indexOf(".jsa") + ".jsa".length());
        Files.move(written, written.resolveSibling(archive + ".another-boot.1"));
        String options = start("run --config x");
        assertTrue(!options.contains("Archive"), options);
        assertEquals(List.of(), files());
    }

    @Test
    @Timeout(60)
    void twoProcessesWriteToTwoFilesAndOneIsKept() throws Exception {
        javaWrites("");
        Path gate = folder.resolve("gate");
        Files.writeString(
                folder.resolve("jdk/bin/java"),
                "while [ ! -e '%s' ] && [[ \"$*\" = *AtExit* ]]; do sleep 0.01; done\n".formatted(gate),
                StandardOpenOption.APPEND);
        Process one = launcher("check --config x", Map.of()).start();
        Process other = launcher("check --config x", Map.of()).start();
        while (files().size() < 2) {
            assertTrue(one.isAlive() && other.isAlive());
            Thread.sleep(10);
        }
        // Neither is removed while its process lives.
        assertTrue(!start("run --config x").contains("Archive"));
        assertEquals(2, files().size());
        Files.createFile(gate);
        one.waitFor();
        other.waitFor();
    }

    @Test
    void anotherJarHasAnotherArchiveAndTheOldOneGoes() throws Exception {
        start("check --config x");
        start("run --config x");
        Path old = files().get(0);
        Files.writeString(folder.resolve("a b/lib/plumbline-topology-0.1.0.jar"), "another jar");
        assertTrue(!start("run --config x").contains("Archive"));
        assertTrue(start("check --config x").contains(WRITES));
        assertEquals(1, files().size());
        assertNotEquals(old, files().get(0));
    }

    @Test
    void whereTheFolderCannotBeMadeNothingIsSaid() throws Exception {
        cache = Files.writeString(folder.resolve("file"), "").resolve("below");
        String options = start("check --config x");
        assertTrue(options.startsWith("-XX") && !options.contains("Archive"), options);
        String homeless = start("check --config x", Map.of("XDG_CACHE_HOME", "", "HOME", ""));
        assertEquals(options, homeless);
    }

    private List<Path> files() throws IOException {
        if (!Files.isDirectory(cache)) {
            return List.of();
        }
        try (Stream<Path> walk = Files.walk(cache)) {
            return new ArrayList<>(walk.filter(Files::isRegularFile)
                    .sorted(Comparator.naturalOrder())
                    .toList());
        }
    }

    private void javaWrites(String content) throws IOException {
        Path java = Files.writeString(folder.resolve("jdk/bin/java"), """
                #!/bin/bash
                printf '%%s|' "$@"
                for option in "$@"; do
                  case $option in -XX:ArchiveClassesAtExit=*) printf '%s' >"${option#*=}" ;; esac
                done
                """.formatted(content));
        assertTrue(java.toFile().setExecutable(true));
    }

    private String start(String arguments) throws Exception {
        return start(arguments, Map.of());
    }

    /** Returns what the script that stands for Java, and the launcher, print on both streams. */
    private String start(String arguments, Map<String, String> environment) throws Exception {
        Process process = launcher(arguments, environment).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), said);
        return said;
    }

    private ProcessBuilder launcher(String arguments, Map<String, String> environment) {
        ProcessBuilder bash = new ProcessBuilder(
                        "bash",
                        "-euc",
                        ". deploy/distribution/java.sh; find_java jdk; find_archive \"$0\" %1$s; start \"$0\" %1$s"
                                .formatted(arguments),
                        folder.resolve("a b/lib") + "/*")
                .directory(Repository.ROOT.toFile())
                .redirectErrorStream(true);
        for (String variable : List.of("PLUMBLINE_JAVA_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS")) {
            bash.environment().remove(variable);
        }
        bash.environment().put("JAVA_HOME", folder.resolve("jdk").toString());
        bash.environment().put("XDG_CACHE_HOME", cache.toString());
        bash.environment().putAll(environment);
        return bash;
    }
}
