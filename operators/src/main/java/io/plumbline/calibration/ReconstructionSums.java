package io.plumbline.calibration;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;

/** Squared errors against squared distances to the mean: the FVU of rows that come one batch at a time. */
final class ReconstructionSums {

    private double squaredError;

    void add(Matrix targets, Matrix reconstruction) {
        double error = targets.minus(reconstruction).frobeniusNorm();
        squaredError += error * error;
    }

    void merge(ReconstructionSums other) {
        squaredError += other.squaredError;
    }

    /** Over the rows of {@code moment}: {@code squaredError / (n (tr M - |mean|^2))}; NaN when they do not vary. */
    double fvu(SecondMoment moment) {
        double squaredMean = 0.0;
        for (double entry : moment.mean()) {
            squaredMean += entry * entry;
        }
        double variance = moment.trace() - squaredMean;
        return variance > 0.0 ? squaredError / (moment.rows() * variance) : Double.NaN;
    }
}
