package io.plumbline.refit;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;

/**
 * Measures how well a decoder gives back the targets of some rows.
 *
 * @param rows number of rows
 * @param mse mean over the rows of the squared length of the error, in squared activations (the paper's {@code
 *     L_recon})
 * @param msePerElement {@code mse / d}
 * @param fvu fraction of variance unexplained: squared errors over squared distances to the mean target of the same
 *     rows, dimensionless; 0 is perfect, 1 is no better than the mean. Infinite or NaN when the targets do not vary
 */
public record Reconstruction(int rows, double mse, double msePerElement, double fvu) {

    /** Measures a decoder in {@code 2 nonZeros d} flops. */
    public static Reconstruction of(Decoder decoder, SparseCodes codes, Matrix targets) {
        if (codes.rows() != targets.rows() || decoder.dimension() != targets.columns()) {
            throw new IllegalArgumentException("codes of %d rows and a decoder into %d against targets of %d x %d"
                    .formatted(codes.rows(), decoder.dimension(), targets.rows(), targets.columns()));
        }
        return between(decoder.reconstruct(codes), targets);
    }

    /**
     * Compares what a decoder gave for the rows with their targets, in any orthonormal coordinates: a rotation of both
     * changes nothing.
     */
    public static Reconstruction between(Matrix reconstruction, Matrix targets) {
        if (targets.rows() == 0) {
            throw new IllegalArgumentException("no rows: there is nothing to reconstruct");
        }
        double error = targets.distance(reconstruction);
        double spread = targets.distanceToRow(SparseProducts.columnMeans(targets));
        double mse = error * error / targets.rows();
        return new Reconstruction(targets.rows(), mse, mse / targets.columns(), (error * error) / (spread * spread));
    }
}
