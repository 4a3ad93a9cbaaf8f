package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
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
     * @param targets n x d, centred
     * @param trained {@code Zc D}, likewise
     * @param answered how many, the first ones, have the trained decoder's own answers as targets
     */
    static RefitRows fittedOn(SparseCodes codes, Matrix targets, Matrix trained, int answered) {
        return new RefitRows(
                new CentredCross(codes, codes), trained, targets, squared(targets.frobeniusNorm()), answered);
    }

    /**
     * Other rows, seen from the ones fitted on.
     *
     * @param fitted the codes of those
     * @param targetMean over those
     * @param productMean of {@code Z D} over those
     */
    static RefitRows seenFrom(
            SparseCodes fitted, double[] targetMean, double[] productMean, SampleRows rows, Decoder trained) {
        Matrix product = SparseProducts.multiply(rows.codes(), trained.weights());
        SparseProducts.less(productMean, product);
        Matrix targets = rows.targets().copy();
        double spread = squared(SparseProducts.centred(targets).frobeniusNorm());
        SparseProducts.less(targetMean, targets);
        return new RefitRows(new CentredCross(rows.codes(), fitted), product, targets, spread, 0);
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
            SparseProducts.less(residual.rowRange(0, 1).values(), residual);
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

    private static double squared(double value) {
        return value * value;
    }
}
