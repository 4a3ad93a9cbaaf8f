/**
 * Compares the monitor's default with detectors that others use, on the same windows: {@code plumbline study}.
 *
 * <p><b>Enters:</b> recorded requests of usual and of foreign traffic. <b>Leaves:</b> the share of windows with an
 * alarm, by traffic and detector.
 *
 * <p><b>The decision.</b> Each detector takes its level from the same clean windows by the same rule, so that power is
 * compared at equal false alarms. Requests lie in many windows; what a detector adds up over them is computed once.
 */
@NullMarked
package io.plumbline.benchmarks.study;

import org.jspecify.annotations.NullMarked;
