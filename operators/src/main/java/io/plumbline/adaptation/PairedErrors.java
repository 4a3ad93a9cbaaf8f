package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.refit.SampleRows;
import java.util.stream.Stream;

/**
 * Two decoders on the same rows, paired by request: rows of one request are like each other, and a request that is hard
 * is hard for both, so that what both have in common drops out.
 *
 * <p>Per request the sum over its rows of {@code ‖y − ŷ₁‖² − ‖y − ŷ₂‖²}; the first is worse where the mean of these is
 * above 0 by more than {@link #CRITICAL} standard errors, a one-sided t-test at 1 % with the fewest requests that are
 * taken and a stricter one with more.
 *
 * @param requests number of pairs
 * @param meanDifference mean over the requests, squared activations
 * @param standardError of that mean
 */
public record PairedErrors(int requests, double meanDifference, double standardError) {

    /** The fewest requests that can be judged. */
    public static final int FEWEST_REQUESTS = 10;

    /** The 99 % quantile of Student's t with 9 degrees of freedom. */
    static final double CRITICAL = 2.821;

    /** Returns the errors of both decoders on the requests of these rows. */
    public static PairedErrors of(SampleRows rows, Decoder first, Decoder second) {
        return of(Stream.of(RequestErrors.of(first, second, rows))
                .mapToDouble(sums -> sums[1])
                .toArray());
    }

    /** Returns what {@link #of(SampleRows, Decoder, Decoder)} does, given what the two decoders gave for the rows. */
    public static PairedErrors of(SampleRows rows, Matrix first, Matrix second) {
        return of(Stream.of(RequestErrors.of(first, second, rows))
                .mapToDouble(sums -> sums[1])
                .toArray());
    }

    /** @param differences one of each request */
    public static PairedErrors of(double[] differences) {
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

    public boolean isComparable() {
        return requests >= FEWEST_REQUESTS;
    }

    public boolean firstIsWorse() {
        return isComparable() && meanDifference > CRITICAL * standardError;
    }

    public boolean secondIsWorse() {
        return isComparable() && -meanDifference > CRITICAL * standardError;
    }
}
