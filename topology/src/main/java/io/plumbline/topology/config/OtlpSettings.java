package io.plumbline.topology.config;

import java.net.URI;
import java.time.Duration;
import java.util.Map;

/**
 * Says where metrics are pushed to.
 *
 * @param endpoint the receiver's URL, path included
 * @param interval time between two pushes
 * @param headers of each request, what they refer to put in: passwords among them, so not to be shown
 */
public record OtlpSettings(URI endpoint, Duration interval, Map<String, String> headers) {

    public OtlpSettings {
        headers = Map.copyOf(headers);
    }

    /** Leaves out the headers. */
    @Override
    public String toString() {
        return "OtlpSettings[%s every %s]".formatted(endpoint, interval);
    }
}
