/**
 * Refits a decoder to the directions a drifted window uses, and decides whether the refit may replace the decoder in
 * service.
 *
 * <p><b>Enters:</b> the trained {@link io.plumbline.explainer.Decoder}, sampled rows of the window in their parts and
 * rows of the baseline ({@link io.plumbline.adaptation.AdaptationRows}). <b>Leaves:</b> a {@link
 * io.plumbline.adaptation.GatedAdaptation}: the best of a {@link io.plumbline.adaptation.CandidateSearch} with its
 * rivals, and a {@link io.plumbline.adaptation.GateDecision} test by test. The encoder never changes, so feature ids
 * keep their meaning.
 *
 * <p><b>The decision.</b> The refit is solved in its dual form, one N x N system per ridge level instead of one k x k
 * system: a window has a few thousand rows, a dictionary tens of thousands of features (the k x k matrix of 24,576
 * features takes 4.8 GB). All settings of a search share the eigenspaces of the window, one Gram matrix and one
 * factorisation per ridge level. The k x k form is only used without any ridge, where there must be fewer features than
 * rows anyway.
 *
 * <p>Candidates are fitted, chosen and judged on three parts of the window that share no request, and "keep the current
 * decoder" is always among them: far below full rank, Step 1 deletes most of a dictionary, and a refit that closes the
 * gap can reconstruct worse than no refit at all. A refit of the window alone also forgets what it does not see: rows
 * of the baseline, with the trained decoder's answers as targets, hold it there.
 */
@NullMarked
package io.plumbline.adaptation;

import org.jspecify.annotations.NullMarked;
