/**
 * The HTTP server: one port for metrics, health, readiness and the console, with TLS, passwords and a list of answered
 * hosts.
 */
@NullMarked
package io.plumbline.topology.http;

import org.jspecify.annotations.NullMarked;
