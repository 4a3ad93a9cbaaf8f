package io.plumbline.topology.config;

import io.plumbline.topology.emission.DecoderEmitter;
import io.plumbline.wire.DType;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** The size of the one decoder of several target layers: rows of the block that has most, columns of all. */
final class TargetsSize {

    /** The size of a block's decoder. */
    record Block(int features, int width) {}

    private TargetsSize() {}

    /** Returns why the one decoder of these blocks is too large to publish, or null where it is not. */
    static @Nullable String refusal(Collection<Block> blocks, DType dtype) {
        int features = blocks.stream().mapToInt(Block::features).max().orElse(0);
        long width = blocks.stream().mapToLong(Block::width).sum();
        return DecoderEmitter.refusal(features, (int) Math.min(width, Integer.MAX_VALUE), dtype) == null
                ? null
                : ("targets: the one decoder of all, %d features x %d, is larger than what travels; "
                                + "expected fewer targets, a narrower adaptation.dtype, or adaptation: {mode: observe}")
                        .formatted(features, width);
    }
}
