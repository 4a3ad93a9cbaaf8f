package io.plumbline.records;

import io.plumbline.wire.KnownHeaders;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsException;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * The whole requests of one record of rows: what a head, the rest of a model, can be run on.
 *
 * <pre>
 * tensor            shape            element types        meaning
 * request_offsets   [requests + 1]   I64                  request i has rows offsets[i] .. offsets[i + 1] - 1;
 *                                                         absent: the record is one request
 * residual          [n, d_out]       F64 F32 F16 BF16     transcoders only: what the targets are added to
 * </pre>
 *
 * <p>The other tensors are those of an {@link ActivationBatch}. Nothing is decoded. Immutable and thread-safe; the
 * record's bytes are not copied and must not be changed.
 */
public final class RequestRecord {

    /** Name of the tensor with the residual stream that a transcoder's targets are added to. */
    public static final String RESIDUAL = "residual";

    private final ActivationTensors tensors;
    private final @Nullable Tensor residual;
    private final int[] offsets;
    private final boolean lacksRows;

    private RequestRecord(ActivationTensors tensors, @Nullable Tensor residual, int[] offsets, boolean lacksRows) {
        this.tensors = tensors;
        this.residual = residual;
        this.offsets = offsets;
        this.lacksRows = lacksRows;
    }

    /**
     * Reads the header of a record of rows.
     *
     * @param layers which layers {@code hidden_states} of three dimensions hold; null: they are refused
     * @throws SafetensorsException when the record itself is wrong
     * @throws ActivationBatchException when its tensors do not fit each other
     */
    public static RequestRecord parse(byte[] blob, KnownHeaders known, @Nullable HiddenLayers layers) {
        // Nothing to close: the blob is in memory.
        Safetensors file = Safetensors.parse(blob, ActivationBlob.LONGEST_HEADER, known);
        ActivationTensors tensors = ActivationTensors.of(file, layers);
        int rows = tensors.rowCount();
        Tensor residual = file.contains(RESIDUAL) ? ActivationTensors.matrix(file.tensor(RESIDUAL)) : null;
        Tensor reproduced = tensors.targets() == null ? tensors.activations() : tensors.targets();
        if (residual != null && !residual.shape().equals(reproduced.shape())) {
            throw new ActivationBatchException("tensor \"residual\": shape %s, expected %s, as what is added to it"
                    .formatted(residual.shape(), reproduced.shape()));
        }
        int[] offsets = file.contains(ActivationFile.REQUEST_OFFSETS)
                ? ActivationFile.offsets(file.tensor(ActivationFile.REQUEST_OFFSETS), rows)
                : new int[] {0, rows};
        Tensor tokenIds = file.contains(ActivationTensors.TOKEN_IDS) ? file.tensor(ActivationTensors.TOKEN_IDS) : null;
        return new RequestRecord(tensors, residual, offsets, tokenIds != null && tokenIds.size(0) > rows);
    }

    /** Returns whether an engine with a prefix cache wrote it: the ids of all tokens and the rows of the last ones. */
    public boolean lacksRows() {
        return lacksRows;
    }

    /** Returns how many requests it has, at least 1. */
    public int count() {
        return offsets.length - 1;
    }

    /** Returns how many rows a request has, at least 1. */
    public int rows(int request) {
        return offsets[request + 1] - offsets[request];
    }

    /** Returns all rows, as {@link ActivationBatch#parse} does. */
    public ActivationBatch batch() {
        return tensors.rows(0, tensors.rowCount());
    }

    /** Returns the residual stream of all rows, or null. */
    public @Nullable EncodedRows residual() {
        return residual == null ? null : EncodedRows.of(residual);
    }

    /** Returns one request as a record of its own, in the same element types: no value is rounded. Copied. */
    public byte[] request(int request) {
        int from = offsets[request];
        int to = offsets[request + 1];
        SafetensorsWriter record = SafetensorsWriter.create();
        ActivationFile.addRows(record, ActivationTensors.ACTIVATIONS, tensors.activations(), from, to);
        Tensor targets = tensors.targets();
        if (targets != null) {
            ActivationFile.addRows(record, ActivationTensors.TARGETS, targets, from, to);
        }
        Tensor tokenIds = tensors.tokenIds();
        if (tokenIds != null) {
            ActivationFile.addRows(record, ActivationTensors.TOKEN_IDS, tokenIds, from, to);
        }
        if (residual != null) {
            ActivationFile.addRows(record, RESIDUAL, residual, from, to);
        }
        return record.toBytes();
    }
}
