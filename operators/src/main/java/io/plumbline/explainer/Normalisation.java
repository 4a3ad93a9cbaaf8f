package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;

/**
 * Normalises a row before it is encoded, with factors of its own.
 *
 * <pre>
 * value            in                              out                 SAELens' name
 * NONE             x                               y                   none
 * CONSTANT_NORM    x sqrt(d) / |x|                 y |x| / sqrt(d)     constant_norm_rescale
 * LAYER_NORM       (x - mean) / (std + 1e-5)       y std + mean        layer_norm; std with d - 1
 * </pre>
 *
 * <p>The libraries divide by 0 where a row is 0; here such a row stays 0 on both ways.
 */
public enum Normalisation {
    NONE,
    CONSTANT_NORM,
    LAYER_NORM;

    private static final double EPSILON = 1e-5;

    /**
     * The mean of one row, and its factors both ways: {@code in = (x - shift) inward}, {@code out = y outward + shift}.
     */
    private record Factors(double shift, double inward, double outward) {}

    /** Returns the rows as the encoder of an autoencoder reads them; the given ones where nothing is done. */
    Matrix apply(Matrix rows) {
        if (this == NONE) {
            return rows;
        }
        Matrix normalised = Matrix.zeros(rows.rows(), rows.columns());
        for (int i = 0; i < rows.rows(); i++) {
            Factors factors = factors(rows, i);
            for (int j = 0; j < rows.columns(); j++) {
                normalised.set(i, j, (rows.get(i, j) - factors.shift()) * factors.inward());
            }
        }
        return normalised;
    }

    /**
     * Returns what was decoded for normalised rows in the space of the rows as they came.
     *
     * @param rows as they came, {@code n x d}
     * @param decoded {@code n x d}
     */
    Matrix undo(Matrix rows, Matrix decoded) {
        if (this == NONE) {
            return decoded;
        }
        Matrix raw = Matrix.zeros(decoded.rows(), decoded.columns());
        for (int i = 0; i < raw.rows(); i++) {
            Factors factors = factors(rows, i);
            for (int j = 0; j < raw.columns(); j++) {
                raw.set(i, j, decoded.get(i, j) * factors.outward() + factors.shift());
            }
        }
        return raw;
    }

    private Factors factors(Matrix rows, int row) {
        int width = rows.columns();
        double shift = this == LAYER_NORM ? mean(rows, row) : 0.0;
        double squares = 0.0;
        for (int j = 0; j < width; j++) {
            double value = rows.get(row, j) - shift;
            squares += value * value;
        }
        if (squares == 0.0) {
            return new Factors(shift, 0.0, 0.0);
        }
        if (this == LAYER_NORM) {
            double deviation = Math.sqrt(squares / (width - 1));
            return new Factors(shift, 1.0 / (deviation + EPSILON), deviation);
        }
        double factor = Math.sqrt(width) / Math.sqrt(squares);
        return new Factors(0.0, factor, 1.0 / factor);
    }

    private static double mean(Matrix rows, int row) {
        double sum = 0.0;
        for (int j = 0; j < rows.columns(); j++) {
            sum += rows.get(row, j);
        }
        return sum / rows.columns();
    }
}
