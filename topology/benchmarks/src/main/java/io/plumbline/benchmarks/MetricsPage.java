package io.plumbline.benchmarks;

import io.plumbline.topology.runtime.PlumblineRuntime;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/**
 * The metrics page of a monitor.
 *
 * @param text as Prometheus reads it
 */
record MetricsPage(String text) {

    static final MetricsPage EMPTY = new MetricsPage("");

    static MetricsPage of(PlumblineRuntime runtime) throws IOException {
        URI address = URI.create(
                "http://127.0.0.1:%d/metrics".formatted(runtime.httpAddress().getPort()));
        try (InputStream in = address.toURL().openStream()) {
            return new MetricsPage(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    /** A counter over all its labels; 0 while nothing was counted. */
    double sumOf(String counter) {
        return text.lines()
                .filter(line -> line.startsWith(counter + "{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }
}
