package io.plumbline.topology.assessment;

import io.plumbline.adaptation.SampleRows;
import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampledRow;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Two decoders on the same rows, paired by request: rows of one request are like each other, and a request that is hard is
 * hard for both, so that what both have in common drops out.
 *
 * <p>Per request the sum over its rows of {@code ‖y − ŷ₁‖² − ‖y − ŷ₂‖²}; the first is worse where the mean of these is above
 * 0 by more than {@link #CRITICAL} standard errors, a one-sided t-test at 1 % with the fewest requests that are taken and a
 * stricter one with more. {@code 4 nonZeros d} flops.
 *
 * @param requests number of pairs
 * @param meanDifference mean over the requests, squared activations
 * @param standardError of that mean
 */
record PairedErrors(int requests, double meanDifference, double standardError) {

    /** Fewer say nothing. */
    static final int FEWEST_REQUESTS = 10;

    /** 99 % quantile of Student's t with 9 degrees of freedom. */
    static final double CRITICAL = 2.821;

    /** @param rows those that {@code encoded} was made of, in its order */
    static PairedErrors of(List<SampledRow> rows, SampleRows encoded, Decoder first, Decoder second) {
        Matrix errorsOfFirst = encoded.targets().minus(first.reconstruct(encoded.codes()));
        Matrix errorsOfSecond = encoded.targets().minus(second.reconstruct(encoded.codes()));
        Map<Long, Double> differences = new HashMap<>();
        for (int row = 0; row < rows.size(); row++) {
            double difference = squaredLength(errorsOfFirst, row) - squaredLength(errorsOfSecond, row);
            differences.merge(rows.get(row).request(), difference, Double::sum);
        }
        return of(differences.values().stream().mapToDouble(Double::doubleValue).toArray());
    }

    static PairedErrors of(double[] differences) {
        int count = differences.length;
        if (count < 2) {
            return new PairedErrors(count, 0.0, 0.0);
        }
        double mean = 0.0;
        for (double difference : differences) {
            mean += difference / count;
        }
        double squares = 0.0;
        for (double difference : differences) {
            squares += (difference - mean) * (difference - mean);
        }
        return new PairedErrors(count, mean, Math.sqrt(squares / (count - 1) / count));
    }

    boolean isComparable() {
        return requests >= FEWEST_REQUESTS;
    }

    boolean firstIsWorse() {
        return isComparable() && meanDifference > CRITICAL * standardError;
    }

    private static double squaredLength(Matrix matrix, int row) {
        double sum = 0.0;
        for (int j = 0; j < matrix.columns(); j++) {
            sum += matrix.get(row, j) * matrix.get(row, j);
        }
        return sum;
    }
}
