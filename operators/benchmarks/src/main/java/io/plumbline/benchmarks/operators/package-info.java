/**
 * Times the kernels beside other libraries with JMH, and holds what every benchmark writes.
 *
 * <p><b>Enters:</b> sizes. <b>Leaves:</b> {@link io.plumbline.benchmarks.operators.Figures}: a table for people, and a
 * CSV file with the machine, the date and the version in each row.
 *
 * <p><b>The decision.</b> Only ratios within one run are claims, since machines differ and halve their speed for
 * seconds. So all variants of one piece of work run one after the other, in a process each, round after round, and each
 * must first give the same numbers. A clock of our own that lets variants take turns every few milliseconds would be
 * less sensitive to other load; it was given up for the harness that readers know.
 */
@NullMarked
package io.plumbline.benchmarks.operators;

import org.jspecify.annotations.NullMarked;
