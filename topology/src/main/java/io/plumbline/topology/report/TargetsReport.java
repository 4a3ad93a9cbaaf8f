package io.plumbline.topology.report;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.plumbline.calibration.Verdict;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The report of one window about all target layers of a site with several. It goes to the {@code window-reports} topic
 * under the name of the configured site, with the header {@link #HEADER}, once every block has a
 * report of the window.
 *
 * @param site the configured site
 * @param windowStartMs event time, inclusive, milliseconds since 1970 UTC
 * @param windowEndMs event time, exclusive
 * @param verdict that of the worst block
 * @param worstBlock the block that stands worst: a drifted one before an undecided and that before an aligned one, then
 *     the one whose deciding statistic is the most times its threshold
 * @param trigger the statistic that its verdict rests on
 * @param triggerValue its value; null where undefined
 * @param threshold the value it must exceed
 * @param driftedBlocks the blocks that have drifted
 * @param blocks how each stands; the whole report of a block is under its own site
 */
public record TargetsReport(
        String site,
        long windowStartMs,
        long windowEndMs,
        Verdict verdict,
        String worstBlock,
        String trigger,
        @Nullable Double triggerValue,
        @Nullable Double threshold,
        List<String> driftedBlocks,
        List<BlockStanding> blocks) {

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
    @Nullable
    Double overThreshold() {
        return verdict == Verdict.UNDECIDED
                ? null
                : Headline.of(trigger, triggerValue, threshold).overThreshold();
    }
}
