package io.plumbline.wire;

import java.nio.ByteBuffer;

/**
 * The activation tensors of one record, checked against each other; no value was converted yet. Whoever takes records of
 * others looks at rows and widths here, before {@link #batch} makes doubles of them.
 *
 * <p><b>Size.</b> The header is at most {@value #LONGEST_HEADER} bytes, and its entries take some ten times that for as long
 * as this object lives. A {@link #batch} takes up to four times the tensors' bytes (16-bit floats become doubles).
 *
 * <p>Immutable and thread-safe; the bytes are not copied and must not be changed.
 */
public final class ActivationBlob {

    /** A record has a handful of tensors: more than this is an attack, or not a record. */
    static final int LONGEST_HEADER = 1 << 20;

    private final ActivationTensors tensors;

    private ActivationBlob(ActivationTensors tensors) {
        this.tensors = tensors;
    }

    /**
     * Reads the header of a safetensors blob.
     *
     * @throws SafetensorsException when the blob itself is wrong
     * @throws ActivationBatchException when it is sound and no batch
     */
    public static ActivationBlob parse(ByteBuffer blob) {
        // Nothing to close: the blob is in memory.
        return new ActivationBlob(ActivationTensors.of(Safetensors.parse(blob, LONGEST_HEADER)));
    }

    /** At least 1. */
    public int rows() {
        return tensors.rowCount();
    }

    /** Columns of the activations, at least 1. */
    public int inputWidth() {
        return tensors.activations().size(1);
    }

    public boolean hasTargets() {
        return tensors.targets() != null;
    }

    /** Columns of the targets; 0 where there are none. */
    public int targetWidth() {
        Tensor targets = tensors.targets();
        return targets == null ? 0 : targets.size(1);
    }

    public boolean hasTokenIds() {
        return tensors.tokenIds() != null;
    }

    /** Converts every row. */
    public ActivationBatch batch() {
        return tensors.all();
    }
}
