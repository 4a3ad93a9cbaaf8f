package io.plumbline.records;

import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.KnownHeaders;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsException;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.Tensor;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The activation tensors of one record, checked against each other; no value was decoded yet. Whoever takes records of
 * others looks at rows and widths here first, and adds the rows to a moment as they lie in the record's bytes ({@link
 * EncodedRows}).
 *
 * <p><b>Size.</b> Some hundred bytes beside the record's own, whatever its rows, where its header is one of the {@link
 * KnownHeaders}; otherwise the header is at most {@value #LONGEST_HEADER} bytes, and its entries take some ten times
 * that for as long as this object lives. A {@link #batch} takes up to four times the tensors' bytes (16-bit floats
 * become doubles).
 *
 * <p>Immutable and thread-safe; the bytes are not copied and must not be changed.
 */
public final class ActivationBlob implements ActivationRecord {

    /** The longest header: a record has a handful of tensors, and more than this is an attack, or not a record. */
    static final int LONGEST_HEADER = 1 << 20;

    private final EncodedRows activations;
    private final @Nullable EncodedRows targets;
    private final @Nullable EncodedRows reconstructions;
    private final @Nullable GivenCodes codes;
    private final long @Nullable [] tokenIds;

    private ActivationBlob(
            EncodedRows activations,
            @Nullable EncodedRows targets,
            @Nullable EncodedRows reconstructions,
            @Nullable GivenCodes codes,
            long @Nullable [] tokenIds) {
        this.activations = activations;
        this.targets = targets;
        this.reconstructions = reconstructions;
        this.codes = codes;
        this.tokenIds = tokenIds;
    }

    /**
     * Reads the header of a safetensors blob.
     *
     * @param known headers of earlier records; this record probably has one of them
     * @throws SafetensorsException when the blob itself is wrong
     * @throws ActivationBatchException when it is sound and no batch
     */
    public static ActivationBlob parse(byte[] blob, KnownHeaders known) {
        // Nothing to close: the blob is in memory.
        return of(Safetensors.parse(blob, LONGEST_HEADER, known), null);
    }

    /**
     * Reads the header of a record of a site with several targets; the rows of the source layers are copied side by
     * side.
     *
     * @param block which target is read
     */
    public static ActivationBlob parseBlock(byte[] blob, KnownHeaders known, TargetBlock block) {
        return of(ActivationTensors.ofBlock(Safetensors.parse(blob, LONGEST_HEADER, known), block));
    }

    static ActivationBlob of(Safetensors blob, @Nullable HiddenLayers layers) {
        return of(ActivationTensors.of(blob, layers));
    }

    private static ActivationBlob of(ActivationTensors tensors) {
        Tensor targets = tensors.targets();
        Tensor reconstructions = tensors.reconstructions();
        Tensor tokenIds = tensors.tokenIds();
        return new ActivationBlob(
                EncodedRows.of(tensors.activations()),
                targets == null ? null : EncodedRows.of(targets),
                reconstructions == null ? null : EncodedRows.of(reconstructions),
                tensors.codes(),
                tokenIds == null ? null : tokenIds.toLongs());
    }

    /** Returns the number of rows, at least 1. */
    public int rows() {
        return activations.rows();
    }

    /** Returns what the encoder reads. */
    public EncodedRows activations() {
        return activations;
    }

    /** Returns what the decoder of a transcoder should say; null for an autoencoder. */
    public @Nullable EncodedRows targets() {
        return targets;
    }

    /** The rows the decoder should reproduce: the targets, or the activations themselves for an autoencoder. */
    public EncodedRows targetRows() {
        return Objects.requireNonNullElse(targets, activations);
    }

    /** Returns one id for each row, or null; the array is shared and must not be changed. */
    public long @Nullable [] tokenIds() {
        return tokenIds;
    }

    /** Returns these rows alone, at least one, in this order; still nothing is decoded. */
    public ActivationBlob keep(int[] rows) {
        return new ActivationBlob(
                activations.keep(rows),
                targets == null ? null : targets.keep(rows),
                reconstructions == null ? null : reconstructions.keep(rows),
                codes == null ? null : codes.keep(rows),
                tokenIds == null ? null : ActivationBatch.select(tokenIds, rows));
    }

    /**
     * Returns this record with other target rows, as float32: what a decoder writes where that is not what came.
     *
     * @param rows as many as this record has
     */
    public ActivationBlob withTargets(Matrix rows) {
        if (rows.rows() != rows()) {
            throw new IllegalArgumentException("%d targets for %d rows".formatted(rows.rows(), rows()));
        }
        return new ActivationBlob(
                activations, floats(ActivationTensors.TARGETS, rows), reconstructions, codes, tokenIds);
    }

    /** Returns what a producer's own explainer made of the target rows; null where it sent nothing of it. */
    public @Nullable EncodedRows reconstructions() {
        return reconstructions;
    }

    /** Returns whether the producer sent codes beside its reconstructions. */
    public boolean hasCodes() {
        return codes != null;
    }

    /**
     * Returns this record with each target row and its error {@code y - yhat} behind it, as float32: as activations, or
     * where codes are asked for as targets, and as activations with the codes behind both.
     *
     * @param features of the codes; 0: none
     * @throws ActivationBatchException where a code is none of a feature
     */
    public ActivationBlob joined(int features) {
        EncodedRows given = Objects.requireNonNull(reconstructions, "no reconstructions");
        EncodedRows reproduced = targetRows();
        int width = reproduced.columns();
        Matrix rows = Matrix.zeros(rows(), 2 * width);
        for (int row = 0; row < rows(); row++) {
            reproduced.copy(row, rows.values(), row * 2 * width);
            for (int j = 0; j < width; j++) {
                rows.set(row, width + j, reproduced.value(row, j) - given.value(row, j));
            }
        }
        return features == 0
                ? new ActivationBlob(floats(ActivationTensors.ACTIVATIONS, rows), null, null, null, tokenIds)
                : new ActivationBlob(
                        floats(ActivationTensors.ACTIVATIONS, withCodes(rows, features)),
                        floats(ActivationTensors.TARGETS, rows),
                        null,
                        null,
                        tokenIds);
    }

    private Matrix withCodes(Matrix rows, int features) {
        GivenCodes given = Objects.requireNonNull(codes, "no codes");
        int width = rows.columns() + GivenCodes.WIDTH;
        Matrix wider = Matrix.zeros(rows.rows(), width);
        for (int row = 0; row < rows.rows(); row++) {
            System.arraycopy(rows.values(), row * rows.columns(), wider.values(), row * width, rows.columns());
            given.copy(row, features, wider.values(), row * width + rows.columns());
        }
        return wider;
    }

    private static EncodedRows floats(String name, Matrix rows) {
        byte[] blob = SafetensorsWriter.create().add(name, DType.F32, rows).toBytes();
        return EncodedRows.of(
                Safetensors.parse(blob, LONGEST_HEADER, new KnownHeaders()).tensor(name));
    }

    /** Decodes every row. */
    public ActivationBatch batch() {
        return new ActivationBatch(activations.toMatrix(), targets == null ? null : targets.toMatrix(), tokenIds);
    }
}
