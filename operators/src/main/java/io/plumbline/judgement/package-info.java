/**
 * Decides whether values of a statistic are a drift: thresholds, debounce and hysteresis, and evidence over windows.
 *
 * <p><b>Enters:</b> values of clean windows, once, and one value a window. <b>Leaves:</b> a {@link Threshold}'s level
 * and a {@link DriftVerdict} per window. Nothing here knows where a value comes from.
 *
 * <p><b>The decision.</b> {@link Threshold} is the place for further rules: each is one more record. The default is a
 * promise about false alarms, kept by order statistics ({@link AlarmLaw}); where the clean windows are too few to
 * keep it, the largest of them and the words for what that keeps. Not taken: mean + 3 standard deviations, which gave
 * 0.8 to 3.7 % false alarms instead of 0.13 %.
 */
@NullMarked
package io.plumbline.judgement;

import org.jspecify.annotations.NullMarked;
