package io.plumbline.topology.config;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Says where metrics, health checks and the page are served, and to whom.
 *
 * @param bind address to listen on
 * @param port its port; 0: any free one
 * @param probePort a port of their own for {@code /healthz} and {@code /readyz}, with threads of its own; null: none;
 *     0: any free one
 * @param hosts names a request's {@code Host} may give besides those of the loopback address; empty where nothing was
 *     said
 * @param webConfig file that asks for TLS and passwords; null: neither
 * @param console whether the page is served too
 * @param basePath path under which a proxy asks, such as {@code /plumbline}; empty: none
 * @param forwardedUser header in which a proxy names who reads; null: none is believed
 */
public record HttpSettings(
        String bind,
        int port,
        @Nullable Integer probePort,
        List<String> hosts,
        @Nullable Path webConfig,
        boolean console,
        String basePath,
        @Nullable String forwardedUser) {

    public HttpSettings {
        hosts = List.copyOf(hosts);
    }
}
