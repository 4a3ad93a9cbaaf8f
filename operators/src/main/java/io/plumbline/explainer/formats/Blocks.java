package io.plumbline.explainer.formats;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.DecoderSpace;
import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.explainer.ExplainerShape;
import io.plumbline.records.TargetBlock;
import io.plumbline.wire.DType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The opened files of a dictionary that writes into several layers; what it writes into one of them is a block. */
interface Blocks {

    /**
     * One block, read: an explainer but for where it came from.
     *
     * @param notRefitted why its decoder cannot be replaced; null where it can
     */
    record Block(
            String architecture,
            Encoder encoder,
            Decoder decoder,
            DecoderSpace space,
            TargetBlock place,
            List<String> notes,
            @Nullable String notRefitted) {}

    /** Returns what the dictionary is, for a message: {@code cross-layer transcoder} or {@code crosscoder}. */
    String kind();

    /** Returns the layers that are written into, in their order in the files. */
    List<Integer> targets();

    /** Returns what names of folders decided, one sentence each. */
    default List<String> decidedByPath() {
        return List.of();
    }

    /** Returns the sizes of a block; reads no weights. */
    ExplainerShape shape(int target);

    /** Refuses a decoder with more values than one array holds. */
    static void requireOneArray(int target, int features, int width) {
        if ((long) features * width > Integer.MAX_VALUE - 8) {
            throw new ExplainerFormatException(
                    ("the decoder of target %d has %d features x %d, more than one array holds; "
                                    + "watch a lower target layer")
                            .formatted(target, features, width));
        }
    }

    /** Reads blocks, which share what is the same of their encoders. */
    List<Block> read(List<Integer> targets);

    /** Writes blocks with other decoders as one folder. */
    void write(
            List<Explainer> originals,
            List<Decoder> adapted,
            DType dtype,
            Map<String, String> lineage,
            Path outDirectory)
            throws IOException;
}
