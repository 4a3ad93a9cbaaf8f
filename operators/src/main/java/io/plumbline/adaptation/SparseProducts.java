package io.plumbline.adaptation;

import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Cores;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import java.util.Arrays;
import java.util.List;

/** Products with sparse codes Z (n x k) that never make Z dense. */
final class SparseProducts {

    /** Rows that one thread takes at a time. */
    private static final int ROWS = 64;

    /** Columns that are worked on together: what is made of them for 65,536 features takes 34 MB. */
    private static final int STRETCH = 64;

    private SparseProducts() {}

    /** {@code Z D}: n x m for D of k x m; {@code 2 nonZeros m} flops. */
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

    /**
     * {@code Z_i (Z^T X)} for several sets of codes, n_i x m each, without the k x m product: {@value #STRETCH} columns of it at a
     * time, and of these only the features that occur. {@code 2 m} flops for every entry of all codes.
     */
    static List<Matrix> through(SparseCodes codes, Matrix dense, List<SparseCodes> onto) {
        int m = dense.columns();
        List<Matrix> products =
                onto.stream().map(one -> Matrix.zeros(one.rows(), m)).toList();
        Cores.each((m + STRETCH - 1) / STRETCH, part -> {
            int from = part * STRETCH;
            int count = Math.min(STRETCH, m - from);
            double[][] learnt = learnt(codes, dense, from, count);
            for (int set = 0; set < onto.size(); set++) {
                SparseCodes one = onto.get(set);
                double[] sum = new double[count];
                for (int i = 0; i < one.rows(); i++) {
                    Arrays.fill(sum, 0.0);
                    for (int entry = one.rowStart()[i]; entry < one.rowStart()[i + 1]; entry++) {
                        double[] row = learnt[one.feature()[entry]];
                        if (row != null) {
                            addTo(sum, one.value()[entry], row);
                        }
                    }
                    System.arraycopy(sum, 0, products.get(set).values(), i * m + from, count);
                }
            }
        });
        return products;
    }

    /** Some columns of {@code Z^T X}; null for a feature that no row has. */
    private static double[][] learnt(SparseCodes codes, Matrix dense, int from, int count) {
        double[][] learnt = new double[codes.features()][];
        double[] stretch = new double[count];
        for (int i = 0; i < codes.rows(); i++) {
            System.arraycopy(dense.values(), i * dense.columns() + from, stretch, 0, count);
            for (int entry = codes.rowStart()[i]; entry < codes.rowStart()[i + 1]; entry++) {
                int feature = codes.feature()[entry];
                double[] row = learnt[feature];
                if (row == null) {
                    row = new double[count];
                    learnt[feature] = row;
                }
                addTo(row, codes.value()[entry], stretch);
            }
        }
        return learnt;
    }

    /** Arrays read at one index: the form of this loop that the JVM turns into vector instructions. */
    private static void addTo(double[] sum, double factor, double[] row) {
        for (int j = 0; j < row.length; j++) {
            sum[j] += factor * row[j];
        }
    }

    /**
     * {@code Zc Zc^T}, n x n, for the centred codes: the Gram matrix of Z with row and column means taken out, so that the
     * zeros of Z stay zeros. Two flops for every pair of rows that have a feature in common, at most {@code n nonZeros}.
     */
    static Matrix centredGram(SparseCodes codes) {
        int n = codes.rows();
        Matrix gram = Matrix.zeros(n, n);
        CodesByFeature byFeature = CodesByFeature.of(codes);
        Cores.each(parts(n), part -> {
            for (int i = part * ROWS; i < Math.min((part + 1) * ROWS, n); i++) {
                for (int entry = codes.rowStart()[i]; entry < codes.rowStart()[i + 1]; entry++) {
                    double value = codes.value()[entry];
                    int feature = codes.feature()[entry];
                    for (int other = byFeature.start()[feature];
                            other < byFeature.start()[feature + 1];
                            other++) {
                        gram.values()[i * n + byFeature.row()[other]] +=
                                value * byFeature.value()[other];
                    }
                }
            }
        });
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

    private static int parts(int rows) {
        return (rows + ROWS - 1) / ROWS;
    }
}
