package io.plumbline.benchmarks.study;

import io.plumbline.linalg.Cholesky;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.SymmetricEigen;
import io.plumbline.moments.SecondMoment;
import io.plumbline.records.ActivationBatch;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * Computes what others use for the same question, fitted on rows of clean traffic. Larger speaks for drift.
 *
 * <ul>
 *   <li>{@code MMD}: squared maximum mean discrepancy between the window's rows and {@value #REFERENCE_ROWS} clean ones
 *       (Gretton et al., A kernel two-sample test, JMLR 13, 2012, the unbiased estimate of lemma 6), with the kernel
 *       {@code exp(-|x - y|^2 / median)}, the median of the squared distances between clean rows.
 *   <li>{@code PSI}: population stability index, {@code sum (p - q) ln(p / q)} over ten bins of equal clean share,
 *       summed over the leading principal components; half a row is added to each of the window's bins.
 *   <li>{@code PCA error}: mean squared distance of the rows, centred by the clean mean, from the leading components.
 *   <li>{@code PCA share}: the same in units of the rows' mean squared distance from the clean mean.
 *   <li>{@code Hotelling}: {@code T^2 = n m^T S^-1 m} (Hotelling 1931) of the window's mean m from the clean one, with
 *       the clean covariance S.
 *   <li>{@code classifier}: two-sample test by a classifier (Lopez-Paz and Oquab 2017): logistic regression in the
 *       leading components with a penalty of {@code |w|^2 / 2}, against {@value #CLASSIFIED_ROWS} clean rows; area
 *       under the curve on the rows that it was not fitted on, mean of two folds.
 * </ul>
 *
 * <p>A request's part of all but the classifier is computed once, kernel sums between requests when first asked for; a
 * window costs a few sums. Any number of threads.
 */
final class Rivals {

    static final List<String> NAMES = List.of("MMD", "PSI", "PCA error", "PCA share", "Hotelling", "classifier");

    /** The number that of 4 to 192 served the rivals best on the recordings of the study. */
    private static final int BEST_COMPONENTS = 8;

    private static final int BINS = 10;
    private static final int REFERENCE_ROWS = 1_024;
    private static final int CLASSIFIED_ROWS = 2_048;
    private static final int FOLDS = 2;
    private static final int NEWTON_STEPS = 20;
    private static final double CONVERGED = 1e-6;

    /** The share of the largest variance below which a direction has none but rounding. */
    private static final double ROUNDING = 1e-12;

    private final double[] mean;

    /** All principal directions, each divided by its clean standard deviation: d x d at most. */
    private final Matrix whitening;

    private final Matrix basis;
    private final double[] variances;
    private final double[][] edges;
    private final Matrix reference;
    private final double[] referenceNorms;
    private final double bandwidth;
    private final double ownKernel;
    private final Matrix referenceComponents;

    /** The part of one request in every window that has it. */
    static final class Request {

        private final Matrix rows;
        private final double[] norms;
        private final double[] whitenedSum;
        private final Matrix components;
        private final double spread;
        private final double error;
        private final int[][] counts;
        private final double acrossKernel;
        private final Map<Request, Double> kernels = new ConcurrentHashMap<>();

        private Request(Rivals rivals, Matrix rows) {
            this.rows = rows;
            norms = squaredNorms(rows);
            Matrix centred = rivals.centred(rows);
            Matrix ones = new Matrix(
                    rows.rows(),
                    1,
                    DoubleStream.generate(() -> 1.0).limit(rows.rows()).toArray());
            whitenedSum = Kernels.multiply(Kernels.transposeMultiply(ones, centred), rivals.whitening)
                    .values();
            components = Kernels.multiply(centred, rivals.basis);
            spread = Arrays.stream(centred.values()).map(value -> value * value).sum();
            error = spread - rivals.inside(components);
            counts = rivals.counts(components);
            acrossKernel = rivals.kernelSum(rows, norms, rivals.reference, rivals.referenceNorms);
        }

        /** Returns the leading principal components of the rows, each in units of its clean standard deviation. */
        Matrix components() {
            return components;
        }
    }

    /**
     * Fits all of them.
     *
     * @param clean rows, n x d
     * @param components that PSI, PCA error and the classifier look at; fewer than d
     */
    Rivals(Matrix clean, int components) {
        SecondMoment moment = SecondMoment.of(clean);
        mean = moment.mean();
        SymmetricEigen eigen = SymmetricEigen.of(moment.covariance());
        double least = ROUNDING * eigen.values()[0];
        variances =
                Arrays.stream(eigen.values()).takeWhile(value -> value > least).toArray();
        whitening = eigen.vectors().leadingColumns(variances.length);
        for (int at = 0; at < whitening.values().length; at++) {
            whitening.values()[at] /= Math.sqrt(variances[at % variances.length]);
        }
        basis = whitening.leadingColumns(components);
        Matrix all = Kernels.multiply(centred(clean), basis);
        edges = new double[components][BINS - 1];
        for (int c = 0; c < components; c++) {
            double[] values = new double[all.rows()];
            for (int row = 0; row < values.length; row++) {
                values[row] = all.get(row, c);
            }
            Arrays.sort(values);
            for (int bin = 1; bin < BINS; bin++) {
                edges[c][bin - 1] = values[bin * values.length / BINS];
            }
        }
        reference = spread(clean, REFERENCE_ROWS);
        referenceNorms = squaredNorms(reference);
        Matrix distances = squaredDistances(reference, referenceNorms, reference, referenceNorms);
        double[] sorted = distances.values().clone();
        Arrays.sort(sorted);
        int m = reference.rows();
        // The first m are the distances of rows from themselves.
        bandwidth = sorted[(sorted.length + m) / 2];
        ownKernel = (kernelSum(distances) - m) / ((double) m * (m - 1));
        referenceComponents = spread(all, CLASSIFIED_ROWS);
    }

    /**
     * Returns rivals that look at {@value #BEST_COMPONENTS} components.
     *
     * @param requests clean ones
     */
    static Rivals of(List<ActivationBatch> requests) {
        return new Rivals(
                stack(requests.stream().map(ActivationBatch::targetRows).toList()), BEST_COMPONENTS);
    }

    Request request(Matrix rows) {
        return new Request(this, rows);
    }

    /** Returns the scores of a window of these requests, in the order of {@link #NAMES}. */
    double[] scores(List<Request> window) {
        double error = sum(window, request -> request.error);
        return new double[] {
            discrepancy(window),
            stability(window),
            error / rows(window),
            error / sum(window, request -> request.spread),
            hotelling(window),
            classifier(window)
        };
    }

    private static int rows(List<Request> window) {
        return window.stream().mapToInt(request -> request.rows.rows()).sum();
    }

    private double discrepancy(List<Request> window) {
        double n = rows(window);
        double within = -n;
        double across = 0.0;
        for (int i = 0; i < window.size(); i++) {
            Request one = window.get(i);
            across += one.acrossKernel;
            for (Request other : window.subList(0, i)) {
                within += 2.0 * kernelSum(one, other);
            }
            within += kernelSum(one, one);
        }
        return within / (n * (n - 1.0)) + ownKernel - 2.0 * across / (n * reference.rows());
    }

    private double kernelSum(Request one, Request other) {
        Double known = other.kernels.get(one);
        return known != null
                ? known
                : one.kernels.computeIfAbsent(other, unused -> kernelSum(one.rows, one.norms, other.rows, other.norms));
    }

    private double kernelSum(Matrix a, double[] normsOfA, Matrix b, double[] normsOfB) {
        return kernelSum(squaredDistances(a, normsOfA, b, normsOfB));
    }

    private double kernelSum(Matrix squaredDistances) {
        double sum = 0.0;
        for (double distance : squaredDistances.values()) {
            sum += Math.exp(-distance / bandwidth);
        }
        return sum;
    }

    private static Matrix squaredDistances(Matrix a, double[] normsOfA, Matrix b, double[] normsOfB) {
        Matrix products = Kernels.multiplyTranspose(a, b);
        double[] values = products.values();
        for (int i = 0, at = 0; i < a.rows(); i++) {
            for (int j = 0; j < b.rows(); j++, at++) {
                values[at] = Math.max(0.0, normsOfA[i] + normsOfB[j] - 2.0 * values[at]);
            }
        }
        return products;
    }

    private static double[] squaredNorms(Matrix rows) {
        int d = rows.columns();
        return IntStream.range(0, rows.rows())
                .mapToDouble(row -> Kernels.dot(rows.values(), row * d, rows.values(), row * d, d))
                .toArray();
    }

    private double stability(List<Request> window) {
        int n = rows(window);
        double index = 0.0;
        for (int c = 0; c < edges.length; c++) {
            for (int bin = 0; bin < BINS; bin++) {
                double count = 0.5;
                for (Request request : window) {
                    count += request.counts[c][bin];
                }
                double share = count / (n + 0.5 * BINS);
                index += (share - 1.0 / BINS) * Math.log(share * BINS);
            }
        }
        return index;
    }

    private int[][] counts(Matrix components) {
        int[][] counts = new int[edges.length][BINS];
        for (int row = 0; row < components.rows(); row++) {
            for (int c = 0; c < edges.length; c++) {
                int bin = Arrays.binarySearch(edges[c], components.get(row, c));
                counts[c][bin < 0 ? -bin - 1 : bin + 1]++;
            }
        }
        return counts;
    }

    private static double sum(List<Request> window, ToDoubleFunction<Request> part) {
        return window.stream().mapToDouble(part).sum();
    }

    /** Returns the sum of squared lengths in the components. */
    private double inside(Matrix components) {
        double inside = 0.0;
        for (int at = 0; at < components.values().length; at++) {
            inside += components.values()[at] * components.values()[at] * variances[at % components.columns()];
        }
        return inside;
    }

    private static double hotelling(List<Request> window) {
        double squares = 0.0;
        for (int c = 0; c < window.get(0).whitenedSum.length; c++) {
            double sum = 0.0;
            for (Request request : window) {
                sum += request.whitenedSum[c];
            }
            squares += sum * sum;
        }
        return squares / rows(window);
    }

    private Matrix centred(Matrix rows) {
        Matrix centred = rows.copy();
        for (int at = 0; at < centred.values().length; at++) {
            centred.values()[at] -= mean[at % mean.length];
        }
        return centred;
    }

    private double classifier(List<Request> window) {
        Matrix rows = stack(window.stream().map(Request::components).toList());
        double sum = 0.0;
        for (int fold = 0; fold < FOLDS; fold++) {
            double[] weights = logistic(fold(referenceComponents, 1 - fold), fold(rows, 1 - fold));
            sum += areaUnderCurve(along(fold(referenceComponents, fold), weights), along(fold(rows, fold), weights));
        }
        return sum / FOLDS;
    }

    private static Matrix fold(Matrix rows, int fold) {
        return select(
                rows,
                IntStream.range(0, rows.rows())
                        .filter(row -> row % FOLDS == fold)
                        .toArray());
    }

    /**
     * Returns the weights of a logistic regression that tells the window's rows from clean ones, the constant's last:
     * the minimum of the log loss plus {@code |w|^2 / 2}, by Newton's steps.
     */
    static double[] logistic(Matrix clean, Matrix window) {
        Matrix all = stack(List.of(clean, window));
        int p = all.columns() + 1;
        Matrix rows = Matrix.zeros(all.rows(), p);
        for (int row = 0; row < all.rows(); row++) {
            System.arraycopy(all.values(), row * (p - 1), rows.values(), row * p, p - 1);
            rows.set(row, p - 1, 1.0);
        }
        double[] weights = new double[p];
        for (int step = 0; step < NEWTON_STEPS; step++) {
            double[] heights = Kernels.multiply(rows, new Matrix(p, 1, weights)).values();
            Matrix scaled = rows.copy();
            Matrix descent = new Matrix(
                    p, 1, Arrays.stream(weights).map(weight -> -weight).toArray());
            for (int row = 0; row < heights.length; row++) {
                double chance = 1.0 / (1.0 + Math.exp(-heights[row]));
                double error = (row < clean.rows() ? 0.0 : 1.0) - chance;
                for (int a = 0; a < p; a++) {
                    descent.values()[a] += error * rows.get(row, a);
                    scaled.values()[row * p + a] *= Math.sqrt(chance * (1.0 - chance));
                }
            }
            Matrix curvature = Kernels.transposeMultiply(scaled, scaled).plus(1.0, Matrix.identity(p));
            double[] change = Cholesky.of(curvature).solve(descent).values();
            Arrays.setAll(weights, a -> weights[a] + change[a]);
            if (Arrays.stream(change).allMatch(one -> Math.abs(one) < CONVERGED)) {
                break;
            }
        }
        return weights;
    }

    private static double[] along(Matrix rows, double[] weights) {
        Matrix direction = new Matrix(rows.columns(), 1, Arrays.copyOf(weights, rows.columns()));
        return Kernels.multiply(rows, direction).values();
    }

    /** Returns the chance that one of the high values is above one of the low ones, ties counting half. */
    static double areaUnderCurve(double[] low, double[] high) {
        double[] sorted = low.clone();
        Arrays.sort(sorted);
        double above = 0.0;
        for (double value : high) {
            above += (below(sorted, value) + below(sorted, Math.nextUp(value))) / 2.0;
        }
        return above / ((double) low.length * high.length);
    }

    /** Returns how many of these values are smaller. */
    private static int below(double[] ascending, double value) {
        int from = 0;
        int to = ascending.length;
        while (from < to) {
            int middle = (from + to) / 2;
            if (ascending[middle] < value) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        return from;
    }

    static Matrix stack(List<Matrix> parts) {
        int columns = parts.get(0).columns();
        Matrix all = Matrix.zeros(parts.stream().mapToInt(Matrix::rows).sum(), columns);
        int at = 0;
        for (Matrix part : parts) {
            System.arraycopy(part.values(), 0, all.values(), at, part.values().length);
            at += part.values().length;
        }
        return all;
    }

    /** Returns at most so many rows, at even distances. */
    private static Matrix spread(Matrix rows, int most) {
        int count = Math.min(most, rows.rows());
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
}
