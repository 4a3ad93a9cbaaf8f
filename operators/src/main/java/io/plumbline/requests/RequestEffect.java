package io.plumbline.requests;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampledRow;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Measures how much rows of one request resemble each other: the intraclass correlation of the rows, from the one-way
 * analysis of variance with the traces of the matrices, {@code rho = (F - 1) / (F - 1 + n0)}.
 *
 * <p>The spread that chance gives it comes from {@value #SHUFFLES} shuffles of the rows over the requests. Rows of more
 * than {@value #LONGEST} median lengths are shortened to that, so that first tokens of enormous length do not hide the
 * others. {@code O(N d)} flops a shuffle.
 *
 * @param correlation at most 1; 0 where the rows of a request are no more alike than others
 * @param chance standard deviation of the correlation where rows are dealt out at random
 */
record RequestEffect(double correlation, double chance) {

    private static final int SHUFFLES = 20;
    private static final double LONGEST = 4.0;

    /**
     * Measures rows of two requests or more; without rows to compare within a request the correlation is 0 and its
     * chance infinite.
     */
    static RequestEffect of(List<SampledRow> rows) {
        Map<Long, Integer> numbers = new LinkedHashMap<>();
        int[] requests = new int[rows.size()];
        for (int row = 0; row < requests.length; row++) {
            requests[row] = numbers.computeIfAbsent(rows.get(row).request(), unknown -> numbers.size());
        }
        int count = numbers.size();
        if (count < 2 || rows.size() <= count) {
            return new RequestEffect(0.0, Double.POSITIVE_INFINITY);
        }
        Matrix centred = centred(rows);
        double total = Arrays.stream(RowContents.squares(centred)).sum();
        double correlation = correlation(centred, total, requests, count);
        SplittableRandom random = new SplittableRandom(rows.get(0).hash());
        double squares = 0.0;
        for (int shuffle = 0; shuffle < SHUFFLES; shuffle++) {
            shuffle(requests, random);
            double found = correlation(centred, total, requests, count);
            squares += found * found;
        }
        return new RequestEffect(correlation, Math.sqrt(squares / SHUFFLES));
    }

    private static Matrix centred(List<SampledRow> rows) {
        Matrix matrix = RowContents.activations(rows);
        double[] squares = RowContents.squares(matrix);
        double[] sorted = squares.clone();
        Arrays.sort(sorted);
        double longest = LONGEST * Math.sqrt(sorted[sorted.length / 2]);
        double[] mean = new double[matrix.columns()];
        double[] values = matrix.values();
        for (int row = 0; row < matrix.rows(); row++) {
            double length = Math.sqrt(squares[row]);
            double factor = length > longest ? longest / length : 1.0;
            for (int j = 0; j < mean.length; j++) {
                values[row * mean.length + j] *= factor;
                mean[j] += values[row * mean.length + j] / matrix.rows();
            }
        }
        for (int i = 0; i < values.length; i++) {
            values[i] -= mean[i % mean.length];
        }
        return matrix;
    }

    private static double correlation(Matrix centred, double total, int[] requests, int count) {
        int width = centred.columns();
        double[] sums = new double[count * width];
        double[] sizes = new double[count];
        for (int row = 0; row < requests.length; row++) {
            Kernels.addScaled(1.0, centred.values(), row * width, sums, requests[row] * width, width);
            sizes[requests[row]]++;
        }
        double between = 0.0;
        double squaredSizes = 0.0;
        for (int request = 0; request < count; request++) {
            between += Kernels.dot(sums, request * width, sums, request * width, width) / sizes[request];
            squaredSizes += sizes[request] * sizes[request];
        }
        double within = (total - between) / (requests.length - count);
        double size = (requests.length - squaredSizes / requests.length) / (count - 1);
        double above = between / (count - 1) - within;
        double scale = above + size * within;
        return scale > 0.0 ? above / scale : 0.0;
    }

    private static void shuffle(int[] requests, SplittableRandom random) {
        for (int i = requests.length - 1; i > 0; i--) {
            int j = random.nextInt(i + 1);
            int swapped = requests[i];
            requests[i] = requests[j];
            requests[j] = swapped;
        }
    }
}
