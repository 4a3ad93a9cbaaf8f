package io.plumbline.features;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;

/**
 * The errors that a decoder leaves on some rows.
 *
 * @param errors {@code e_i = y_i - yhat_i}, n x d
 * @param mean of the errors over the rows
 * @param variance {@code (1/n) sum |e_i - mean|^2}
 * @param spread {@code (1/n) sum |y_i - mean y|^2}
 */
record Residuals(Matrix errors, double[] mean, double variance, double spread) {

    static Residuals of(Decoder decoder, SparseCodes codes, Matrix targets) {
        return of(decoder.reconstruct(codes), targets);
    }

    static Residuals of(Matrix reconstructions, Matrix targets) {
        Matrix errors = targets.minus(reconstructions);
        double[] mean = mean(errors);
        return new Residuals(errors, mean, variance(errors, mean), variance(targets, mean(targets)));
    }

    private static double[] mean(Matrix rows) {
        double[] mean = new double[rows.columns()];
        for (int at = 0; at < rows.values().length; at++) {
            mean[at % mean.length] += rows.values()[at] / rows.rows();
        }
        return mean;
    }

    private static double variance(Matrix rows, double[] mean) {
        double sum = 0.0;
        for (int at = 0; at < rows.values().length; at++) {
            double distance = rows.values()[at] - mean[at % mean.length];
            sum += distance * distance;
        }
        return rows.rows() == 0 ? 0.0 : sum / rows.rows();
    }
}
