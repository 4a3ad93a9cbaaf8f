package io.plumbline.topology.report;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Says what part of a window's tokens came as rows, of the records whose producers say how many tokens were served. */
public record CoverageReport(
        @JsonPropertyDescription("tokens that the model servers processed")
        long tokensServed,

        @JsonPropertyDescription("share of them that came as rows, masked ones among them")
        double deliveredShare,

        @JsonPropertyDescription("share that has no row because a prefix cache held it")
        double cachedShare,

        @JsonPropertyDescription("share that producers left out by sampling")
        double notSampledShare,

        @JsonPropertyDescription("share whose rows producers had to give up")
        double droppedShare,

        @JsonPropertyDescription(
                "expected share delivered of the tokens that sampling did not leave out; null until it is known")
        @Nullable
        Double expectedDeliveredShare,

        @JsonPropertyDescription("expected share cached of the same tokens; null until it is known") @Nullable
        Double expectedCachedShare,

        @JsonPropertyDescription(
                "a sentence where one of the two is farther from the expected one than `coverage.limit`; else null")
        @Nullable
        String moved) {

    private static final WindowMetric SHARE = WindowMetric.family(
            "plumbline_coverage_ratio",
            "Tokens that came as rows, or did not for a reason their producers give, as a share of the tokens served",
            "tokens");
    private static final WindowMetric MOVED = WindowMetric.family(
            "plumbline_coverage_moved",
            "1 while the delivered or the cached share is farther from the expected one than coverage.limit, else 0");

    static final BiConsumer<CoverageReport, Samples> SAMPLES =
            (coverage, samples) -> samples.set(SHARE, "delivered", coverage.deliveredShare())
                    .set(SHARE, "cached", coverage.cachedShare())
                    .set(SHARE, "not_sampled", coverage.notSampledShare())
                    .set(SHARE, "dropped", coverage.droppedShare())
                    .set(MOVED, coverage.moved() == null ? 0 : 1);

    /** Returns the sentence for shares that are farther from the expected ones than {@code limit}, or null. */
    public static @Nullable String moved(
            double delivered,
            @Nullable Double expectedDelivered,
            double cached,
            @Nullable Double expectedCached,
            double limit) {
        List<String> parts = new ArrayList<>();
        if (expectedDelivered != null && Math.abs(delivered - expectedDelivered) > limit) {
            parts.add(part(delivered, "delivered", expectedDelivered));
        }
        if (expectedCached != null && Math.abs(cached - expectedCached) > limit) {
            parts.add(part(cached, "cached", expectedCached));
        }
        return parts.isEmpty()
                ? null
                : "%s: the rows are another part of the traffic, which moves every statistic without any drift"
                        .formatted(String.join(", ", parts));
    }

    private static String part(double share, String what, double expected) {
        return String.format(
                Locale.ROOT, "%.0f %% of the tokens were %s, %.0f %% expected", 100 * share, what, 100 * expected);
    }
}
