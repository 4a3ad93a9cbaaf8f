/**
 * Refits a decoder to the directions a drifted window uses, and decides whether the refit may replace the decoder in
 * service.
 *
 * <p><b>Enters:</b> the trained {@link io.plumbline.explainer.Decoder}, and codes with targets of sampled rows.
 * <b>Leaves:</b> an {@link io.plumbline.adaptation.Adaptation} for given settings, or the best of a
 * {@link io.plumbline.adaptation.CandidateSearch}, and a {@link io.plumbline.adaptation.GateDecision} with its numbers.
 * The encoder never changes, so feature ids keep their meaning.
 *
 * <p><b>The decision.</b> The refit is solved in its dual form, one N x N system per ridge level instead of one k x k
 * system: a window has a few thousand rows, a dictionary tens of thousands of features (the k x k matrix of 24,576
 * features takes 4.8 GB). All settings of a search share one eigendecomposition of the window, one Gram matrix and one
 * factorisation per ridge level. The k x k form is only used without any ridge, where there must be fewer features than
 * rows anyway.
 *
 * <p>Settings are chosen on rows of other requests than those fitted on, and "keep the current decoder" is always among
 * the candidates: far below full rank, Step 1 deletes most of a dictionary, and a refit that closes the gap can
 * reconstruct worse than no refit at all.
 */
@NullMarked
package io.plumbline.adaptation;

import org.jspecify.annotations.NullMarked;
