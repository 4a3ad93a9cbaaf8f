/**
 * What is normal at a site, and when a window is not.
 *
 * <p><b>Enters:</b> clean activations with the explainer (once, for the {@link io.plumbline.calibration.Baseline}), then one
 * statistic per window. <b>Leaves:</b> a {@link io.plumbline.calibration.Threshold}'s level, and a
 * {@link io.plumbline.calibration.DriftVerdict} per window.
 *
 * <p><b>The decision.</b> The gap of two clean windows is far from zero and depends on rank, rows per window and the
 * correlation of rows within a request, so a formula for it misleads. The baseline therefore keeps what every statistic
 * was in clean windows of production size, cut from whole requests, each taken against the baseline without itself.
 * {@link io.plumbline.calibration.Threshold} is the place for further rules over these values: each is one more record.
 * The default is a promise about false alarms, kept by order statistics ({@link io.plumbline.calibration.AlarmLaw}); where the
 * clean windows are too few to keep it, the largest of them and the words for what that keeps.
 * Not taken: mean + 3 standard deviations, which gave 0.8 to 3.7 % false alarms instead of 0.13 %.
 *
 * <p><b>The file</b> is a safetensors blob with {@code version} in its metadata; a reader refuses versions it does not know.
 */
@NullMarked
package io.plumbline.calibration;

import org.jspecify.annotations.NullMarked;
