package io.plumbline.requests;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampledRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/** Keeps rows of enormous length, such as a first token's, from speaking for all others. */
public final class UsualRows {

    /** The number of median lengths up to which a row is usual. */
    public static final double LONGEST = 10.0;

    /** The fewest dimensions in which one is not expected to hold half of the energy. */
    private static final int FEWEST_DIMENSIONS = 32;

    private static final int STEPS = 30;

    private UsualRows() {}

    /**
     * Returns the rows whose activation and whose target are at most {@value #LONGEST} times the median length: the
     * squared error of a row 300 times as long counts as much as that of 90,000 others.
     */
    public static List<SampledRow> of(List<SampledRow> rows) {
        double[] activations = lengths(rows, SampledRow::activation);
        double[] targets = lengths(rows, SampledRow::targetRow);
        double longestActivation = longest(activations);
        double longestTarget = longest(targets);
        List<SampledRow> usual = new ArrayList<>(rows.size());
        for (int row = 0; row < activations.length; row++) {
            if (activations[row] <= longestActivation && targets[row] <= longestTarget) {
                usual.add(rows.get(row));
            }
        }
        return usual;
    }

    private static double[] lengths(List<SampledRow> rows, Function<SampledRow, float[]> values) {
        return rows.stream()
                .mapToDouble(row -> {
                    double sum = 0.0;
                    for (float value : values.apply(row)) {
                        sum += (double) value * value;
                    }
                    return Math.sqrt(sum);
                })
                .toArray();
    }

    /** Returns the largest length that is usual; any where half of the rows are 0. */
    private static double longest(double[] lengths) {
        double[] sorted = lengths.clone();
        Arrays.sort(sorted);
        double median = sorted.length == 0 ? 0.0 : sorted[sorted.length / 2];
        return median > 0.0 ? LONGEST * median : Double.POSITIVE_INFINITY;
    }

    /**
     * Returns the share of the first eigenvalue in the energy of the targets about their mean, a lower bound by
     * {@value #STEPS} steps of the power method; 0 in fewer than {@value #FEWEST_DIMENSIONS} dimensions. {@code 4 N d}
     * flops a step.
     *
     * <p><b>About the mean,</b> since the bias of every refit and the variance in FVU are: a large mean, which holds
     * most of the uncentred energy of many layers, is harmless. On the recordings of the tests the first eigenvalue
     * holds .06 to .09 of the centred and .09 to .26 of the uncentred energy.
     */
    static double leadingShare(List<SampledRow> rows) {
        if (rows.isEmpty() || rows.get(0).targetRow().length < FEWEST_DIMENSIONS) {
            return 0.0;
        }
        Matrix centred = centred(rows);
        int width = centred.columns();
        double[] values = centred.values();
        double[] squares = RowContents.squares(centred);
        double energy = Arrays.stream(squares).sum();
        if (!(energy > 0.0)) {
            return 0.0;
        }
        int longest = 0;
        for (int row = 1; row < squares.length; row++) {
            longest = squares[row] > squares[longest] ? row : longest;
        }
        double[] direction = Arrays.copyOfRange(values, longest * width, (longest + 1) * width);
        double leading = 0.0;
        for (int step = 0; step < STEPS; step++) {
            double length = Math.sqrt(Kernels.dot(direction, 0, direction, 0, width));
            double[] next = new double[width];
            leading = 0.0;
            for (int row = 0; row < squares.length; row++) {
                double along = Kernels.dot(values, row * width, direction, 0, width) / length;
                leading += along * along;
                Kernels.addScaled(along, values, row * width, next, 0, width);
            }
            direction = next;
        }
        return leading / energy;
    }

    private static Matrix centred(List<SampledRow> rows) {
        int width = rows.get(0).targetRow().length;
        Matrix matrix = Matrix.zeros(rows.size(), width);
        double[] values = matrix.values();
        double[] mean = new double[width];
        for (int row = 0; row < rows.size(); row++) {
            float[] target = rows.get(row).targetRow();
            for (int j = 0; j < width; j++) {
                values[row * width + j] = target[j];
                mean[j] += target[j] / rows.size();
            }
        }
        for (int i = 0; i < values.length; i++) {
            values[i] -= mean[i % width];
        }
        return matrix;
    }
}
