/**
 * Refits a decoder to the directions that a drifted window uses: Step 1 and Step 2 of the Geometry-Adaptive Explainer.
 *
 * <p><b>Enters:</b> the trained {@link io.plumbline.explainer.Decoder}, rows of the window with their codes, and {@link
 * io.plumbline.refit.GaeSettings}. <b>Leaves:</b> a {@link io.plumbline.refit.FittedDecoder}, and how well it gives
 * back rows. The encoder never changes, so feature ids keep their meaning.
 *
 * <p><b>A plan, read from top to bottom.</b> Settings on the same rows share nearly all of the work. {@link
 * io.plumbline.refit.RefitPlan} lists it before anything is computed, {@link io.plumbline.refit.PlannedRefits} does it:
 *
 * <pre>
 * RefitInputs                    trained decoder, rows of the window, anchors
 *   Rotations                    Step 1 of each rank and rotation, on another core
 *   FittedRows                   targets Yc and reconstructions Zc D, N x d, their means taken out
 *     RefitPlan.of(settings)     lambda   solve        settings that are fitted then
 *                                0.25     R            rank d, 0/0.25
 *                                1        T, R, C...   rank d, 0/1;  rank 32, 0/1
 *                                3        T, R         rank d, 0/3;  rank 32, 2/1 with the C of level 1
 *     for each level
 *       try (RidgeSystem)        factor K + N lambda I                             4 N^2 bytes
 *         Solutions              solve for T (targets) and R (what is left of them)  16 N d bytes
 *       for each setting
 *         Refit                  StepTwo sums T, R and C: figures, or a FittedDecoder
 * </pre>
 *
 * <p><b>Lifetimes are scopes.</b> A factorisation lives in its try block, the solutions of a level in the method that
 * goes through its settings, a refit in the call it is handed to. Between levels only N x r matrices are kept, one
 * for each setting whose inside and outside have different levels. A search that has chosen plans the winner by itself
 * and solves it again, on more rows. {@link io.plumbline.refit.GeometryAdapter} is a plan of one.
 *
 * <p><b>The decision.</b> The refit is solved in its dual form, one N x N system per ridge level instead of one k x k
 * system: a window has a few thousand rows, a dictionary tens of thousands of features (the k x k matrix of 24,576
 * features takes 4.8 GB). The k x k form is only used without any ridge, where there must be fewer features than rows
 * anyway.
 */
@NullMarked
package io.plumbline.refit;

import org.jspecify.annotations.NullMarked;
