package io.plumbline.distribution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Tests what the class path of the image, of the archive's {@code lib/} and of {@code run} holds; runs after
 * {@code package}.
 */
class ServiceClassPathIT {

    private static final Path SERVICE = Repository.path("topology", "target", "lib");

    @Test
    void theServiceHasNoKafkaServerNoScalaNoDemonstrationAndNoOnnxRuntime() throws IOException {
        Set<String> jars = jars(SERVICE);
        assertTrue(jars.stream().anyMatch(jar -> jar.startsWith("kafka-streams-")), jars.toString());
        Set<String> foreign = jars.stream()
                .filter(jar -> jar.matches("(kafka_|kafka-server|kafka-metadata|kafka-raft|scala|jna|onnxruntime|"
                        + "plumbline-(fixtures|demo|benchmarks|kernel-benchmarks|downstream|native|causal)).*"))
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(Set.of(), foreign);
    }

    @Test
    void theLaboratoryHoldsNothingThatTheServiceHas() throws IOException {
        for (String module : new String[] {"demo", "benchmarks"}) {
            Set<String> twice = jars(Repository.path("topology", module, "target", "lib"));
            assertTrue(twice.stream().anyMatch(jar -> jar.startsWith("kafka_")), twice.toString());
            twice.retainAll(jars(SERVICE));
            assertEquals(Set.of(), twice, module);
        }
    }

    @Test
    void whatRunsAHeadHoldsNothingThatTheServiceHas() throws IOException {
        Set<String> twice = jars(Repository.path("topology", "causal", "target", "lib"));
        assertTrue(twice.stream().anyMatch(jar -> jar.startsWith("onnxruntime-")), twice.toString());
        twice.retainAll(jars(SERVICE));
        assertEquals(Set.of(), twice);
    }

    @Test
    void whatCallsALibraryIsJnaAlone() throws IOException {
        Set<String> jars = jars(Repository.path("operators", "native", "target", "lib"));
        assertEquals(1, jars.size(), jars.toString());
        assertTrue(jars.iterator().next().startsWith("jna-"), jars.toString());
    }

    private static Set<String> jars(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).collect(Collectors.toCollection(TreeSet::new));
        }
    }
}
