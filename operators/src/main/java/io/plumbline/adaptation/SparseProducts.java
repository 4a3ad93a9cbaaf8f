package io.plumbline.adaptation;

import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;

/** Products with sparse codes Z (n x k) that never make Z dense. */
final class SparseProducts {

    private SparseProducts() {}

    /** {@code Z D}: n x m for D of k x m; {@code 2 nonZeros m} flops. */
    static Matrix multiply(SparseCodes codes, Matrix dense) {
        int m = dense.columns();
        Matrix product = Matrix.zeros(codes.rows(), m);
        for (int i = 0; i < codes.rows(); i++) {
            for (int entry = codes.rowStart()[i]; entry < codes.rowStart()[i + 1]; entry++) {
                Kernels.addScaled(
                        codes.value()[entry], dense.values(), codes.feature()[entry] * m, product.values(), i * m, m);
            }
        }
        return product;
    }

    /** {@code Z^T X}: k x m for X of n x m; {@code 2 nonZeros m} flops. */
    static Matrix transposeMultiply(SparseCodes codes, Matrix dense) {
        int m = dense.columns();
        Matrix product = Matrix.zeros(codes.features(), m);
        for (int i = 0; i < codes.rows(); i++) {
            for (int entry = codes.rowStart()[i]; entry < codes.rowStart()[i + 1]; entry++) {
                Kernels.addScaled(
                        codes.value()[entry], dense.values(), i * m, product.values(), codes.feature()[entry] * m, m);
            }
        }
        return product;
    }

    /**
     * {@code Zc Zc^T}, n x n, for the centred codes: the Gram matrix of Z with row and column means taken out, so that the
     * zeros of Z stay zeros. {@code n nonZeros} flops.
     */
    static Matrix centredGram(SparseCodes codes) {
        int n = codes.rows();
        Matrix gram = Matrix.zeros(n, n);
        double[] spread = new double[codes.features()];
        for (int i = 0; i < n; i++) {
            scatter(codes, i, spread);
            for (int j = 0; j <= i; j++) {
                double sum = 0.0;
                for (int entry = codes.rowStart()[j]; entry < codes.rowStart()[j + 1]; entry++) {
                    sum += codes.value()[entry] * spread[codes.feature()[entry]];
                }
                gram.set(i, j, sum);
                gram.set(j, i, sum);
            }
            for (int entry = codes.rowStart()[i]; entry < codes.rowStart()[i + 1]; entry++) {
                spread[codes.feature()[entry]] = 0.0;
            }
        }
        double[] means = columnMeans(gram);
        double overall = 0.0;
        for (double mean : means) {
            overall += mean / n;
        }
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                gram.set(i, j, gram.get(i, j) - means[i] - means[j] + overall);
            }
        }
        return gram;
    }

    /** {@code tr(Cov z) / k}: the mean variance of a feature, in squared feature activations. */
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
        double[] means = new double[matrix.columns()];
        for (int i = 0; i < matrix.rows(); i++) {
            Kernels.addScaled(1.0, matrix.values(), i * matrix.columns(), means, 0, matrix.columns());
        }
        for (int j = 0; j < means.length; j++) {
            means[j] /= matrix.rows();
        }
        return means;
    }

    /** The matrix with the mean of each column taken out, a new one. */
    static Matrix centred(Matrix matrix) {
        Matrix centred = matrix.copy();
        double[] means = columnMeans(matrix);
        for (int i = 0; i < matrix.rows(); i++) {
            Kernels.addScaled(-1.0, means, 0, centred.values(), i * matrix.columns(), matrix.columns());
        }
        return centred;
    }

    private static void scatter(SparseCodes codes, int row, double[] spread) {
        for (int entry = codes.rowStart()[row]; entry < codes.rowStart()[row + 1]; entry++) {
            spread[codes.feature()[entry]] = codes.value()[entry];
        }
    }
}
