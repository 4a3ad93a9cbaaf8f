package io.plumbline.geometry;

import io.plumbline.linalg.Matrix;
import org.jspecify.annotations.Nullable;

/**
 * The Davis-Kahan bounds of {@code ‖Π_OOD − Π_ID‖_F} found in the literature, and the bounds of the excess loss of Π_ID
 * that follow from them, for comparison with {@link DavisKahanBounds}. Notation as there; null = does not exist.
 *
 * <p>Costs one more eigendecomposition (the operator norm of the shift); not computed per window.
 *
 * @param yuWangSamworth {@code 2√2/γ ‖E‖_F} (Yu, Wang and Samworth 2015)
 * @param weyl {@code √2 ‖E‖_F / (γ − ‖E‖_op)}, null unless the operator norm is below γ
 * @param mixedGap {@code √2 ‖E‖_F / (λ_r(M_ID) − λ_{r+1}(M_OOD))}, null unless that is positive
 * @param excessAsPrinted {@code (λ_1 − λ_d)/2} of M_OOD times the printed bound squared: the paper's corollary, which
 *     inherits that bound's error
 * @param excessValid the same with the valid bound
 * @param excessSharp {@code ‖E‖_F² / (2γ)}, valid and sharp
 */
public record ClassicalBounds(
        @Nullable Double yuWangSamworth,
        @Nullable Double weyl,
        @Nullable Double mixedGap,
        @Nullable Double excessAsPrinted,
        @Nullable Double excessValid,
        @Nullable Double excessSharp) {

    public static ClassicalBounds of(ActiveSubspace baseline, ActiveSubspace window, Matrix shift) {
        baseline.subspace().requireComparable(window.subspace());
        if (baseline.rank() == baseline.dimension() || !baseline.isIdentified()) {
            return new ClassicalBounds(null, null, null, null, null, null);
        }
        int rank = baseline.rank();
        double[] spectrum = window.eigenvalues();
        double eigengap = baseline.eigengap().orElseThrow();
        double norm = shift.frobeniusNorm();
        double left = eigengap - DavisKahanBounds.operatorNorm(shift);
        double mixed = baseline.eigenvalues()[rank - 1] - spectrum[rank];
        double halfSpread = 0.5 * (spectrum[0] - spectrum[spectrum.length - 1]);
        double ratio = norm / eigengap;
        return new ClassicalBounds(
                2.0 * Math.sqrt(2.0) * ratio,
                left > 0.0 ? Math.sqrt(2.0) * norm / left : null,
                mixed > 0.0 ? Math.sqrt(2.0) * norm / mixed : null,
                halfSpread * 2.0 * ratio * ratio,
                halfSpread * 4.0 * ratio * ratio,
                0.5 * norm * ratio);
    }
}
