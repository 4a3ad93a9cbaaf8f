package io.plumbline.baseline;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;

/** Sums squared errors and squared distances to the mean: the FVU of rows that come one batch at a time. */
final class ReconstructionSums {

    private double squaredError;

    /** Sums of the targets as they come, where the decoder writes others; else empty. */
    private double[] sum = {};

    private double squares;

    void add(Matrix targets, Matrix reconstruction) {
        double error = targets.minus(reconstruction).frobeniusNorm();
        squaredError += error * error;
    }

    /** Adds targets as they come, and sums their spread, which the moment does not hold. */
    void addWithSpread(Matrix targets, Matrix reconstruction) {
        add(targets, reconstruction);
        sum = sum.length == 0 ? new double[targets.columns()] : sum;
        for (int i = 0; i < targets.values().length; i++) {
            double value = targets.values()[i];
            sum[i % sum.length] += value;
            squares += value * value;
        }
    }

    void merge(ReconstructionSums other) {
        squaredError += other.squaredError;
        squares += other.squares;
        if (sum.length == 0) {
            sum = other.sum.clone();
        } else {
            for (int j = 0; j < other.sum.length; j++) {
                sum[j] += other.sum[j];
            }
        }
    }

    /**
     * Returns FVU over the rows of {@code moment}: {@code squaredError / (n (tr M - |mean|^2))}; NaN when they do not
     * vary.
     */
    double fvu(SecondMoment moment) {
        if (sum.length > 0) {
            double spread = squares;
            for (double entry : sum) {
                spread -= entry * entry / moment.rows();
            }
            return spread > 0.0 ? squaredError / spread : Double.NaN;
        }
        double squaredMean = 0.0;
        for (double entry : moment.mean()) {
            squaredMean += entry * entry;
        }
        double variance = moment.trace() - squaredMean;
        return variance > 0.0 ? squaredError / (moment.rows() * variance) : Double.NaN;
    }
}
