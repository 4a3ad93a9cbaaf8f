package io.plumbline.topology.report;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Compares the rows of a window by where they came from.
 *
 * <p>A gap and a shift depend on how many rows they are measured on. So those of all values are measured on equally
 * many sampled rows of each, {@code comparedRows}. They can be compared with each other, but not with the window's.
 */
public record Breakdown(
        @JsonPropertyDescription("the header or tag") String by,

        @JsonPropertyDescription(
                "sampled rows of each value that gap and shift are measured on; 0 where no two values have enough")
        int comparedRows,

        @JsonPropertyDescription("those with most rows first, at most 8, then `(others)` and `(not said)`")
        List<OfValue> values) {

    private static final WindowMetric GAP = WindowMetric.family(
            "plumbline_breakdown_faithfulness_gap",
            "Faithfulness gap of the rows of each value of breakdown_by, on equally many sampled rows of each",
            "value");
    private static final WindowMetric SHIFT = WindowMetric.family(
            "plumbline_breakdown_whitened_mean_shift",
            "Whitened mean shift of the rows of each value of breakdown_by, on equally many sampled rows of each",
            "value");
    private static final WindowMetric FVU = WindowMetric.family(
            "plumbline_breakdown_fraction_of_variance_unexplained",
            "Fraction of variance the trained decoder leaves unexplained on the encoded rows of each value of "
                    + "breakdown_by; may exceed 1",
            "value");

    static final BiConsumer<Breakdown, Samples> SAMPLES =
            (breakdown, samples) -> breakdown.values().forEach(one -> samples.set(
                            GAP, one.value(), one.faithfulnessGap())
                    .set(SHIFT, one.value(), one.whitenedMeanShift())
                    .set(FVU, one.value(), one.fvu()));

    /** The most values that are compared one by one. */
    public static final int MOST = 8;

    /** Stands for all values beyond {@link #MOST}. */
    public static final String OTHERS = "(others)";

    /** Stands for rows whose producers do not say the value, or whose origin is not kept. */
    public static final String UNSAID = "(not said)";

    public Breakdown {
        values = List.copyOf(values);
    }

    /** The rows of one value. */
    public record OfValue(
            @JsonPropertyDescription("the value") String value,

            @JsonPropertyDescription("rows of the window, masked ones among them")
            long rows,

            @JsonPropertyDescription("of the window's rows") double share,

            @JsonPropertyDescription("share of the evidence of all scored requests") @Nullable
            Double evidenceShare,

            @JsonPropertyDescription("FVU of the trained decoder on the value's encoded rows") @Nullable
            Double fvu,

            @JsonPropertyDescription("its gap; null where the value has too few sampled rows") @Nullable
            Double faithfulnessGap,

            @JsonPropertyDescription("its shift; null where the value has too few sampled rows") @Nullable
            Double whitenedMeanShift) {}

    /** Returns the entry of a value, or null. */
    public @Nullable OfValue of(String value) {
        return values.stream()
                .filter(one -> one.value().equals(value))
                .findFirst()
                .orElse(null);
    }
}
