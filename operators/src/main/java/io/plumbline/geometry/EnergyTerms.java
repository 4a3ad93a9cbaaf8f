package io.plumbline.geometry;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;

/**
 * What a reference subspace loses of the energy of a window, {@code L(Π) = tr((I − Π) M)}, split into what every subspace of
 * that rank loses and what this one loses on top. All in the units of M (squared activations); {@code eta} is a share.
 *
 * <p>{@code explainerDependent = L(Π) − L(Π_OOD) = Σ_{i≤r} λ_i − tr(Π M)} is not computed as that difference, which cancels
 * for a well-aligned explainer, but as
 * {@code Σ_{i≤r} (λ_i − λ_r)‖(I−Π)v_i‖² + Σ_{i>r} (λ_r − λ_i)‖Π v_i‖²}, whose terms are all non-negative. It depends on the
 * eigenvalues only, so it is defined even where the window's own subspace is not.
 *
 * @param total {@code L(Π)}
 * @param irreducible {@code L(Π_OOD) = Σ_{i>r} λ_i}
 * @param explainerDependent the excess; {@code total = irreducible + explainerDependent}
 * @param eta {@code explainerDependent / total}, in [0, 1]; 0 when there is nothing to lose (r = d, or the
 *     window lies in the subspace)
 * @param lower {@code γ_OOD/2 Δ²}, below the excess (the paper's Proposition 2)
 * @param upper {@code (λ_1 − λ_d)/2 Δ²}, above it
 */
public record EnergyTerms(
        double total, double irreducible, double explainerDependent, double eta, double lower, double upper) {

    /** Below this share of tr M the irreducible loss is rounding, and eta a ratio of roundings. */
    private static final double NOTHING_TO_LOSE = 1e-13;

    /** The losses of {@code reference} under the moment whose eigenspace is {@code active}. {@code 2 d^2 r} flops. */
    public static EnergyTerms of(Subspace reference, ActiveSubspace active) {
        reference.requireComparable(active.subspace());
        int rank = active.rank();
        int dimension = active.dimension();
        double[] eigenvalues = active.eigenvalues();
        double pivot = eigenvalues[rank - 1];

        double[] outside =
                squaredColumnLengths(reference.residual(active.subspace().basis()));
        double excess = 0.0;
        double squaredGap = 0.0;
        for (int i = 0; i < rank; i++) {
            excess += (eigenvalues[i] - pivot) * outside[i];
            squaredGap += 2.0 * outside[i];
        }
        double irreducible = 0.0;
        if (rank < dimension) {
            Matrix cosines = Kernels.transposeMultiply(reference.basis(), active.eigenvectors());
            double[] inside = squaredColumnLengths(cosines);
            for (int i = rank; i < dimension; i++) {
                excess += (pivot - eigenvalues[i]) * inside[i];
                irreducible += eigenvalues[i];
            }
        }
        double lower = 0.5 * active.eigengap().orElse(0.0) * squaredGap;
        double upper = 0.5 * (eigenvalues[0] - eigenvalues[dimension - 1]) * squaredGap;
        // Eigenvalues that are 0 may come out a rounding below it.
        irreducible = Math.max(irreducible, 0.0);
        double total = irreducible + excess;
        double eta = total <= NOTHING_TO_LOSE * active.trace() ? 0.0 : excess / total;
        return new EnergyTerms(total, irreducible, excess, eta, lower, upper);
    }

    /**
     * The paper's Theorem 1, for the baseline's subspace as reference: the active subspace loses at most
     * {@code L(Π_ID) − γ_OOD/2 Δ²}. The left-hand side is {@link #irreducible()}.
     */
    public double adaptedLossBound() {
        return total - lower;
    }

    private static double[] squaredColumnLengths(Matrix matrix) {
        double[] lengths = new double[matrix.columns()];
        for (int i = 0; i < matrix.rows(); i++) {
            for (int j = 0; j < lengths.length; j++) {
                double value = matrix.get(i, j);
                lengths[j] += value * value;
            }
        }
        return lengths;
    }
}
