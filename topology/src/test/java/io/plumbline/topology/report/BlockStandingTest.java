package io.plumbline.topology.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.judgement.Verdict;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class BlockStandingTest {

    @Test
    void aDriftedBlockIsWorseThanAnUndecidedOneAndThatThanAnAlignedOne() {
        BlockStanding aligned = standing("targets.0", Verdict.ALIGNED, 9.0);
        BlockStanding undecided = standing("targets.1", Verdict.UNDECIDED, null);
        BlockStanding drifted = standing("targets.2", Verdict.DRIFTED, 1.5);
        assertEquals(drifted, BlockStanding.worst(List.of(aligned, drifted, undecided)));
        assertEquals(undecided, BlockStanding.worst(List.of(aligned, undecided)));
    }

    @Test
    void ofTwoDriftedBlocksTheOneFartherAboveItsThresholdIsWorse() {
        BlockStanding far = new BlockStanding("targets.0", Verdict.DRIFTED, "faithfulness_gap", 3.0, 1.0);
        BlockStanding near = new BlockStanding("targets.1", Verdict.DRIFTED, "reconstruction_fvu", 50.0, 40.0);
        assertEquals(far, BlockStanding.worst(List.of(near, far)));
    }

    @Test
    void ofEqualBlocksTheFirstIsNamed() {
        BlockStanding first = standing("targets.0", Verdict.ALIGNED, 0.5);
        assertEquals(first, BlockStanding.worst(List.of(standing("targets.1", Verdict.ALIGNED, 0.5), first)));
    }

    private static BlockStanding standing(String block, Verdict verdict, @Nullable Double value) {
        return new BlockStanding(block, verdict, "faithfulness_gap", value, 1.0);
    }
}
