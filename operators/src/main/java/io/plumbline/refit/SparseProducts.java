package io.plumbline.refit;

import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.parallel.Cores;

/** Computes products with sparse codes Z (n x k) and never makes Z dense. */
final class SparseProducts {

    /** Rows that one thread takes at a time. */
    private static final int ROWS = 64;

    /** Columns that one thread takes at a time where rows are added up: a column's sum stays in its order. */
    private static final int COLUMNS = 128;

    private SparseProducts() {}

    /** Returns {@code Z D}: n x m for D of k x m; {@code 2 nonZeros m} flops. */
    static Matrix multiply(SparseCodes codes, Weights dense) {
        int m = dense.columns();
        Matrix product = Matrix.zeros(codes.rows(), m);
        Cores.each(parts(codes.rows()), part -> {
            for (int i = part * ROWS; i < Math.min((part + 1) * ROWS, codes.rows()); i++) {
                for (int entry = codes.rowStart()[i]; entry < codes.rowStart()[i + 1]; entry++) {
                    dense.addRow(codes.value()[entry], codes.feature()[entry], product.values(), i * m);
                }
            }
        });
        return product;
    }

    /** Returns {@code Z x}, one number a row. */
    static double[] dots(SparseCodes codes, double[] x) {
        double[] dots = new double[codes.rows()];
        for (int i = 0; i < dots.length; i++) {
            for (int entry = codes.rowStart()[i]; entry < codes.rowStart()[i + 1]; entry++) {
                dots[i] += codes.value()[entry] * x[codes.feature()[entry]];
            }
        }
        return dots;
    }

    /** Returns {@code tr(Cov z) / k}: the mean variance of a feature, in squared feature activations. */
    static double meanVariance(SparseCodes codes) {
        double sum = 0.0;
        for (double value : codes.value()) {
            sum += value * value;
        }
        double ofMeans = 0.0;
        for (double mean : codes.mean()) {
            ofMeans += mean * mean;
        }
        return Math.max(0.0, sum / codes.rows() - ofMeans) / codes.features();
    }

    static double[] columnMeans(Matrix matrix) {
        int columns = matrix.columns();
        double[] means = new double[columns];
        Cores.each((columns + COLUMNS - 1) / COLUMNS, (double) matrix.rows() * columns, part -> {
            int from = part * COLUMNS;
            int count = Math.min(COLUMNS, columns - from);
            for (int i = 0; i < matrix.rows(); i++) {
                Kernels.addScaled(1.0, matrix.values(), i * columns + from, means, from, count);
            }
        });
        for (int j = 0; j < means.length; j++) {
            means[j] /= matrix.rows();
        }
        return means;
    }

    /** The matrix with the mean of each column taken out, a new one. */
    static Matrix centred(Matrix matrix) {
        Matrix centred = matrix.copy();
        centre(centred);
        return centred;
    }

    /** Takes the mean of each column out of a matrix, and returns these means. */
    static double[] centre(Matrix matrix) {
        double[] means = columnMeans(matrix);
        less(means, matrix);
        return means;
    }

    /** Takes one row from all, in place. */
    static void less(double[] row, Matrix matrix) {
        Cores.each(parts(matrix.rows()), (double) matrix.rows() * row.length, part -> {
            for (int i = part * ROWS; i < Math.min((part + 1) * ROWS, matrix.rows()); i++) {
                Kernels.addScaled(-1.0, row, 0, matrix.values(), i * row.length, row.length);
            }
        });
    }

    private static int parts(int rows) {
        return (rows + ROWS - 1) / ROWS;
    }
}
