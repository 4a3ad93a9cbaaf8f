package io.plumbline.adaptation;

import org.apache.commons.math3.distribution.TDistribution;

/**
 * The share of the squared error that goes with a change of decoder, {@code R = sum D_g / sum B_g} over the requests g, where
 * {@code B_g} is the error of the decoder in service on the rows of a request and {@code D_g} how much of it the proposed one
 * takes away, and its 95 % interval. Since both FVUs divide by the same variance, R is also the relative improvement of the
 * FVU.
 *
 * <p><b>Whole requests are the unit:</b> rows of one request share their subject, and an interval over rows would be several
 * times too narrow. <b>Paired:</b> a request that is hard for both decoders says nothing about the difference.
 *
 * <p>Ratio estimator with its jackknife error (Cochran, Sampling Techniques, ch. 6): leaving out request g moves R by
 * {@code v_g = (D_g - R B_g) / (sum B - B_g)}, and the standard error is {@code sqrt((n-1)/n sum v_g^2)}. The interval takes
 * Student's t with {@code m - 1} degrees of freedom, {@code m = (sum B)^2 / sum B^2}: requests of unequal weight count as
 * fewer. A percentile bootstrap was not taken: of the 4 to 10 requests a window of 2,048 rows leaves to judge on, it resamples
 * too few values and is too narrow; t widens by itself (3.18 standard errors at 4 equal requests, 12.7 at 2).
 *
 * @param share R, dimensionless; negative when the proposed decoder is worse
 * @param lower of the two-sided 95 % interval; minus infinity where there is one request, or one holds all the error
 * @param upper likewise
 * @param requests n
 */
public record PairedImprovement(double share, double lower, double upper, int requests) {

    private static final double UPPER_QUANTILE = 0.975;
    /** Below this the quantile is beyond 10,000 standard errors. */
    private static final double LEAST_FREEDOM = 0.25;

    /** @param requests error before, and how much of it is taken away, of each request */
    static PairedImprovement of(double[][] requests) {
        double total = 0.0;
        double taken = 0.0;
        for (double[] request : requests) {
            total += request[0];
            taken += request[1];
        }
        double share = total > 0.0 ? taken / total : 0.0;
        int count = requests.length;
        if (count < 2) {
            return new PairedImprovement(share, Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY, count);
        }
        double moves = 0.0;
        double squares = 0.0;
        for (double[] request : requests) {
            double move = (request[1] - share * request[0]) / (total - request[0]);
            moves += move * move;
            squares += request[0] * request[0];
        }
        double freedom = total * total / squares - 1.0;
        // Nothing to lose anywhere, or all of it in one request.
        if (!(freedom >= LEAST_FREEDOM) || Double.isInfinite(freedom)) {
            return new PairedImprovement(share, Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY, count);
        }
        double error = Math.sqrt(moves * (count - 1.0) / count);
        double margin = error * new TDistribution(null, freedom).inverseCumulativeProbability(UPPER_QUANTILE);
        return new PairedImprovement(share, share - margin, share + margin, count);
    }
}
