package io.plumbline.geometry;

import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.SymmetricEigen;
import org.jspecify.annotations.Nullable;

/**
 * Bounds of {@code Δ(Π_ID) = ‖Π_OOD − Π_ID‖_F}, the gap of the window to the <em>baseline</em>, from the shift
 * {@code E = M_OOD − M_ID}, with {@code γ = λ_r(M_ID) − λ_{r+1}(M_ID)}. For the gap to the explainer add the measured
 * {@code ‖Π_dec − Π_ID‖_F}.
 *
 * <p>A bound that does not exist is null: all but the last divide by an eigengap, and there is none at r = d or (to
 * rounding) at a repeated eigenvalue of M_ID.
 *
 * @param asPrinted {@code √2/γ ‖E‖_F}, the paper's Proposition 1. <b>Not a valid bound</b>: M_ID = diag(1, 0),
 *     M_OOD = diag(.499, .5), r = 1 has Δ = 1.414 and this number is 1.001. Its proof takes the numerator of one matrix
 *     with the gap of the other
 * @param certified whether the printed number does bound here: {@code ‖E‖_op <= (1 − 1/√2) γ}. Then (Weyl) δ₁ and δ₂
 *     below are both at least {@code γ/√2}, and the bound from both spectra is at most the printed one
 * @param valid {@code 2/γ ‖E‖_F}, always valid and sharp: {@code γ/2 Δ² <= tr((Π_ID − Π_OOD) M_ID) <=
 *     −tr((Π_ID − Π_OOD) E) <= Δ ‖E‖_F}
 * @param bothSpectra {@code √2 ‖E‖_F / √(max(δ₁,0)² + max(δ₂,0)²)}, {@code δ₁ = λ_r(M_ID) − λ_{r+1}(M_OOD)} and δ₂ with
 *     the two exchanged; null when neither is positive
 * @param waterFilling {@code √(2S*)}, S* the largest root in [0, min(r, d−r)] of {@code f_ID(S) + f_OOD(S) <= √(2S)
 *     ‖E₀‖_F} with {@code E₀ = E − (tr E/d) I}: always exists, never above the largest possible gap
 */
public record DavisKahanBounds(
        @Nullable GapBound asPrinted,
        boolean certified,
        @Nullable GapBound valid,
        @Nullable GapBound bothSpectra,
        GapBound waterFilling) {

    private static final double CERTIFIED_SHARE = 1.0 - Math.sqrt(0.5);

    /** The bounds for a window against a baseline. */
    public static DavisKahanBounds of(ActiveSubspace baseline, ActiveSubspace window) {
        return of(baseline, window, MomentShift.between(baseline.moment(), window.moment()));
    }

    static DavisKahanBounds of(ActiveSubspace baseline, ActiveSubspace window, MomentShift shift) {
        baseline.subspace().requireComparable(window.subspace());
        int rank = baseline.rank();
        int dimension = baseline.dimension();
        double norm = shift.norm();
        double largest = FaithfulnessGap.largest(rank, dimension);
        GapBound waterFilling = GapBound.of(waterFilling(baseline, window, shift.traceless()), largest);
        if (rank == dimension) {
            return new DavisKahanBounds(null, false, null, null, waterFilling);
        }
        GapBound bothSpectra = null;
        double separation = separation(baseline, window);
        if (separation > 0.0) {
            bothSpectra = GapBound.of(Math.sqrt(2.0) * norm / separation, largest);
        }
        if (!baseline.isIdentified()) {
            return new DavisKahanBounds(null, false, null, bothSpectra, waterFilling);
        }
        double eigengap = baseline.provenEigengap();
        if (eigengap == 0.0) {
            return new DavisKahanBounds(null, false, null, bothSpectra, waterFilling);
        }
        return new DavisKahanBounds(
                GapBound.of(Math.sqrt(2.0) * norm / eigengap, largest),
                isCertified(baseline, window, norm, CERTIFIED_SHARE * eigengap),
                GapBound.of(2.0 * norm / eigengap, largest),
                bothSpectra,
                waterFilling);
    }

    /** The operator norm of a symmetric matrix: its largest eigenvalue in size. One eigendecomposition. */
    public static double operatorNorm(Matrix symmetric) {
        double[] eigenvalues = SymmetricEigen.of(symmetric).values();
        return Math.max(Math.abs(eigenvalues[0]), Math.abs(eigenvalues[eigenvalues.length - 1]));
    }

    /** Compares the operator norm with a limit; decided from norms and spectra already known wherever they suffice. */
    private static boolean isCertified(ActiveSubspace baseline, ActiveSubspace window, double frobenius, double limit) {
        if (frobenius <= limit) {
            return true;
        }
        double below = frobenius / Math.sqrt(baseline.dimension());
        for (int i = 0; i < baseline.dimension(); i++) {
            // Weyl: no eigenvalue moves further than the operator norm of the shift.
            double moved =
                    Math.max(window.atLeast()[i] - baseline.atMost()[i], baseline.atLeast()[i] - window.atMost()[i]);
            below = Math.max(below, moved);
        }
        return below <= limit && OperatorNorm.isAtMost(window.moment().minus(baseline.moment()), limit);
    }

    private static double separation(ActiveSubspace baseline, ActiveSubspace window) {
        int rank = baseline.rank();
        double first = Math.max(baseline.atLeast()[rank - 1] - window.atMost()[rank], 0.0);
        double second = Math.max(window.atLeast()[rank - 1] - baseline.atMost()[rank], 0.0);
        return Math.hypot(first, second);
    }

    private static double waterFilling(ActiveSubspace baseline, ActiveSubspace window, double tracelessShift) {
        int rank = baseline.rank();
        double exchanged = ExchangeCosts.cheapestFirst(baseline.atLeast(), baseline.atMost(), rank)
                .plus(ExchangeCosts.cheapestFirst(window.atLeast(), window.atMost(), rank))
                .largestBelowRoot(Math.sqrt(2.0) * tracelessShift);
        return Math.sqrt(2.0 * exchanged);
    }
}
