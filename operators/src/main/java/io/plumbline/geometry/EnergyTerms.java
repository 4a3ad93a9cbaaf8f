package io.plumbline.geometry;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Splits what a reference subspace loses of the energy of a window, {@code L(Π) = tr((I − Π) M)}, into what every
 * subspace of that rank loses and what this one loses on top. All in the units of M (squared activations); {@code eta}
 * is a share.
 *
 * <p>{@code explainerDependent = L(Π) − L(Π_OOD) = Σ_{i≤r} λ_i − tr(Π M)} is not computed as that difference, which
 * cancels for a well-aligned explainer, but as {@code Σ_{i≤r} (λ_i − λ_r)‖(I−Π)v_i‖² + Σ_{i>r} (λ_r − λ_i)‖Π v_i‖²},
 * whose terms are all non-negative. It depends on the eigenvalues only, so it is defined even where the window's own
 * subspace is not.
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

    /** The share of tr M below which the irreducible loss is rounding, and eta a ratio of roundings. */
    private static final double NOTHING_TO_LOSE = 1e-13;

    /** The losses of {@code reference} under the moment whose eigenspace is {@code active}. {@code 2 d^2 r} flops. */
    public static EnergyTerms of(Subspace reference, ActiveSubspace active) {
        return of(List.of(Apart.of(reference, active.subspace())), active).get(0);
    }

    /** Returns the losses of several references to one window, whose moment is then read once. */
    static List<EnergyTerms> of(List<Apart> references, ActiveSubspace active) {
        double[] takenUp = new double[references.size()];
        if (active.isFull()) {
            Arrays.setAll(takenUp, i -> takenUp(references.get(i).reference(), active));
        } else {
            takenUp = takenUpWithin(references, active);
        }
        List<EnergyTerms> terms = new ArrayList<>();
        for (int i = 0; i < takenUp.length; i++) {
            terms.add(of(references.get(i), active, takenUp[i]));
        }
        return terms;
    }

    /** @param takenUp {@code Σ_{i>r} (λ_r − λ_i)‖Π v_i‖²} */
    private static EnergyTerms of(Apart two, ActiveSubspace active, double takenUp) {
        int rank = active.rank();
        int dimension = active.dimension();
        double pivot = active.eigenvalue(rank);

        double[] outside = squaredColumnLengths(two.residual());
        double excess = 0.0;
        double squaredGap = 0.0;
        for (int i = 0; i < rank; i++) {
            excess += (active.eigenvalue(i + 1) - pivot) * outside[i];
            squaredGap += 2.0 * outside[i];
        }
        double irreducible = 0.0;
        if (rank < dimension) {
            excess += takenUp;
            irreducible = active.isFull() ? sumAfter(active) : active.trace() - sumOfLeading(active);
        }
        double lower = 0.5 * active.eigengap().orElse(0.0) * squaredGap;
        double upper = 0.5 * (active.largestEigenvalue() - active.atLeast()[dimension - 1]) * squaredGap;
        // Eigenvalues that are 0 may come out a rounding below it.
        irreducible = Math.max(irreducible, 0.0);
        double total = irreducible + excess;
        double eta = total <= NOTHING_TO_LOSE * active.trace() ? 0.0 : excess / total;
        return new EnergyTerms(total, irreducible, excess, eta, lower, upper);
    }

    /** Returns {@code Σ_{i>r} (λ_r − λ_i)‖Π v_i‖²} from all eigenpairs. */
    private static double takenUp(Subspace reference, ActiveSubspace active) {
        double[] inside = squaredColumnLengths(Kernels.transposeMultiply(reference.basis(), active.eigenvectors()));
        double sum = 0.0;
        for (int i = active.rank(); i < inside.length; i++) {
            sum += (active.eigenvalue(active.rank()) - active.eigenvalues()[i]) * inside[i];
        }
        return sum;
    }

    /**
     * Computes it for each reference from the leading eigenvectors V: with {@code X = (I − VVᵀ) U}, U a basis of Π, it
     * is {@code tr Xᵀ(λ_r I − M)X}. V being eigenvectors but for {@code R = M V − V Θ}, {@code 2 tr (VᵀU)ᵀRᵀX} is to
     * be taken off, or a gap of the size of R would count in first order.
     */
    private static double[] takenUpWithin(List<Apart> references, ActiveSubspace active) {
        int rank = active.rank();
        Matrix beyond = Matrix.zeros(active.dimension(), references.size() * rank);
        for (int which = 0; which < references.size(); which++) {
            Matrix one =
                    active.subspace().residual(references.get(which).reference().basis());
            for (int i = 0; i < beyond.rows(); i++) {
                System.arraycopy(one.values(), i * rank, beyond.values(), i * beyond.columns() + which * rank, rank);
            }
        }
        // M is its own transpose, in which the rows that a product reads lie side by side already.
        Matrix moved = Kernels.transposeMultiply(active.moment(), beyond);
        Matrix residual = Objects.requireNonNull(active.residual());
        double pivot = active.eigenvalue(rank);
        double[] sums = new double[references.size()];
        for (int which = 0; which < sums.length; which++) {
            Matrix shares = Kernels.transposeMultiply(
                    active.subspace().basis(), references.get(which).reference().basis());
            Matrix crossed = Kernels.multiply(residual, shares);
            double sum = 0.0;
            for (int i = 0; i < beyond.rows(); i++) {
                for (int j = 0; j < rank; j++) {
                    int at = i * beyond.columns() + which * rank + j;
                    double value = beyond.values()[at];
                    sum += value * (pivot * value - moved.values()[at] - 2.0 * crossed.values()[i * rank + j]);
                }
            }
            sums[which] = Math.max(sum, 0.0);
        }
        return sums;
    }

    private static double sumAfter(ActiveSubspace active) {
        double sum = 0.0;
        for (int i = active.rank(); i < active.dimension(); i++) {
            sum += active.eigenvalues()[i];
        }
        return sum;
    }

    private static double sumOfLeading(ActiveSubspace active) {
        double sum = 0.0;
        for (int i = 1; i <= active.rank(); i++) {
            sum += active.eigenvalue(i);
        }
        return sum;
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
