package io.plumbline.topology.report;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.plumbline.judgement.Verdict;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The report of one window about all target layers of a site with several. It goes to the {@code window-reports} topic
 * under the name of the configured site, with the header {@link #HEADER}, once every block has a
 * report of the window.
 */
public record TargetsReport(
        @JsonPropertyDescription("the configured site") String site,

        @JsonPropertyDescription("event time at which the window begins")
        long windowStartMs,

        @JsonPropertyDescription("event time at which it ends")
        long windowEndMs,

        @JsonPropertyDescription("that of the worst block") Verdict verdict,

        @JsonPropertyDescription("the target that stands worst: drifted before undecided before aligned, "
                + "then the one whose deciding statistic is the most times its threshold")
        String worstBlock,

        @JsonPropertyDescription("the statistic that its verdict rests on")
        String trigger,

        @JsonPropertyDescription("its value") @Nullable Double triggerValue,

        @JsonPropertyDescription("the value it must exceed") @Nullable
        Double threshold,

        @JsonPropertyDescription("the targets that have drifted")
        List<String> driftedBlocks,

        @JsonPropertyDescription("how each target stands") List<BlockStanding> blocks) {

    /** The header of such a report, which is no report of a window of one block. */
    public static final String HEADER = "plumbline.targets";

    /** Returns the report of a window from how its blocks stand, at least one. */
    public static TargetsReport of(String site, long windowStartMs, long windowEndMs, List<BlockStanding> blocks) {
        BlockStanding worst = BlockStanding.worst(blocks);
        return new TargetsReport(
                site,
                windowStartMs,
                windowEndMs,
                worst.verdict(),
                worst.block(),
                worst.trigger(),
                worst.value(),
                worst.threshold(),
                blocks.stream()
                        .filter(block -> block.verdict() == Verdict.DRIFTED)
                        .map(BlockStanding::block)
                        .toList(),
                blocks);
    }

    /** Returns what {@link Headline#overThreshold} is here; in JSON beside the threshold's key. */
    @JsonProperty("over_threshold")
    @JsonPropertyDescription(
            "`trigger_value` / `threshold`: above 1 the window counts towards a drift; null where either is missing, "
                    + "the threshold is not above 0, or the verdict is `undecided`")
    @Nullable
    Double overThreshold() {
        return verdict == Verdict.UNDECIDED
                ? null
                : Headline.of(trigger, triggerValue, threshold).overThreshold();
    }
}
