/**
 * Says what is normal at a site, and when a window is not.
 *
 * <p><b>Enters:</b> clean activations with the explainer (once, for the {@link io.plumbline.baseline.Baseline}), then
 * one statistic per window. <b>Leaves:</b> a {@link io.plumbline.judgement.Threshold}'s level, and a
 * {@link io.plumbline.judgement.DriftVerdict} per window.
 *
 * <p><b>The decision.</b> The gap of two clean windows is far from zero and depends on rank, rows per window and the
 * correlation of rows within a request, so a formula for it misleads. The baseline therefore keeps what every
 * statistic was in clean windows of production size, cut from whole requests, each taken against the baseline without
 * itself. {@link io.plumbline.judgement.Threshold} is the place for rules over these values.
 *
 * <p><b>Requests.</b> A drift reaches a model request by request, and an average of all rows hides the first foreign
 * ones. So the baseline also says how the means of its requests and their reconstructions differ
 * ({@link io.plumbline.baseline.RequestModel}); each request of a window gets a p-value among them, and the window
 * combines these ({@link io.plumbline.baseline.WindowRequests}). The window's value is calibrated on clean windows
 * like any other: the tail model of the p-values decides what is seen, not how often clean windows pass.
 *
 * <p><b>The file</b> is a safetensors blob with {@code version} in its metadata; a reader refuses versions it does
 * not know.
 */
@NullMarked
package io.plumbline.baseline;

import org.jspecify.annotations.NullMarked;
