package io.plumbline.baseline;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import io.plumbline.moments.SecondMomentAccumulator;
import org.jspecify.annotations.Nullable;

/**
 * Sums what a {@link Grouping} is made of, in one pass: since {@code |s - n m|^2 = |s|^2 - 2 n <s, m> + n^2 |m|^2}, the
 * sum over requests needs the mean m only at the end. <b>Size:</b> {@code 4 d(d+3)} bytes.
 */
final class GroupingSums {

    private final int dimension;
    private final double[] weighted;
    private long requests;
    private double squaredRows;
    private double squaredSums;
    private double squaredMoments;
    private double squaredLengths;
    private double fourthLengths;

    GroupingSums(int dimension) {
        this.dimension = dimension;
        this.weighted = SecondMomentAccumulator.ofDimension(dimension).state().clone();
    }

    /** Adds one request: its rows, and what they sum up to. */
    void add(Matrix rows, SecondMomentAccumulator sums) {
        double[] state = sums.state();
        double count = rows.rows();
        requests++;
        squaredRows += count * count;
        squaredSums += squaredMean(state, 1.0);
        squaredMoments += squaredMoment(state, 1.0);
        for (int i = 0; i < state.length; i++) {
            weighted[i] += count * state[i];
        }
        double[] values = rows.values();
        for (int row = 0; row < rows.rows(); row++) {
            double squared = 0.0;
            for (int j = 0; j < dimension; j++) {
                double value = values[row * dimension + j];
                squared += value * value;
            }
            squaredLengths += squared;
            fourthLengths += squared * squared;
        }
    }

    /** Returns the grouping; null where there is one request only, or rows that do not vary. */
    @Nullable
    Grouping of(SecondMoment whole) {
        double rows = whole.rows();
        double[] state = whole.state();
        double correction = requests / (requests - 1.0) * (rows - 1.0) / rows;
        double mean = squaredMean(state, 1.0 / rows);
        double moment = squaredMoment(state, 1.0 / rows);
        double meanVariance = squaredLengths - rows * mean;
        double momentVariance = fourthLengths - rows * moment;
        if (requests < 2 || !(meanVariance > 0.0) || !(momentVariance > 0.0)) {
            return null;
        }
        double meanBetween = squaredSums - 2.0 * meanProduct(state) / rows + squaredRows * mean;
        double momentBetween = squaredMoments - 2.0 * momentProduct(state) / rows + squaredRows * moment;
        return new Grouping(
                requests,
                correction * Math.max(momentBetween, 0.0) / momentVariance,
                correction * Math.max(meanBetween, 0.0) / meanVariance);
    }

    private double squaredMean(double[] state, double scale) {
        double sum = 0.0;
        for (int i = 0; i < dimension; i++) {
            sum += state[i] * state[i];
        }
        return scale * scale * sum;
    }

    private double meanProduct(double[] state) {
        double sum = 0.0;
        for (int i = 0; i < dimension; i++) {
            sum += state[i] * weighted[i];
        }
        return sum;
    }

    private double squaredMoment(double[] state, double scale) {
        return scale * scale * triangle(state, state);
    }

    private double momentProduct(double[] state) {
        return triangle(state, weighted);
    }

    /** Returns the inner product of two symmetric matrices, from the triangles behind the sums of rows. */
    private double triangle(double[] one, double[] other) {
        double sum = 0.0;
        int next = dimension;
        for (int i = 0; i < dimension; i++) {
            for (int j = 0; j < i; j++) {
                sum += 2.0 * one[next] * other[next];
                next++;
            }
            sum += one[next] * other[next];
            next++;
        }
        return sum;
    }
}
