package io.plumbline.records;

import io.plumbline.wire.KnownHeaders;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsException;
import org.jspecify.annotations.Nullable;

/**
 * The value of one record of activations: rows, or the second moment of rows.
 *
 * <p>Immutable and thread-safe; the bytes are not copied and must not be changed.
 */
public sealed interface ActivationRecord permits ActivationBlob, MomentRecord {

    /**
     * Reads the header of a safetensors blob and checks its tensors against each other. Which kind it is, its tensors
     * say: one with a tensor {@code moment} is a {@link MomentRecord}.
     *
     * @param known headers of earlier records; this record probably has one of them
     * @throws SafetensorsException when the blob itself is wrong
     * @throws ActivationBatchException when it is sound and of neither kind
     */
    static ActivationRecord parse(byte[] blob, KnownHeaders known) {
        return parse(blob, known, null);
    }

    /**
     * Reads a record of a site that takes {@code hidden_states} of several layers.
     *
     * @param layers which layers there are, and which one is read; null: hidden states of three dimensions are refused
     */
    static ActivationRecord parse(byte[] blob, KnownHeaders known, @Nullable HiddenLayers layers) {
        // Nothing to close: the blob is in memory.
        Safetensors tensors = Safetensors.parse(blob, ActivationBlob.LONGEST_HEADER, known);
        return tensors.contains(MomentRecord.MOMENT) ? MomentTensors.read(tensors) : ActivationBlob.of(tensors, layers);
    }
}
