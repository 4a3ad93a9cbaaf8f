/**
 * Serves the page a person opens: sites and their windows as they close, served by the monitor's own HTTP server.
 *
 * <p>What enters: window reports and adaptation reports, from the stages of this process and from their topics, and
 * what the adapter says of decoders. What leaves: JSON, server-sent events and a page of static files; and the same as
 * one file for an incident. Nothing here changes anything: only GET.
 *
 * <p><b>Two ways in.</b> What this process judges arrives at once, and needs no right to read a topic. The topics add
 * what happened before a restart and what other instances judge. A report says the same on either way, so the second
 * one to come changes nothing.
 *
 * <p><b>Never in the way.</b> A stream thread that reports puts an immutable value into a map and wakes readers; it
 * waits for no browser. Memory is bounded by {@link io.plumbline.topology.console.ConsoleLimits}.
 *
 * <p>The alternative was a Grafana for everybody. Dashboards are there too; but they need a Prometheus and a Grafana
 * before the first window is seen, and neither knows of angles, features or candidates.
 */
@NullMarked
package io.plumbline.topology.console;

import org.jspecify.annotations.NullMarked;
