package io.plumbline.requests;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampledRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;

/** Keeps rows of enormous length, such as a first token's, from speaking for all others. */
public final class UsualRows {

    /** The number of median lengths up to which a row is usual. */
    public static final double LONGEST = 10.0;

    /** The fewest dimensions in which one is not expected to hold half of the energy. */
    private static final int FEWEST_DIMENSIONS = 32;

    private static final int STEPS = 30;

    /** How many times as long as the longest clean row a row may be that judges a decoder. */
    private static final double LONGEST_TO_JUDGE = 2.0;

    /** The share of rows above which long ones are what the traffic is like. */
    private static final double MOST_LEFT_OUT = 0.1;

    private UsualRows() {}

    /** The longest activation and the longest target of clean rows, in medians; infinite where nothing is known. */
    public record Longest(double activation, double target) {

        /** Returns those of clean rows. */
        public static Longest of(List<SampledRow> clean) {
            return new Longest(inMedians(clean, SampledRow::activation), inMedians(clean, SampledRow::targetRow));
        }

        private static double inMedians(List<SampledRow> clean, Function<SampledRow, float[]> values) {
            double[] lengths = lengths(clean, values);
            double median = median(lengths);
            return median > 0.0 ? Arrays.stream(lengths).max().orElseThrow() / median : Double.POSITIVE_INFINITY;
        }
    }

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

    /**
     * Returns the rows that judge a decoder: those at most {@value #LONGEST_TO_JUDGE} times as long, in medians, as the
     * longest clean row. Long rows of a kind that clean traffic has none of hold most of the error that a refit takes
     * away, and later traffic may have none. Where they are more than a tenth of the rows, or all of a request, every
     * row judges.
     *
     * <p>They are fitted on nevertheless: of recorded German whose first rows are 5 times as long 55 % of the error
     * goes where later rows are so too, and 39 % where the fit leaves them out.
     *
     * @param judge rows to judge on
     * @param all rows of the window
     */
    public static List<SampledRow> toJudge(List<SampledRow> judge, List<SampledRow> all, Longest clean) {
        double activation = LONGEST_TO_JUDGE * clean.activation * median(lengths(all, SampledRow::activation));
        double target = LONGEST_TO_JUDGE * clean.target * median(lengths(all, SampledRow::targetRow));
        double[] activations = lengths(judge, SampledRow::activation);
        double[] targets = lengths(judge, SampledRow::targetRow);
        // Written so that NaN, of an infinite limit and a median of 0, leaves nothing out.
        List<SampledRow> usual = IntStream.range(0, activations.length)
                .filter(row -> !(activations[row] > activation || targets[row] > target))
                .mapToObj(judge::get)
                .toList();
        return usual.size() >= (1.0 - MOST_LEFT_OUT) * judge.size() && requests(usual) == requests(judge)
                ? usual
                : judge;
    }

    private static long requests(List<SampledRow> rows) {
        return rows.stream().mapToLong(SampledRow::request).distinct().count();
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
        double median = median(lengths);
        return median > 0.0 ? LONGEST * median : Double.POSITIVE_INFINITY;
    }

    /** Returns the median; 0 of none. */
    private static double median(double[] lengths) {
        double[] sorted = lengths.clone();
        Arrays.sort(sorted);
        return sorted.length == 0 ? 0.0 : sorted[sorted.length / 2];
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
