/**
 * Searches the refit of a drifted window that reconstructs best, and decides whether it may replace the decoder in
 * service.
 *
 * <p><b>Enters:</b> the trained {@link io.plumbline.explainer.Decoder}, sampled rows of the window in their parts and
 * rows of the baseline ({@link io.plumbline.adaptation.AdaptationRows}). <b>Leaves:</b> a {@link
 * io.plumbline.adaptation.GatedAdaptation}: the best of a {@link io.plumbline.adaptation.CandidateSearch} with its
 * rivals, and a {@link io.plumbline.adaptation.GateDecision} test by test. The encoder never changes, so feature ids
 * keep their meaning.
 *
 * <p><b>The decision.</b> How a refit is computed is {@code io.plumbline.refit}'s matter. Candidates are fitted, chosen
 * and judged on three parts of the window that share no request, and "keep the current decoder" is always among them:
 * far below full rank, Step 1 deletes most of a dictionary, and a refit that closes the gap can reconstruct worse than
 * no refit at all. A refit of the window alone also forgets what it does not see: rows of the baseline, with the
 * trained decoder's answers as targets, hold it there.
 */
@NullMarked
package io.plumbline.adaptation;

import org.jspecify.annotations.NullMarked;
