package io.plumbline.detection;

import io.plumbline.linalg.Cholesky;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.SymmetricEigen;
import io.plumbline.moments.SecondMoment;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Computes what others use for the same question, fitted on rows of clean traffic. Larger speaks for drift; levels come
 * from clean windows, as those of Plumbline's statistics do.
 *
 * <ul>
 *   <li>{@code hotelling}: T^2 of the window's mean (Hotelling 1931), in the leading {@value #COMPONENTS} principal
 * components.
 *   <li>{@code pca_error}: share of the window's spread about the clean mean outside these components.
 *   <li>{@code psi}: population stability index, ten bins of equal clean share, summed over the leading 32 components.
 *   <li>{@code classifier}: two-sample test by a classifier (Lopez-Paz and Oquab 2017): linear discriminant in these
 * components, area under the curve on the half of requests it was not fitted on.
 *   <li>{@code online_covariance}: exponentially weighted covariance, weight 0.25 a window, of the whitened leading 32
 * components; Frobenius distance from the identity. Windows must come in order; {@link #restart} begins another stream.
 *   <li>{@code mmd}: see {@link MeanDiscrepancy}; 512 rows against 320.
 * </ul>
 */
final class Peers {

    static final List<String> NAMES =
            List.of("mmd", "classifier", "pca_error", "psi", "hotelling", "online_covariance");

    private static final int COMPONENTS = 64;
    private static final int BINNED = 32;
    private static final int BINS = 10;
    private static final int REFERENCE_ROWS = 320;
    private static final int TESTED_ROWS = 512;
    private static final double MEMORY = 0.75;
    private static final double RIDGE = 1e-2;

    private final double[] mean;
    private final Matrix basis;
    private final double[] deviations;
    private final double[][] edges;
    private final Matrix reference;
    private final MeanDiscrepancy discrepancy;
    private Matrix online;

    Peers(Matrix clean) {
        SecondMoment moment = SecondMoment.of(clean);
        mean = moment.mean();
        SymmetricEigen eigen = SymmetricEigen.of(moment.covariance());
        int d = mean.length;
        int components = Math.min(COMPONENTS, d / 2);
        basis = Matrix.zeros(d, components);
        deviations = new double[components];
        for (int c = 0; c < components; c++) {
            deviations[c] = Math.sqrt(eigen.values()[c]);
            for (int a = 0; a < d; a++) {
                basis.set(a, c, eigen.vectors().get(a, c) / deviations[c]);
            }
        }
        reference = components(clean);
        edges = new double[Math.min(BINNED, components)][BINS - 1];
        for (int c = 0; c < edges.length; c++) {
            double[] values = column(reference, c);
            Arrays.sort(values);
            for (int bin = 1; bin < BINS; bin++) {
                edges[c][bin - 1] = values[bin * values.length / BINS];
            }
        }
        int[] ofNoWindow = new int[Math.min(REFERENCE_ROWS, clean.rows())];
        Arrays.fill(ofNoWindow, -2);
        discrepancy = new MeanDiscrepancy(spread(clean, ofNoWindow.length), ofNoWindow);
        online = Matrix.identity(edges.length);
    }

    /** Forgets the windows before. */
    void restart() {
        online = Matrix.identity(edges.length);
    }

    /** @param requestRows rows of each request, which lie together */
    Map<String, Double> scores(Matrix window, int requestRows) {
        Matrix rows = components(window);
        Map<String, Double> scores = new LinkedHashMap<>();
        scores.put("mmd", discrepancy.of(spread(window, Math.min(TESTED_ROWS, window.rows())), -1));
        scores.put("classifier", classifier(rows, requestRows));
        scores.put("pca_error", error(window, rows));
        scores.put("psi", stability(rows));
        scores.put("hotelling", hotelling(rows));
        scores.put("online_covariance", online(rows));
        return scores;
    }

    /** Returns components in units of their clean standard deviations. */
    private Matrix components(Matrix rows) {
        Matrix centred = rows.copy();
        for (int at = 0; at < centred.values().length; at++) {
            centred.values()[at] -= mean[at % mean.length];
        }
        return Kernels.multiply(centred, basis);
    }

    private static double hotelling(Matrix rows) {
        double sum = 0.0;
        for (double value : SecondMoment.of(rows).mean()) {
            sum += value * value;
        }
        return sum * rows.rows();
    }

    private double error(Matrix window, Matrix rows) {
        double all = 0.0;
        for (int at = 0; at < window.values().length; at++) {
            double distance = window.values()[at] - mean[at % mean.length];
            all += distance * distance;
        }
        double inside = 0.0;
        for (int at = 0; at < rows.values().length; at++) {
            double value = rows.values()[at] * deviations[at % deviations.length];
            inside += value * value;
        }
        return 1.0 - inside / all;
    }

    private double stability(Matrix rows) {
        double index = 0.0;
        for (int c = 0; c < edges.length; c++) {
            double[] counts = new double[BINS];
            for (double value : column(rows, c)) {
                int bin = Arrays.binarySearch(edges[c], value);
                counts[bin < 0 ? -bin - 1 : bin]++;
            }
            for (double count : counts) {
                double share = (count + 0.5) / (rows.rows() + 0.5 * BINS);
                index += (share - 1.0 / BINS) * Math.log(share * BINS);
            }
        }
        return index;
    }

    private double online(Matrix rows) {
        Matrix leading = rows.leadingColumns(edges.length);
        Matrix second = Kernels.transposeMultiply(leading, leading);
        double sum = 0.0;
        for (int at = 0; at < second.values().length; at++) {
            double now = MEMORY * online.values()[at] + (1.0 - MEMORY) * second.values()[at] / rows.rows();
            online.values()[at] = now;
            double off = now - (at / edges.length == at % edges.length ? 1.0 : 0.0);
            sum += off * off;
        }
        return Math.sqrt(sum);
    }

    private double classifier(Matrix rows, int requestRows) {
        Matrix clean = spread(reference, Math.min(reference.rows(), rows.rows()));
        double sum = 0.0;
        for (int fold = 0; fold < 2; fold++) {
            Matrix fitted = half(rows, requestRows, fold);
            Matrix judged = half(rows, requestRows, 1 - fold);
            double[] direction = discriminant(half(clean, 1, fold), fitted);
            sum += Scores.auc(along(half(clean, 1, 1 - fold), direction), along(judged, direction)) / 2.0;
        }
        return sum;
    }

    private static double[] discriminant(Matrix clean, Matrix window) {
        SecondMoment one = SecondMoment.of(clean);
        SecondMoment two = SecondMoment.of(window);
        Matrix pooled = one.covariance().plus(1.0, two.covariance());
        int c = pooled.rows();
        double ridge = RIDGE * pooled.trace() / c;
        double[] difference = new double[c];
        for (int a = 0; a < c; a++) {
            pooled.set(a, a, pooled.get(a, a) + ridge);
            difference[a] = two.mean()[a] - one.mean()[a];
        }
        return Cholesky.of(pooled).solve(new Matrix(c, 1, difference)).values();
    }

    private static double[] along(Matrix rows, double[] direction) {
        return Kernels.multiply(rows, new Matrix(direction.length, 1, direction))
                .values();
    }

    private static Matrix half(Matrix rows, int requestRows, int which) {
        int[] chosen = IntStream.range(0, rows.rows())
                .filter(row -> row / requestRows % 2 == which)
                .toArray();
        return select(rows, chosen);
    }

    private static Matrix spread(Matrix rows, int count) {
        return select(
                rows,
                IntStream.range(0, count)
                        .map(i -> (int) ((long) i * rows.rows() / count))
                        .toArray());
    }

    private static Matrix select(Matrix rows, int[] chosen) {
        Matrix selected = Matrix.zeros(chosen.length, rows.columns());
        for (int i = 0; i < chosen.length; i++) {
            System.arraycopy(
                    rows.values(), chosen[i] * rows.columns(), selected.values(), i * rows.columns(), rows.columns());
        }
        return selected;
    }

    private static double[] column(Matrix rows, int c) {
        double[] column = new double[rows.rows()];
        for (int i = 0; i < column.length; i++) {
            column[i] = rows.get(i, c);
        }
        return column;
    }
}
