package io.plumbline.topology.adaptation;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.plumbline.adaptation.Candidate;
import io.plumbline.adaptation.SearchReport;
import io.plumbline.refit.GaeSettings;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * Writes what a published decoder says of where it comes from. Travels in its metadata: strings, the longer ones
 * compact JSON.
 */
final class Lineage {

    private static final JsonMapper JSON = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .build();

    private Lineage() {}

    static Map<String, String> of(AdaptationReport report, SearchReport search) {
        Map<String, String> lineage = new TreeMap<>();
        lineage.put("window_start_ms", Long.toString(report.windowStartMs()));
        lineage.put("window_end_ms", Long.toString(report.windowEndMs()));
        lineage.put("rows", Long.toString(report.rows()));
        lineage.put("pooled_windows", Integer.toString(report.pooledWindows()));
        lineage.put("pooled_rows", Integer.toString(report.pooledRows()));
        lineage.put("fit_rows", Integer.toString(report.fitRows()));
        lineage.put("validation_rows", Integer.toString(report.validationRows()));
        lineage.put("candidate", search.best().candidate().describe());
        putSettings(lineage, search.best().candidate());
        lineage.put("fvu_before", String.valueOf(report.fvuBefore()));
        lineage.put("fvu_after", String.valueOf(report.fvuAfter()));
        lineage.put("faithfulness_gap_before", String.valueOf(report.faithfulnessGapBefore()));
        lineage.put("faithfulness_gap_after", String.valueOf(report.faithfulnessGapAfter()));
        lineage.put("candidates", json(report.candidates()));
        lineage.put("gate", json(Objects.requireNonNull(report.gate(), "a decoder that was not judged")));
        return lineage;
    }

    private static void putSettings(Map<String, String> lineage, Candidate candidate) {
        if (!(candidate instanceof Candidate.Gae refit)) {
            return;
        }
        GaeSettings settings = refit.settings();
        lineage.put("rotation", settings.rotation().name().toLowerCase(Locale.ROOT));
        lineage.put("rank", Integer.toString(settings.rank()));
        lineage.put(
                "lambda_geometric", Double.toString(settings.regularisation().geometric()));
        lineage.put(
                "lambda_preservation", Double.toString(settings.regularisation().preservation()));
        lineage.put(
                "relative_lambdas", Boolean.toString(settings.regularisation().relative()));
        lineage.put("alpha", Double.toString(settings.alpha()));
    }

    private static String json(Object value) {
        try {
            return JSON.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("records of numbers and strings", e);
        }
    }
}
