/**
 * Measures the monitor on this machine through a real broker, beside other programs: {@code plumbline bench}.
 *
 * <p><b>Enters:</b> sizes. <b>Leaves:</b> {@link io.plumbline.benchmarks.operators.Figures}.
 *
 * <p><b>The decision.</b> Only ratios within one run are claims, since machines differ and halve their speed for
 * seconds: all programs that are compared take turns on one topic, round after round.
 */
@NullMarked
package io.plumbline.benchmarks;

import org.jspecify.annotations.NullMarked;
