package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.Arrays;

/**
 * Rows seen from those that are fitted on, whose means are taken out of everything: a refit {@code W = D~ + Z^T dual} with its own bias
 * is {@code trained} rotated and {@code times(dual)} for them, to be held against {@code targets}.
 *
 * <p>Compared by identity.
 *
 * <p><b>Size.</b> {@code 16 n d} bytes for n rows.
 */
final class RefitRows {

    private final CentredCross cross;
    private final Matrix trained;
    private final Matrix targets;
    private final double spread;
    private final int answered;

    private RefitRows(CentredCross cross, Matrix trained, Matrix targets, double spread, int answered) {
        this.cross = cross;
        this.trained = trained;
        this.targets = targets;
        this.spread = spread;
        this.answered = answered;
    }

    /**
     * The rows fitted on, seen from themselves.
     *
     * @param trainedProduct {@code Z D}, n x d, not centred
     * @param answered how many, the first ones, have the trained decoder's own answers as targets
     */
    static RefitRows fittedOn(SparseCodes codes, Matrix targets, Matrix trainedProduct, int answered) {
        Matrix centred = SparseProducts.centred(targets);
        return new RefitRows(
                new CentredCross(codes, codes),
                SparseProducts.centred(trainedProduct),
                centred,
                squared(centred.frobeniusNorm()),
                answered);
    }

    /**
     * Other rows, seen from the ones of {@code fit}.
     *
     * @param productMean of {@code Z D} over those
     */
    static RefitRows seenFrom(SampleRows fit, double[] productMean, SampleRows rows, Decoder trained) {
        return new RefitRows(
                new CentredCross(rows.codes(), fit.codes()),
                less(productMean, SparseProducts.multiply(rows.codes(), trained.weights())),
                less(SparseProducts.columnMeans(fit.targets()), rows.targets().copy()),
                squared(SparseProducts.centred(rows.targets()).frobeniusNorm()),
                0);
    }

    /** {@code (Z_p - 1 m^T) Zc^T X}, n x m for X of N x m; for the rows fitted on {@code K X}. */
    Matrix times(Matrix x) {
        return cross.times(x);
    }

    /** {@code (Z_p - 1 m^T) D}, n x d. */
    Matrix trained() {
        return trained;
    }

    /** n x d, less the mean of those fitted on. */
    Matrix targets() {
        return targets;
    }

    /**
     * What the trained weights leave of the targets, n x d, but for a row that is taken from all: where rows were answered by the trained
     * decoder the one that it leaves of each of them, so that they are 0 to the last bit and a solve can pass them over.
     */
    Matrix residual() {
        Matrix residual = targets.minus(trained);
        if (answered > 0) {
            int d = residual.columns();
            less(residual.rowRange(0, 1).values(), residual);
            Arrays.fill(residual.values(), 0, answered * d, 0.0);
        }
        return residual;
    }

    /** Of errors with these squares in all. */
    Reconstruction scored(double squaredErrors) {
        double mse = squaredErrors / targets.rows();
        return new Reconstruction(targets.rows(), mse, mse / targets.columns(), squaredErrors / spread);
    }

    /** Of the trained decoder, with what its bias lacks to the mean of the rows fitted on. */
    Reconstruction scored(double[] offset) {
        double sum = 0.0;
        for (int i = 0; i < targets.values().length; i += offset.length) {
            for (int j = 0; j < offset.length; j++) {
                double error = targets.values()[i + j] - trained.values()[i + j] + offset[j];
                sum += error * error;
            }
        }
        return scored(sum);
    }

    private static Matrix less(double[] means, Matrix matrix) {
        for (int i = 0; i < matrix.rows(); i++) {
            Kernels.addScaled(-1.0, means, 0, matrix.values(), i * means.length, means.length);
        }
        return matrix;
    }

    private static double squared(double value) {
        return value * value;
    }
}
