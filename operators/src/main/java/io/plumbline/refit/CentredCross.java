package io.plumbline.refit;

import io.plumbline.explainer.CodesByFeature;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.parallel.Cores;
import java.util.Arrays;

/**
 * Represents {@code (Z_p - 1 m^T) Zc^T}, n x N, of rows p with those fitted on, whose mean m is taken out of both:
 * never made, only its products.
 *
 * <p>{@code Zc^T X} is made feature by feature and given to the rows where that feature is active before the next one:
 * no matrix of as many rows as there are features. <b>Cost:</b> {@code 2 (nonZeros of either) m} flops for m columns,
 * where the whole matrix would take {@code 2 n N m}: 27 times as many at TopK 32, 1,536 rows and 2,048 fitted on. They
 * run at the speed of a second-level cache, and in plain loops. Columns are shared out among the cores; every sum goes
 * through features in ascending order, whoever makes it.
 */
final class CentredCross {

    /** Columns that are worked on together, so that those of all rows stay near. */
    private static final int WIDTH = 96;

    private final int rows;
    private final int fitted;
    private final CodesByFeature byFeature;
    private final CodesByFeature fittedByFeature;
    /** {@code Z_p m}. */
    private final double[] rowMeans;
    /** {@code Z m}. */
    private final double[] fittedMeans;

    private final double overall;

    CentredCross(SparseCodes rows, SparseCodes fitted) {
        this.rows = rows.rows();
        this.fitted = fitted.rows();
        this.byFeature = CodesByFeature.of(rows);
        this.fittedByFeature = CodesByFeature.of(fitted);
        double[] mean = fitted.mean();
        this.rowMeans = SparseProducts.dots(rows, mean);
        this.fittedMeans = SparseProducts.dots(fitted, mean);
        this.overall = Kernels.dot(mean, 0, mean, 0, mean.length);
    }

    /** Returns the product with X of N x m, n x m. */
    Matrix times(Matrix x) {
        if (x.rows() != fitted) {
            throw new IllegalArgumentException("a factor of %d rows: expected %d".formatted(x.rows(), fitted));
        }
        int columns = x.columns();
        Matrix product = Matrix.zeros(rows, columns);
        Cores.each((columns + WIDTH - 1) / WIDTH, part -> {
            int from = part * WIDTH;
            int width = Math.min(WIDTH, columns - from);
            double[][] sums = products(stretches(x, from, width), width);
            for (int i = 0; i < rows; i++) {
                System.arraycopy(sums[i], 0, product.values(), i * columns + from, width);
            }
        });
        return product;
    }

    private double[][] products(double[][] x, int width) {
        // 1^T X, and (|m|^2 1 - Z m)^T X, which every row gets.
        double[] total = new double[width];
        double[] common = new double[width];
        for (int i = 0; i < fitted; i++) {
            add(total, 1.0, x[i]);
            add(common, overall - fittedMeans[i], x[i]);
        }
        double[][] sums = new double[rows][];
        for (int i = 0; i < rows; i++) {
            sums[i] = common.clone();
            add(sums[i], -rowMeans[i], total);
        }
        double[] learnt = new double[width];
        for (int feature = 0; feature + 1 < byFeature.start().length; feature++) {
            int first = byFeature.start()[feature];
            int last = byFeature.start()[feature + 1];
            int end = fittedByFeature.start()[feature + 1];
            if (first == last || fittedByFeature.start()[feature] == end) {
                continue;
            }
            Arrays.fill(learnt, 0.0);
            for (int entry = fittedByFeature.start()[feature]; entry < end; entry++) {
                add(learnt, fittedByFeature.value()[entry], x[fittedByFeature.row()[entry]]);
            }
            for (int entry = first; entry < last; entry++) {
                add(sums[byFeature.row()[entry]], byFeature.value()[entry], learnt);
            }
        }
        return sums;
    }

    /** Adds arrays that are read at one index: the form of this loop that the JVM turns into vector instructions. */
    private static void add(double[] sum, double factor, double[] x) {
        for (int j = 0; j < sum.length; j++) {
            sum[j] += factor * x[j];
        }
    }

    private static double[][] stretches(Matrix matrix, int from, int width) {
        double[][] rows = new double[matrix.rows()][width];
        for (int i = 0; i < rows.length; i++) {
            System.arraycopy(matrix.values(), i * matrix.columns() + from, rows[i], 0, width);
        }
        return rows;
    }
}
