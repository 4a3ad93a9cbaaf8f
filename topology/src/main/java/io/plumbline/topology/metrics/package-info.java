/**
 * Exports what a person sees of the monitor over HTTP: counters, timers and the newest window of each site on
 * {@code /metrics}, whether the process lives on {@code /healthz}, whether it works on {@code /readyz}.
 *
 * <p>What enters: calls of the stages' listeners, on stream threads. What leaves: text. The stages do not know this
 * package; a failure in here is counted and goes no further, since a monitor must not stop because its own dashboard
 * did.
 *
 * <p><b>Counters and timers are Micrometer's, per-window values are the Prometheus client's</b>, both in one {@code
 * PrometheusRegistry}. A Micrometer gauge reads its value whenever it is asked, so twenty of them would mix two windows
 * of a site, and a gauge of a site that stopped would go on showing its last value. {@link
 * io.plumbline.topology.metrics.SiteSnapshot} and one {@code MultiCollector} do neither.
 *
 * <p><b>A name is a contract.</b> Names, labels and meanings are listed in {@code docs/operate/metrics.md}; a test
 * writes that table from a scrape, and another compares the rules and dashboards with it. Never a window, a request or
 * a record in a label; {@code site} is capped.
 */
@NullMarked
package io.plumbline.topology.metrics;

import org.jspecify.annotations.NullMarked;
