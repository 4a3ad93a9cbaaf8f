package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Tests that the build writes what the program is made of; runs after {@code package}, which makes the file. */
class SbomIT {

    private static final Path SBOM = Path.of("target", "plumbline-sbom.json");

    @Test
    void listsTheLibrariesTheProgramStandsOn() throws IOException {
        assertTrue(Files.isRegularFile(SBOM), SBOM.toAbsolutePath() + " was not made by the build");
        JsonNode sbom = JsonMapper.builder().build().readTree(Files.readAllBytes(SBOM));
        assertEquals("CycloneDX", sbom.path("bomFormat").asText());
        Set<String> names = new TreeSet<>();
        for (JsonNode component : sbom.path("components")) {
            assertTrue(component.path("version").asText().length() > 0, component.toString());
            names.add(component.path("name").asText());
        }
        Set<String> expected = new TreeSet<>(
                Set.of("kafka-streams", "ojalgo", "commons-math3", "micrometer-core", "prometheus-metrics-core"));
        expected.removeAll(names);
        assertEquals(Set.of(), expected, "not in the SBOM, which lists " + names);
    }
}
