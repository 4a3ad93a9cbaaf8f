package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.kernel.FloatPanel;
import io.plumbline.linalg.kernel.UpdateKernels;
import io.plumbline.topology.Repository;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.config.MonitorConfig;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what the launcher tells Java, and what the program takes from that. */
class LauncherOptionsTest {

    private static final Pattern REGION = Pattern.compile("-XX:G1HeapRegionSize=(\\d+)m");

    /** The bytes that a fetch has around its records, rounded up. */
    private static final long AROUND = 4_096;

    private static final long ARRAY_HEADER = 16;

    @Test
    void theBufferOfAFetchIsLessThanHalfARegion() throws IOException {
        long region = region();
        assertEquals(region, HeapRegion.OF_LAUNCHER, "what check rounds arrays up to");
        MonitorConfig config = MonitorConfig.parse("""
                kafka: {bootstrap.servers: "broker:9092"}
                sites:
                  s: {explainer: weights, baseline: baseline.safetensors, rank: 2}
                """, "launcher.yaml", Path.of(""));
        String fetch = StreamsSettings.monitor(config).getProperty("main.consumer.max.partition.fetch.bytes");
        assertTrue(
                Long.parseLong(fetch) + AROUND < region / 2,
                "a fetch of %s bytes and regions of %d".formatted(fetch, region));
    }

    /**
     * Tests the arrays of several panes: if each had a region of its own, rows that wait would take up to twice what
     * check says.
     */
    @ParameterizedTest
    @ValueSource(ints = {1_024, 2_048, 4_096})
    void rowsThatWaitLieInArraysOfLessThanHalfARegion(int width) throws IOException {
        int panes = 8;
        Set<float[]> arrays = Collections.newSetFromMap(new IdentityHashMap<>());
        for (int pane = 0; pane < panes; pane++) {
            FloatPanel panel = UpdateKernels.kernel().floats(width);
            for (int row = 0; row < FloatPanel.capacity(width); row++) {
                arrays.add(panel.array(row));
            }
        }
        long taken = 0;
        for (float[] array : arrays) {
            long bytes = (long) Float.BYTES * array.length + ARRAY_HEADER;
            assertTrue(bytes < region() / 2, "an array of %d bytes and regions of %d".formatted(bytes, region()));
            taken += bytes;
        }
        long said = (long) Float.BYTES * width * FloatPanel.capacity(width) * panes;
        // The last strip of a row is filled up.
        assertTrue(taken <= 1.05 * said, "%d bytes in %d arrays for %d".formatted(taken, arrays.size(), said));
    }

    /** The image has no launcher. */
    @Test
    void theImageHasTheOptionsOfTheLauncher() throws IOException {
        String image = Files.readString(Repository.path("topology", "pom.xml"));
        String launcher = Files.readString(Repository.path("deploy", "distribution", "java.sh"));
        for (String option :
                List.of("-XX:G1HeapRegionSize=8m", "-XX:+ExitOnOutOfMemoryError", "jdk.incubator.vector")) {
            assertTrue(image.contains(option) && launcher.contains(option), option);
        }
    }

    private static long region() throws IOException {
        Matcher launcher = REGION.matcher(Files.readString(Repository.path("deploy", "distribution", "java.sh")));
        assertTrue(launcher.find(), "the launcher no longer says " + REGION);
        return Long.parseLong(launcher.group(1)) << 20;
    }

    /**
     * Tests options before a command: else a monitor started with {@code --verbose run} would get the options of a
     * command that only prints help.
     */
    @ParameterizedTest
    @ValueSource(strings = {"run --config x", "--verbose run --config x", "--verbose --verbose run"})
    void optionsBeforeACommandDoNotHideIt(String arguments) throws Exception {
        assertEquals("run", said("command_of " + arguments));
        assertEquals("service", said("needs_laboratory %s && echo laboratory || echo service".formatted(arguments)));
        assertEquals("laboratory", said("needs_laboratory --help && echo laboratory || echo service"));
        assertEquals("service", said("needs_head %s && echo head || echo service".formatted(arguments)));
        assertEquals("head", said("needs_head --verbose causal && echo head || echo service"));
        assertEquals("head", said("needs_head adapt --rank 3 --head=h.onnx && echo head || echo service"));
        assertEquals("head", said("needs_head demo --live && echo head || echo service"));
    }

    /** Tests the property: else a site that names the rest of its model finds nothing that runs it. */
    @Test
    void aServiceIsToldWhereWhatRunsAHeadLies() throws Exception {
        String start = "java=echo; java_major=17; downstream='/a b/downstream'; start cp ";
        assertTrue(said(start + "run --config x").contains("-Dplumbline.downstream=/a b/downstream"));
        assertTrue(!said(start + "check --config x").contains("-Dplumbline.downstream"));
    }

