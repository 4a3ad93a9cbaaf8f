package io.plumbline.topology.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.plumbline.topology.config.TargetsSize.Block;
import io.plumbline.wire.DType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class TargetsSizeTest {

    /** Returns the blocks of a cross-layer transcoder: each has the features of the layers up to its own. */
    private static List<Block> crossLayer(int layers, int features, int width) {
        List<Block> blocks = new ArrayList<>();
        for (int layer = 1; layer <= layers; layer++) {
            blocks.add(new Block(layer * features, width));
        }
        return blocks;
    }

    @Test
    void theOneDecoderOfManyLayersIsTooLargeToPublishAndTheSentenceSaysWhatToDo() {
        assertEquals(
                "targets: the one decoder of all, 425984 features x 59904, is larger than what travels; expected fewer"
                        + " targets, a narrower adaptation.dtype, or adaptation: {mode: observe}",
                TargetsSize.refusal(crossLayer(26, 16_384, 2_304), DType.F32));
    }

    @Test
    void aNarrowerTypeMakesOneFit() {
        List<Block> blocks = crossLayer(6, 16_384, 768 + 512);
        assertEquals(true, TargetsSize.refusal(blocks, DType.F32) != null);
        assertNull(TargetsSize.refusal(blocks, DType.BF16));
    }

    @Test
    void moreColumnsThanAnIntHoldsAreTooMany() {
        List<Block> blocks = Collections.nCopies(3, new Block(1, Integer.MAX_VALUE));
        assertEquals(
                "targets: the one decoder of all, 1 features x 6442450941, is larger than what travels; expected fewer"
                        + " targets, a narrower adaptation.dtype, or adaptation: {mode: observe}",
                TargetsSize.refusal(blocks, DType.F32));
    }
}
