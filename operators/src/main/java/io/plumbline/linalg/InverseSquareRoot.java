package io.plumbline.linalg;

/**
 * Approximates {@code x^(-1/2)} on {@code [b^2, 1]} by a sum of simple fractions, {@code Σ weight_j / (x + shift_j)}:
 * what makes the inverse root of a matrix of solves.
 *
 * <p>The trapezoidal rule for {@code 2/π ∫ dt / (t^2 + x)} in the coordinate u of {@code t = b sc(u | 1 - b^2)},
 * Jacobi's elliptic functions (Hale, Higham, Trefethen, doi:10.1137/070700607, section 4). All weights and shifts are
 * positive, so that nothing cancels.
 *
 * <p><b>Accuracy.</b> Relative error of some 1e-12. <b>Cost.</b> {@code 3 (ln 1/b + 3)} fractions: 9 for b = 1, 27 for
 * 1/400, 50 for 1e-6.
 */
public record InverseSquareRoot(double[] shifts, double[] weights) {

    /**
     * The error at which fractions end: the rule errs by about {@code 4 exp(-2 π^2 n / (2 ln(1/b) + 6))} with n
     * fractions.
     */
    private static final double TOLERANCE = 1e-12;

    /** The number of Landen's steps, which converge quadratically. */
    private static final int STEPS = 16;

    /** @param b in (0, 1] */
    public static InverseSquareRoot above(double b) {
        // Written so that NaN is caught.
        if (!(b > 0.0 && b <= 1.0)) {
            throw new IllegalArgumentException("b = %s: expected more than 0, at most 1".formatted(b));
        }
        int count = (int) Math.ceil((6.0 - 2.0 * Math.log(b)) * Math.log(4.0 / TOLERANCE) / (2.0 * Math.PI * Math.PI));
        double[] means = new double[STEPS];
        double[] differences = new double[STEPS];
        double mean = 1.0;
        double root = b;
        for (int step = 0; step < STEPS; step++) {
            differences[step] = (mean - root) / 2.0;
            double next = (mean + root) / 2.0;
            root = Math.sqrt(mean * root);
            mean = next;
            means[step] = mean;
        }
        double period = Math.PI / (2.0 * mean);
        double[] shifts = new double[count];
        double[] weights = new double[count];
        for (int j = 0; 2 * j < count; j++) {
            double angle = amplitude((j + 0.5) * period / count, means, differences);
            double sine = Math.sin(angle);
            double cosine = Math.cos(angle);
            double tangent = sine / cosine;
            double weight = 2.0 * period * b / (Math.PI * count) * Math.hypot(cosine, b * sine) / (cosine * cosine);
            shifts[j] = b * tangent * (b * tangent);
            weights[j] = weight;
            // By sc(K - u) = 1 / (b sc(u)), since near K the cosine has few digits.
            shifts[count - 1 - j] = 1.0 / (tangent * tangent);
            weights[count - 1 - j] = weight / (b * tangent * tangent);
        }
        return new InverseSquareRoot(shifts, weights);
    }

    /** Returns {@code am(u)}, by the arithmetic-geometric mean. */
    private static double amplitude(double u, double[] means, double[] differences) {
        double angle = Math.scalb(u * means[STEPS - 1], STEPS);
        for (int step = STEPS - 1; step >= 0; step--) {
            angle = (angle + Math.asin(differences[step] / means[step] * Math.sin(angle))) / 2.0;
        }
        return angle;
    }
}