    /** Tests the class path: a service that asks for no library has nothing that loads one. */
    @ParameterizedTest
    @CsvSource({
        "-Dplumbline.kernel=native, library",
        "-Xmx4g -Dplumbline.kernel=native -Dplumbline.kernel.library=/a/libmkl_rt.so.3, library",
        "-Dplumbline.kernel=vector, none",
        "-Dplumbline.kernel.library=/a/libmkl_rt.so.3, none",
        "'', none"
    })
    void onlyTheKernelThatCallsALibraryHasWhatCallsIt(String options, String expected) throws Exception {
        String asked = "PLUMBLINE_JAVA_OPTS='%s'; needs_library && echo library || echo none";
        assertEquals(expected, said(asked.formatted(options)));
    }

    /** Text alone needs no compiled code; what lives on needs short pauses, what ends needs none. */
    @ParameterizedTest
    @CsvSource({
        "--help, C1 Serial",
        "'baseline --help', C1 Serial",
        "'--verbose run -h', C1 Serial",
        "--version, C1 Serial",
        "'baseline --rank 32', vector Serial roomy",
        "'assess --config x', vector Serial roomy",
        "'check --config x', ''",
        "'run --config x', vector",
        "demo, vector",
        "broker, ''",
        "adapt, vector"
    })
    void aCommandThatEndsIsSparedWhatOneThatStaysNeeds(String arguments, String expected) throws Exception {
        String start = "has_vector_module() { true; }; java=echo; java_major=17; %s; start cp " + arguments;
        assertEquals(expected, options(said(start.formatted("unset JAVA_TOOL_OPTIONS"))));
        for (String variable : List.of("PLUMBLINE_JAVA_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS")) {
            String ofOnesOwn = options(said(start.formatted(variable + "=-XX:+UseZGC")));
            assertEquals(
                    expected.replace("Serial", "").replace("roomy", "").strip(),
                    ofOnesOwn,
                    "Java refuses two collectors");
        }
    }

    private static String options(String command) {
        return ((command.contains("jdk.incubator.vector") ? "vector " : "")
                        + (command.contains("TieredStopAtLevel=1") ? "C1 " : "")
                        + (command.contains("UseSerialGC") ? "Serial " : "")
                        + (command.contains("-XX:InitialRAMPercentage=12") ? "roomy" : ""))
                .strip();
    }

    /** A second Java took a sixth of a second of every start. */
    @ParameterizedTest
    @CsvSource({
        "'MODULES=\"java.base jdk.incubator.vector jdk.jfr\"', there, false",
        "'MODULES=\"java.base jdk.incubator.vectors\"', missing, false",
        "'', there, true"
    })
    void whereTheInstallationSaysItsModulesNoJavaIsStartedToAsk(
            String line, String found, boolean asked, @TempDir Path folder) throws Exception {
        Path release = Files.writeString(folder.resolve("release"), "JAVA_VERSION=\"17.0.15\"\n" + line + "\n");
        Path trace = folder.resolve("asked");
        Path java = Files.writeString(
                folder.resolve("java"), "#!/bin/sh\n: >%s\necho jdk.incubator.vector@17.0.15\n".formatted(trace));
        assertTrue(java.toFile().setExecutable(true));
        assertEquals(
                found,
                said("release=%s; java=%s; has_vector_module && echo there || echo missing".formatted(release, java)));
        assertEquals(asked, Files.exists(trace));
    }

    /** Tests ARM: with SVE, Java 17 makes an object of each vector of floats that becomes doubles. */
    @ParameterizedTest
    @CsvSource({
        "17, aarch64, run --config x, true",
        "17, aarch64, run --help, false",
        "17, aarch64, check --config x, false",
        "21, aarch64, run --config x, false",
        "17, x86_64, run --config x, false"
    })
    void java17OnArmSumsRowsWithoutSve(
            int major, String architecture, String arguments, boolean without, @TempDir Path folder) throws Exception {
        Path release = Files.writeString(
                folder.resolve("release"),
                "MODULES=\"java.base jdk.incubator.vector\"\nOS_ARCH=\"%s\"\n".formatted(architecture));
        String start = "release=%s; java=echo; java_major=%d; start cp %s".formatted(release, major, arguments);
        assertEquals(without, said(start).contains(" -XX:UseSVE=0 "));
    }

    private static String said(String script) throws Exception {
        Process bash = new ProcessBuilder("bash", "-c", ". deploy/distribution/java.sh; " + script)
                .directory(Repository.ROOT.toFile())
                .redirectErrorStream(true)
                .start();
        return new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    }
}
