package io.plumbline.explainer;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Relates targets as they come to the rows that the decoder writes.
 *
 * <p>For most explainers they are the same. An autoencoder that normalises its input writes normalised rows, each with
 * factors of its own, which do not commute with a second moment: there moments, gap and refit are of the normalised
 * rows. A skip connection adds {@code x W_skip^T}, which no other decoder changes: it is taken off the targets first.
 * FVU is measured on targets as they come.
 *
 * <p>Immutable and thread-safe.
 */
public final class DecoderSpace {

    /** The relation where targets are what the decoder writes. */
    public static final DecoderSpace PLAIN = new DecoderSpace(Normalisation.NONE, null);

    private final Normalisation normalisation;
    private final @Nullable Matrix skip;

    /** @param skip {@code d_in x d_out}: {@code x skip} is added to what is decoded; null where there is none */
    public DecoderSpace(Normalisation normalisation, @Nullable Matrix skip) {
        this.normalisation = normalisation;
        this.skip = skip;
    }

    /** Returns whether targets are taken as they come. */
    public boolean isPlain() {
        return normalisation == Normalisation.NONE && skip == null;
    }

    /** Returns in words for a report what stands between both; empty where nothing does. */
    public String describe() {
        String norm =
                switch (normalisation) {
                    case NONE -> "";
                    case CONSTANT_NORM -> "rows are scaled to the length sqrt(d)";
                    case LAYER_NORM -> "rows are layer-normed";
                };
        return skip == null ? norm : norm + (norm.isEmpty() ? "" : "; ") + "a skip connection is added";
    }

    /** Returns the batch with the rows that the decoder should write as its targets; the same one where they are. */
    public ActivationBatch of(ActivationBatch batch) {
        return isPlain()
                ? batch
                : new ActivationBatch(
                        batch.activations(), of(batch.activations(), batch.targetRows()), batch.tokenIds());
    }

    /** Returns the rows that the decoder should write: targets without the skip connection, or normalised. */
    public Matrix of(Matrix activations, Matrix targets) {
        Matrix rows = normalisation.apply(targets);
        return skip == null ? rows : rows.minus(Kernels.multiply(activations, skip));
    }

    /**
     * Returns the targets as they came.
     *
     * @param rows what {@link #of(Matrix, Matrix)} made of them
     */
    public Matrix targets(Matrix activations, Matrix rows) {
        // Normalising twice would not give the same digits, and only an autoencoder's targets are normalised.
        return normalisation == Normalisation.NONE ? toTargets(activations, rows) : activations;
    }

    /** Returns the targets of a batch as they came, where {@link #of(ActivationBatch)} made the batch. */
    public Matrix targets(ActivationBatch written) {
        return isPlain() ? written.targetRows() : targets(written.activations(), written.targetRows());
    }

    /** Returns decoded rows as targets come. */
    public Matrix toTargets(Matrix activations, Matrix decoded) {
        Matrix rows = skip == null ? decoded : decoded.plus(1.0, Kernels.multiply(activations, skip));
        return normalisation.undo(activations, rows);
    }

    /** Compares by content. */
    @Override
    public boolean equals(Object other) {
        return other instanceof DecoderSpace space
                && normalisation == space.normalisation
                && Objects.equals(skip, space.skip);
    }

    @Override
    public int hashCode() {
        return Objects.hash(normalisation, skip);
    }

    @Override
    public String toString() {
        return "DecoderSpace[%s]".formatted(isPlain() ? "targets as they come" : describe());
    }
}
