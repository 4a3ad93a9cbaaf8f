/**
 * The HTTP server: one port for metrics, health, readiness and the console, with TLS, passwords and a list of answered
 * hosts.
 *
 * <p>The Prometheus client's own exporter server is not used, since it serves {@code /metrics} alone: metrics, health
 * and the console share one port, one certificate and one list of passwords here. The server itself is Jetty, and
 * bcrypt a library's.
 */
@NullMarked
package io.plumbline.topology.http;

import org.jspecify.annotations.NullMarked;
