package io.plumbline.topology.report;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.plumbline.judgement.Verdict;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How one target layer of an explainer with several stands beside the others. */
public record BlockStanding(
        @JsonPropertyDescription("its name: `targets.3`") String block,
        @JsonPropertyDescription("of its window") Verdict verdict,

        @JsonPropertyDescription("the statistic that it rests on")
        String trigger,

        @JsonPropertyDescription("its value") @Nullable Double value,

        @JsonPropertyDescription("the value it must exceed") @Nullable
        Double threshold) {

    private static final List<Verdict> FROM_GOOD_TO_BAD = List.of(Verdict.ALIGNED, Verdict.UNDECIDED, Verdict.DRIFTED);

    /** Orders blocks from good to bad: by verdict, then by how many times its threshold the deciding statistic is. */
    private static final Comparator<BlockStanding> BADNESS = Comparator.comparingInt(
                    (BlockStanding standing) -> FROM_GOOD_TO_BAD.indexOf(standing.verdict()))
            .thenComparingDouble(BlockStanding::excess)
            .thenComparing(BlockStanding::block, Comparator.reverseOrder());

    /**
     * Returns the block that stands worst; its verdict is that of all blocks together.
     *
     * @param blocks at least one
     */
    public static BlockStanding worst(Collection<BlockStanding> blocks) {
        return Collections.max(blocks, BADNESS);
    }

    /** Returns how many times its threshold the deciding statistic is; below 0 where that cannot be said. */
    public double excess() {
        return Headline.of(trigger, value, threshold).orElse(-1.0);
    }
}
