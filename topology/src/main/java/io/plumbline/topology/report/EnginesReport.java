package io.plumbline.topology.report;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.plumbline.comparison.Estimate;
import io.plumbline.comparison.ExplainerComparison;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Compares the two engines that most rows of a window come from. */
public record EnginesReport(
        @JsonPropertyDescription("the header that tells them apart, the site's `breakdown_by`")
        String by,

        @JsonPropertyDescription("of the four values that are kept, the first of them by name, the two with most rows; "
                + "the first by name is *before* in `comparison`")
        List<Engine> engines,

        @JsonPropertyDescription("requests among those compared that both engines served, with the same rows or not")
        int shared,

        @JsonPropertyDescription(
                "what [`compare`](#compare) says of some rows of each, without gaps and shift: see `breakdown`")
        ExplainerComparison comparison) {

    private static final WindowMetric SURVIVAL = WindowMetric.family(
            "plumbline_engines_feature_survival_ratio",
            "Share of the active features whose codes on the rows of one engine correlate with those on the other's");
    private static final WindowMetric COSINE = WindowMetric.family(
            "plumbline_engines_row_cosine", "Mean cosine of the rows of one engine to the same rows of the other");
    private static final WindowMetric RISE = WindowMetric.family(
            "plumbline_engines_fraction_of_variance_unexplained_rise",
            "Fraction of variance unexplained on the rows of the engine that comes second by name, less the other's");

    static final BiConsumer<EnginesReport, Samples> SAMPLES =
            (report, samples) -> samples.set(SURVIVAL, report.figure("survival"))
                    .set(COSINE, report.figure("row_cosine"))
                    .set(RISE, report.figure("fvu_rise"));

    /** An engine, and how much came of it. */
    public record Engine(
            @JsonPropertyDescription("the value of the header")
            String value,

            @JsonPropertyDescription("rows of the window, masked ones among them")
            long rows,

            @JsonPropertyDescription("records of the window")
            long records) {}

    private @Nullable Double figure(String name) {
        Estimate figure = comparison.figures().get(name);
        return figure == null ? null : Double.valueOf(figure.value());
    }
}
