/**
 * Types of the report of a window, which goes to the {@code window-reports} topic.
 *
 * <p>A {@link io.plumbline.topology.report.WindowReport} is a header, a verdict, the statistics and {@link
 * io.plumbline.topology.report.Sections}. A section is one class of values with its metrics, and a constant in that
 * list; what measures it stands in the list of the stage that assesses windows. JSON and metrics pass over all sections
 * and know none. These types know no judge: metrics, console and commands read them without the stage behind them.
 */
@NullMarked
package io.plumbline.topology.report;

import org.jspecify.annotations.NullMarked;
