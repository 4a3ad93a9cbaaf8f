package io.plumbline.geometry;

import java.util.OptionalDouble;

/**
 * The distance {@code Δ = ‖Π_A − Π_B‖_F} of two subspaces of equal rank. Dimensionless, in
 * {@code [0, √(2 min(r, d−r))]}; the same for every choice of bases, and symmetric.
 *
 * <p>Computed as {@code √2·‖(I − UUᵀ)V‖_F}. The shorter {@code √(2r − 2‖UᵀV‖_F²)} is the same number on paper and loses
 * half the digits when the subspaces nearly agree, which is the normal state of a healthy site: a gap of 1e-10 keeps
 * about six digits here and has none there. {@code 8 d r^2} flops, no d x d matrix.
 *
 * @param value Δ; 0 when rank = dimension, where both subspaces are the whole space
 */
public record FaithfulnessGap(double value, int rank, int dimension) {

    public FaithfulnessGap {
        ActiveSubspace.requireRank(rank, dimension);
        if (!(value >= 0.0)) {
            throw new IllegalArgumentException("a gap of %s: expected 0 or more".formatted(value));
        }
    }

    public static FaithfulnessGap between(Subspace first, Subspace second) {
        return of(Apart.of(first, second));
    }

    static FaithfulnessGap of(Apart two) {
        double value = two.rank() == two.dimension()
                ? 0.0
                : Math.sqrt(2.0) * two.residual().frobeniusNorm();
        return new FaithfulnessGap(value, two.rank(), two.dimension());
    }

    /**
     * Returns {@code √(2 min(r, d−r))}, the largest gap two such subspaces can have (not {@code √(2r)}: past r = d/2
     * they meet).
     */
    public double largest() {
        return largest(rank, dimension);
    }

    static double largest(int rank, int dimension) {
        return Math.sqrt(2.0 * Math.min(rank, dimension - rank));
    }

    /** Returns Δ as a share of the largest possible gap, in [0, 1]; 0 when rank = dimension, where the largest is 0. */
    public double share() {
        double largest = largest();
        return largest == 0.0 ? 0.0 : Math.min(1.0, value / largest);
    }

    /**
     * Returns {@code Δ² / (2 r (1 − r/d))}: 1 is what two random subspaces have on average. Empty when rank =
     * dimension, where chance has no gap either.
     */
    public OptionalDouble chanceNormalised() {
        if (rank == dimension) {
            return OptionalDouble.empty();
        }
        return OptionalDouble.of(value * value / (2.0 * rank * (1.0 - (double) rank / dimension)));
    }

    /** Returns {@code ‖UᵀV‖_F² / r = 1 − Δ²/(2r)}: the mean squared cosine, in [0, 1], 1 = the same subspace. */
    public double overlap() {
        return Math.max(0.0, 1.0 - value * value / (2.0 * rank));
    }
}
