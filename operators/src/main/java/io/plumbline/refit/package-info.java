/**
 * Refits a decoder to the directions that a drifted window uses: Step 1 and Step 2 of the Geometry-Adaptive Explainer.
 *
 * <p><b>Enters:</b> the trained {@link io.plumbline.explainer.Decoder}, rows of the window with their codes, and {@link
 * io.plumbline.refit.GaeSettings}. <b>Leaves:</b> a {@link io.plumbline.refit.FittedDecoder}, and how well it gives
 * back rows. The encoder never changes, so feature ids keep their meaning.
 *
 * <p><b>Where to read.</b> {@code StepOne} and {@code StepTwo} hold the paper's formulas and what is computed in their
 * place; {@link io.plumbline.refit.GeometryAdapter} does one after the other for a single setting. Many settings share
 * {@link io.plumbline.refit.SharedSolutions}, on which a {@link io.plumbline.refit.Refit} is one setting.
 *
 * <p><b>The decision.</b> The refit is solved in its dual form, one N x N system per ridge level instead of one k x k
 * system: a window has a few thousand rows, a dictionary tens of thousands of features (the k x k matrix of 24,576
 * features takes 4.8 GB). All settings share the eigenspaces of the window, one Gram matrix and one factorisation per
 * ridge level. The k x k form is only used without any ridge, where there must be fewer features than rows anyway.
 *
 * <p><b>Memory.</b> What is large has one holder: {@link io.plumbline.refit.RefitInputs} are light and stay, {@link
 * io.plumbline.refit.SharedSolutions} are heavy and are dropped before weights are made.
 */
@NullMarked
package io.plumbline.refit;

import org.jspecify.annotations.NullMarked;
