package io.plumbline.topology.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SectionsTest {

    private static final Sections SOME = Sections.NONE
            .with(Sections.ENERGY_WARNING, "one eigenvalue holds 60 % of the energy")
            .with(Sections.WORST_REQUESTS, List.of(new WorstRequest("chat-17", 118, 640.0, 1e-6, 0.5)))
            .with(Sections.FEATURE_NAMES, Map.of(7, new FeatureName("dogs", null)))
            .with(Sections.COVERAGE, new CoverageReport(1_000, 0.5, 0.25, 0.125, 0.0625, 0.75, 0.0, "moved"));

    /** A report has them flat, beside its own keys. */
    record Told(String site, @JsonUnwrapped Sections sections) {}

    @Test
    void theyAreReadAsTheyWereWritten() {
        Told told = new Told("blocks.7", SOME);
        assertEquals(told, Json.read(Json.bytes(told), Told.class));
        Told nothing = new Told("blocks.7", Sections.NONE);
        assertEquals(nothing, Json.read(Json.bytes(nothing), Told.class));
    }

    @Test
    void everyKindHasItsKeyAndNullWhereTheWindowDoesNotHaveIt() {
        JsonNode told = Json.tree(new Told("blocks.7", SOME));
        for (SectionKind<?> kind : Sections.ALL) {
            assertTrue(told.has(kind.key()), kind.key());
            assertEquals(SOME.get(kind) == null, told.get(kind.key()).isNull(), kind.key());
        }
        assertEquals("blocks.7", told.get("site").asText());
        assertEquals("dogs", told.get("feature_names").get("7").get("label").asText());
    }

    @Test
    void aReportOfAVersionBeforeASectionIsRead() {
        Told told = Json.read("{\"site\": \"blocks.7\"}".getBytes(StandardCharsets.UTF_8), Told.class);
        assertNull(told.sections().get(Sections.SPECTRUM));
    }

    @Test
    void whatASectionDoesNotHaveIsNoSample() {
        List<String> names = new ArrayList<>();
        SOME.addTo(new Samples() {
            @Override
            public Samples set(WindowMetric metric, @Nullable Number value) {
                names.add(metric.metricName());
                return this;
            }

            @Override
            public Samples set(WindowMetric metric, String labelValue, @Nullable Number value) {
                return set(metric, value);
            }
        });
        assertEquals(
                List.of(
                        "plumbline_coverage_ratio",
                        "plumbline_coverage_ratio",
                        "plumbline_coverage_ratio",
                        "plumbline_coverage_ratio",
                        "plumbline_coverage_moved"),
                names);
        assertTrue(WindowMetric.all().stream().anyMatch(one -> one.metricName().equals("plumbline_coverage_moved")));
    }
}
