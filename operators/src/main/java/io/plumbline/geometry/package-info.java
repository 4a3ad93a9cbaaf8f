/**
 * Measures how far the directions an explainer can write in have drifted from the directions the model now uses.
 *
 * <p><b>Enters:</b> the trained decoder, the baseline's and a window's {@link io.plumbline.moments.SecondMoment}.
 * <b>Leaves:</b> {@link GapAssessment}: every {@link Statistic}, the faithfulness gap, its bounds from both sides, the
 * losses, and for every number that does not exist in this window the reason why.
 *
 * <p><b>The space.</b> Everything here lives in the space the decoder writes into: for a transcoder the output of the
 * layer, not what its encoder reads. A subspace is an orthonormal basis, one column per direction.
 *
 * <p><b>The decision.</b> Gaps are computed from residuals, never from {@code 2r - 2 ||U^T V||^2}: a healthy site has a
 * gap near zero, and that is where the short formula has no digits left. Energies are sums of terms of one sign for the
 * same reason. Where a rank-r subspace is not determined (a repeated eigenvalue at r, a dictionary of lower rank, too
 * few rows) nothing is answered at random: the number is undefined, with a reason. "Not determined" means here "to
 * rounding"; whether an eigengap also stands out from the sampling noise of a window is a statistical question, which
 * calibration answers from the exported eigengaps.
 *
 * <p><b>Windows know their leading eigenpairs only</b> ({@link ActiveSubspace#leadingOnly}), as do the baselines and
 * the dictionaries of wide sites. What needs the rest of a window's spectrum takes proven bounds of it, so that bounds
 * stay bounds: {@code gap_lower_bound}, {@code gap_upper_bound} and {@code davis_kahan_water_filling} are a little
 * wider than from a full decomposition, and levels calibrated on those three with an earlier version belong to the
 * narrower ones. Everything else agrees within {@link ActiveSubspace#sineBound}, 1e-4 at most.
 *
 * <p>The Davis-Kahan bound in the form the paper prints it is exported because it was asked for, but it is not a bound;
 * {@link DavisKahanBounds} says when it can be trusted and gives those that always can.
 */
@NullMarked
package io.plumbline.geometry;

import org.jspecify.annotations.NullMarked;
