package io.plumbline.topology.adaptation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.baseline.Baseline;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.moments.SampledRow;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that what the gate says of attacks is within ten points of later rows, or that nothing is published. */
class GateAttacksTest {

    private static final double POINTS = 10.0;

    private static final List<String> ATTACKS = List.of(
            "40 near copies of one prompt; later rows moved by 0.15 sd",
            "40 near copies of one prompt; later rows moved by 0.5 sd",
            "40 near copies of ten prompts; moved by 0.2 sd",
            "one language first and then another",
            "two languages in turn",
            "requests half of one and half of another",
            "first rows 30 times as long",
            "a third of the rows 9 times as long",
            "a common opening of 60 rows",
            "a giant request first and 40 tiny ones");

    @TempDir
    private Path folder;

    @Test
    void whatIsPublishedIsWorthWhatTheGateSays() throws IOException {
        for (String name : List.of(
                "/io/plumbline/fixtures/cfg.json",
                "/io/plumbline/fixtures/sae_weights.safetensors",
                "/io/plumbline/fixtures/baseline.safetensors",
                "/io/plumbline/fixtures/german.safetensors",
                "/io/plumbline/topology/adaptation/code.safetensors")) {
            try (InputStream in = Objects.requireNonNull(GateAttacksTest.class.getResourceAsStream(name), name)) {
                Files.copy(in, folder.resolve(Path.of(name).getFileName()));
            }
        }
        GateAttacks attacks = new GateAttacks(
                Formats.read(folder),
                Baseline.read(folder.resolve("baseline.safetensors")).rows().subList(0, 1_000),
                requests(folder.resolve("german.safetensors")),
                requests(folder.resolve("code.safetensors")),
                0.4);
        Map<String, GateAttacks.Result> results = answers(attacks, Set.copyOf(ATTACKS));
        assertEquals(Set.copyOf(ATTACKS), results.keySet());
        assertEquals(Set.of(), fooled(results));
        // Nothing to hold back: both languages are fitted and judged.
        assertEquals("published", outcome(results, "one language first and then another"));
        assertEquals("published", outcome(results, "first rows 30 times as long"));
        assertEquals("refused", outcome(results, "a third of the rows 9 times as long"));
    }

    private static String outcome(Map<String, GateAttacks.Result> results, String name) {
        return Objects.requireNonNull(results.get(name)).outcome();
    }

    /** Returns the answers to attacks, and prints them as lines of docs/data/attacks-on-the-gate.csv. */
    static Map<String, GateAttacks.Result> answers(GateAttacks attacks, Set<String> names) {
        Map<String, GateAttacks.Result> results = new LinkedHashMap<>();
        attacks.attacks().forEach((name, attack) -> {
            if (names.isEmpty() || names.contains(name)) {
                GateAttacks.Result result = attacks.answer(attack);
                System.out.println(result.row(name) + "   " + result.reason());
                results.put(name, result);
            }
        });
        return results;
    }

    /** Returns the attacks where the claim is more than ten points from what came true. */
    static Set<String> fooled(Map<String, GateAttacks.Result> results) {
        return results.entrySet().stream()
                .filter(result -> Math.abs(result.getValue().excess()) > POINTS)
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
    }

    static List<List<SampledRow>> requests(Path file) throws IOException {
        return List.copyOf(HarmCase.rows(file, 0, Integer.MAX_VALUE).stream()
                .collect(Collectors.groupingBy(SampledRow::request, TreeMap::new, Collectors.toList()))
                .values());
    }
}
