package io.plumbline.detection;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.Arrays;

/**
 * Squared maximum mean discrepancy between a window and reference rows, Gaussian kernel (Gretton et al., A kernel
 * two-sample test, JMLR 13, 2012, the unbiased estimate of lemma 6; bandwidth by the median heuristic).
 */
final class MeanDiscrepancy {

    private final Matrix reference;
    private final int[] windowOf;
    private final double[] squaredNorms;
    private final double bandwidth;
    private final Matrix kernel;

    /** @param windowOf the clean window each reference row is of, which is then left out for that window */
    MeanDiscrepancy(Matrix reference, int[] windowOf) {
        this.reference = reference;
        this.windowOf = windowOf;
        this.squaredNorms = squaredNorms(reference);
        Matrix distances = distances(reference, squaredNorms, reference, squaredNorms);
        double[] all = distances.values().clone();
        Arrays.sort(all);
        this.bandwidth = all[(all.length + reference.rows()) / 2];
        this.kernel = exponential(distances);
    }

    /** @param window of the clean windows the one these rows are, or -1 */
    double of(Matrix rows, int window) {
        double[] norms = squaredNorms(rows);
        Matrix within = exponential(distances(rows, norms, rows, norms));
        Matrix across = exponential(distances(rows, norms, reference, squaredNorms));
        int n = rows.rows();
        int m = 0;
        double between = 0.0;
        double own = 0.0;
        for (int j = 0; j < reference.rows(); j++) {
            if (windowOf[j] == window) {
                continue;
            }
            m++;
            for (int i = 0; i < n; i++) {
                between += across.get(i, j);
            }
            for (int other = 0; other < reference.rows(); other++) {
                own += other == j || windowOf[other] == window ? 0.0 : kernel.get(j, other);
            }
        }
        double inside = Arrays.stream(within.values()).sum() - n;
        return inside / ((double) n * (n - 1)) + own / ((double) m * (m - 1)) - 2.0 * between / ((double) n * m);
    }

    private Matrix exponential(Matrix distances) {
        double[] values = distances.values();
        for (int i = 0; i < values.length; i++) {
            values[i] = Math.exp(-values[i] / bandwidth);
        }
        return distances;
    }

    private static Matrix distances(Matrix a, double[] normsOfA, Matrix b, double[] normsOfB) {
        Matrix products = Kernels.multiplyTranspose(a, b);
        double[] values = products.values();
        for (int i = 0; i < values.length; i++) {
            values[i] = Math.max(0.0, normsOfA[i / b.rows()] + normsOfB[i % b.rows()] - 2.0 * values[i]);
        }
        return products;
    }

    private static double[] squaredNorms(Matrix rows) {
        double[] norms = new double[rows.rows()];
        for (int i = 0; i < norms.length; i++) {
            norms[i] =
                    Kernels.dot(rows.values(), i * rows.columns(), rows.values(), i * rows.columns(), rows.columns());
        }
        return norms;
    }
}
