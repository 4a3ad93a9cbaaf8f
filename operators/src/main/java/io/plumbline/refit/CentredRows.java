package io.plumbline.refit;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Rows seen from those that are fitted on, whose means are taken out of everything: a refit {@code W = D~ + Z^T dual}
 * with its own bias is {@code trained} rotated and {@code times(dual)} for them, to be held against {@code targets}.
 *
 * <p><b>Size.</b> {@code 16 n d} bytes for n rows. Not changed once they are made.
 */
final class CentredRows {

    private final CentredCross cross;
    private final Matrix trained;
    private final Matrix targets;
    private final List<Part> parts;
    private final int answered;

    /**
     * Rows that have figures of their own.
     *
     * @param spread their squared distances to their own mean, summed
     */
    private record Part(int from, int to, double spread) {}

    private CentredRows(CentredCross cross, Matrix trained, Matrix targets, List<Part> parts, int answered) {
        this.cross = cross;
        this.trained = trained;
        this.targets = targets;
        this.parts = parts;
        this.answered = answered;
    }

    /**
     * Returns the rows fitted on, seen from themselves.
     *
     * @param targets n x d, centred
     * @param trained {@code Zc D}, centred too
     * @param answered how many, the first ones, have the trained decoder's own answers as targets
     */
    static CentredRows fittedOn(SparseCodes codes, Matrix targets, Matrix trained, int answered) {
        Part all = new Part(0, targets.rows(), squared(targets.frobeniusNorm()));
        return new CentredRows(new CentredCross(codes, codes), trained, targets, List.of(all), answered);
    }

    /**
     * Returns sets of other rows as seen from the ones fitted on; the sets share their products.
     *
     * @param fitted the codes of the rows fitted on
     * @param targetMean over those
     * @param productMean of {@code Z D} over those
     */
    static CentredRows seenFrom(
            SparseCodes fitted, Decoder decoder, double[] targetMean, double[] productMean, List<SampleRows> sets) {
        SparseCodes codes = sets.get(0).codes();
        for (SampleRows set : sets.subList(1, sets.size())) {
            codes = codes.and(set.codes());
        }
        Matrix product = SparseProducts.multiply(codes, decoder.weights());
        SparseProducts.less(productMean, product);
        Matrix targets = Matrix.zeros(codes.rows(), decoder.dimension());
        List<Part> parts = new ArrayList<>();
        int row = 0;
        for (SampleRows set : sets) {
            double[] values = set.targets().values();
            System.arraycopy(values, 0, targets.values(), row * targets.columns(), values.length);
            double spread = squared(SparseProducts.centred(set.targets()).frobeniusNorm());
            parts.add(new Part(row, row + set.rows(), spread));
            row += set.rows();
        }
        SparseProducts.less(targetMean, targets);
        return new CentredRows(new CentredCross(codes, fitted), product, targets, parts, 0);
    }

    /** Returns {@code (Z_p - 1 m^T) Zc^T X}, n x m for X of N x m; for the rows fitted on {@code K X}. */
    Matrix times(Matrix x) {
        return cross.times(x);
    }

    /** Returns {@code (Z_p - 1 m^T) D}, n x d. */
    Matrix trained() {
        return trained;
    }

    /** Returns the targets, n x d, less the mean of those fitted on. */
    Matrix targets() {
        return targets;
    }

    /**
     * Returns what the trained weights leave of the targets, n x d, but for a row that is taken from all: where rows
     * were answered by the trained decoder the one that it leaves of each of them, so that they are 0 to the last bit
     * and a solve can pass them over.
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

    /** Returns a figure for each set of rows, from squared errors, one sum a row. */
    List<Reconstruction> scored(double[] squaredErrors) {
        List<Reconstruction> figures = new ArrayList<>();
        for (Part part : parts) {
            double sum = 0.0;
            for (int i = part.from; i < part.to; i++) {
                sum += squaredErrors[i];
            }
            int rows = part.to - part.from;
            double mse = sum / rows;
            figures.add(new Reconstruction(rows, mse, mse / targets.columns(), sum / part.spread));
        }
        return figures;
    }

    /** Returns the trained decoder's figures, with what its bias lacks to the mean of the rows fitted on. */
    List<Reconstruction> scoredTrained(double[] offset) {
        double[] sums = new double[targets.rows()];
        for (int row = 0; row < sums.length; row++) {
            for (int j = 0; j < offset.length; j++) {
                int i = row * offset.length + j;
                double error = targets.values()[i] - trained.values()[i] + offset[j];
                sums[row] += error * error;
            }
        }
        return scored(sums);
    }

    private static double squared(double value) {
        return value * value;
    }
}
