/**
 * Measures how fast this machine does the work, beside other ways of doing it: {@code plumbline bench}.
 *
 * <p><b>Enters:</b> sizes. <b>Leaves:</b> a {@link io.plumbline.benchmarks.BenchReport}: figures, and ratios beside
 * what was asked for.
 *
 * <p><b>The decision.</b> Only ratios within one run are claims, since machines differ and halve their speed for
 * seconds: everything that is compared takes turns in one process, or on one topic. All variants of a kernel are shown
 * to compute the same numbers before they are timed. Libraries that are only rivals are not in the program: they are
 * found by {@link java.util.ServiceLoader} as {@link io.plumbline.benchmarks.KernelRivals} where they stand on the
 * class path.
 */
@NullMarked
package io.plumbline.benchmarks;

import org.jspecify.annotations.NullMarked;
