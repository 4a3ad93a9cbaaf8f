package io.plumbline.features;

import org.apache.commons.math3.special.Beta;
import org.apache.commons.math3.util.ContinuedFraction;

/**
 * Holds the natural logarithms of both tails of a beta distribution: {@code log I_x(a, b)} and
 * {@code log I_{1-x}(b, a)}.
 *
 * <p>The tail on x's side of the mean comes from Lentz's continued fraction (Press et al., Numerical Recipes, 6.4), as
 * in {@link Beta#regularizedBeta}, without the last exponential. {@code 1 - I_x(a, b)} is the same number on paper: it
 * is 0 from eight standard deviations on, so that all sure changes look equally sure. Even the tail itself is below the
 * smallest double from 38 standard deviations on; its logarithm never is.
 *
 * @param below {@code log I_x(a, b)}, at most 0
 * @param above {@code log(1 - I_x(a, b))}, at most 0
 */
record BetaTails(double below, double above) {

    private static final double RELATIVE_ERROR = 1e-14;

    /**
     * Returns both tails at x.
     *
     * @param x in (0, 1)
     * @param a more than 0
     * @param b more than 0
     */
    static BetaTails at(double x, double a, double b) {
        if (x > (a + 1.0) / (a + b + 2.0)) {
            return at(1.0 - x, b, a).exchanged();
        }
        double below = logLowerTail(x, a, b);
        return new BetaTails(below, Math.log1p(-Math.exp(below)));
    }

    /** Returns the tails of {@code 1 - x}. */
    BetaTails exchanged() {
        return new BetaTails(/* below= */ above, /* above= */ below);
    }

    private static double logLowerTail(double x, double a, double b) {
        ContinuedFraction fraction = new ContinuedFraction() {
            @Override
            protected double getA(int n, double x) {
                return 1.0;
            }

            @Override
            protected double getB(int n, double x) {
                int m = n / 2;
                return n % 2 == 0
                        ? m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
                        : -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
            }
        };
        return a * Math.log(x)
                + b * Math.log1p(-x)
                - Math.log(a)
                - Beta.logBeta(a, b)
                - Math.log(fraction.evaluate(x, RELATIVE_ERROR));
    }
}
