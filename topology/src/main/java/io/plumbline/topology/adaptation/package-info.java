/**
 * Fourth stage: the rows of a drifted window become a decoder, or the reason why not.
 *
 * <p><b>Enters:</b> a request with the window's sampled rows, or a person's command. <b>Leaves:</b> a report, and a decoder
 * that passed the gate: to go into service, or to wait for approval.
 *
 * <p>{@link io.plumbline.topology.adaptation.Refit} makes decoders, {@link io.plumbline.topology.adaptation.SwapDesk} decides
 * what becomes of them. The adapter alone gives versions: commands come to it over the topic of its requests, so that they
 * and its own swaps have one order and one transaction. Commands straight to the decoders topic would have made two writers.
 */
@NullMarked
package io.plumbline.topology.adaptation;

import org.jspecify.annotations.NullMarked;
