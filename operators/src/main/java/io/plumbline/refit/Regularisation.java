package io.plumbline.refit;

import io.plumbline.explainer.SparseCodes;

/**
 * The two weights of Step 2: {@code geometric} on what lies outside the window's subspace, {@code preservation} on the
 * distance to the rotated decoder.
 *
 * <p>Absolute weights are in the units of {@code Cov z} (squared feature activations, with the 1/N of the covariance).
 * Relative ones are multiples of its mean diagonal entry {@code tr(Cov z) / k}, and mean the same at every activation
 * scale.
 */
public record Regularisation(double geometric, double preservation, boolean relative) {

    public Regularisation {
        requireWeight("geometric", geometric);
        requireWeight("preservation", preservation);
    }

    public static Regularisation absolute(double geometric, double preservation) {
        return new Regularisation(geometric, preservation, false);
    }

    public static Regularisation relative(double geometric, double preservation) {
        return new Regularisation(geometric, preservation, true);
    }

    /** Returns these weights in the units of the covariance of some codes. */
    Regularisation inUnitsOf(SparseCodes codes) {
        if (!relative) {
            return this;
        }
        double unit = SparseProducts.meanVariance(codes);
        return absolute(geometric * unit, preservation * unit);
    }

    /** Returns {@code lp / (lp + lg)}; without any weight the refit forgets the rotated decoder, and it is 0. */
    double shrink() {
        double outer = preservation + geometric;
        return outer > 0.0 ? preservation / outer : 0.0;
    }

    private static void requireWeight(String name, double weight) {
        if (!(weight >= 0.0 && weight < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException("lambda %s = %s: expected 0 or more".formatted(name, weight));
        }
    }
}
