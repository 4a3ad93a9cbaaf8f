package io.plumbline.records;

import io.plumbline.linalg.Matrix;
import io.plumbline.wire.KnownHeaders;
import io.plumbline.wire.SafetensorsException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The activation rows of one record.
 *
 * <pre>
 * tensor          shape        element types          meaning
 * activations     [n, d_in]    F64 F32 F16 BF16       what the encoder reads; also accepted as hidden_states
 * targets         [n, d_out]   F64 F32 F16 BF16       transcoders only: what the decoder should say
 * reconstructions as what is reconstructed           sites without an explainer only, see below
 * code_indices    [n, m]       I64 I32                optional beside reconstructions, see GivenCodes
 * code_values     [n, m]       F64 F32 F16 BF16       the same
 * token_ids       [n]          I64 I32                optional, for masking special tokens
 * </pre>
 *
 * <p>A site without an explainer of its own brings what another one made of the targets, or of the activations where
 * there are none; elsewhere reconstructions are ignored.
 *
 * <p>Other tensors are ignored. A batch has at least one row and one column. Values are not looked at: non-finite rows
 * are refused where they are summed, with row and column.
 *
 * <p><b>Size.</b> {@code 8 n (d_in + d_out)} bytes; four times the record for the 16-bit types.
 */
public record ActivationBatch(Matrix activations, @Nullable Matrix targets, long @Nullable [] tokenIds) {

    // Spelled out: in its compact form the class file loses the annotation of the array parameter.
    public ActivationBatch(Matrix activations, @Nullable Matrix targets, long @Nullable [] tokenIds) {
        if (activations.rows() == 0 || activations.columns() == 0) {
            throw new ActivationBatchException(
                    "tensor \"activations\": shape [%d, %d]; a batch has at least one row of one value"
                            .formatted(activations.rows(), activations.columns()));
        }
        if (targets != null && (targets.rows() != activations.rows() || targets.columns() == 0)) {
            throw new ActivationBatchException(
                    "tensor \"targets\": shape [%d, %d], expected [%d, d_out], a row for each of the activations"
                            .formatted(targets.rows(), targets.columns(), activations.rows()));
        }
        if (tokenIds != null && tokenIds.length != activations.rows()) {
            throw new ActivationBatchException(
                    "tensor \"token_ids\": %d entries, expected %d, one for each row of the activations"
                            .formatted(tokenIds.length, activations.rows()));
        }
        this.activations = activations;
        this.targets = targets;
        this.tokenIds = tokenIds;
    }

    /**
     * Reads a safetensors blob.
     *
     * @throws SafetensorsException when the blob itself is wrong
     * @throws ActivationBatchException when it is sound and no batch
     */
    public static ActivationBatch parse(byte[] blob) {
        return ActivationBlob.parse(blob, new KnownHeaders()).batch();
    }

    /** Returns the rows of all parts, at least one and of the same widths; with token ids where every part has them. */
    public static ActivationBatch joined(List<ActivationBatch> parts) {
        ActivationBatch first = parts.get(0);
        return parts.size() == 1
                ? first
                : new ActivationBatch(
                        stacked(parts.stream().map(ActivationBatch::activations).toList()),
                        first.targets == null
                                ? null
                                : stacked(parts.stream()
                                        .map(ActivationBatch::targetRows)
                                        .toList()),
                        parts.stream().anyMatch(part -> part.tokenIds == null)
                                ? null
                                : parts.stream()
                                        .flatMapToLong(part -> Arrays.stream(Objects.requireNonNull(part.tokenIds)))
                                        .toArray());
    }

    private static Matrix stacked(List<Matrix> parts) {
        Matrix rows = Matrix.zeros(
                parts.stream().mapToInt(Matrix::rows).sum(), parts.get(0).columns());
        int at = 0;
        for (Matrix part : parts) {
            System.arraycopy(part.values(), 0, rows.values(), at, part.values().length);
            at += part.values().length;
        }
        return rows;
    }

    public int rows() {
        return activations.rows();
    }

    /** The rows the decoder should reproduce: the targets, or the activations themselves for an autoencoder. */
    public Matrix targetRows() {
        return targets == null ? activations : targets;
    }

    /** Returns these rows alone, at least one, in this order; copied. */
    public ActivationBatch keep(int[] rows) {
        return new ActivationBatch(
                select(activations, rows),
                targets == null ? null : select(targets, rows),
                tokenIds == null ? null : select(tokenIds, rows));
    }

    private static Matrix select(Matrix matrix, int[] rows) {
        int columns = matrix.columns();
        Matrix selected = Matrix.zeros(rows.length, columns);
        for (int i = 0; i < rows.length; i++) {
            System.arraycopy(matrix.values(), rows[i] * columns, selected.values(), i * columns, columns);
        }
        return selected;
    }

    static long[] select(long[] values, int[] rows) {
        return Arrays.stream(rows).mapToLong(row -> values[row]).toArray();
    }

    /** Compares by content. */
    @Override
    public boolean equals(Object other) {
        return other instanceof ActivationBatch batch
                && activations.equals(batch.activations)
                && Objects.equals(targets, batch.targets)
                && Arrays.equals(tokenIds, batch.tokenIds);
    }

    @Override
    public int hashCode() {
        return Objects.hash(activations, targets, Arrays.hashCode(tokenIds));
    }

    @Override
    public String toString() {
        return "ActivationBatch[activations %s, targets %s, token ids %s]"
                .formatted(activations, targets == null ? "none" : targets, tokenIds == null ? "none" : "given");
    }
}
