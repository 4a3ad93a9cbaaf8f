package io.plumbline.topology.config;

import java.net.URI;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Says where metrics are pushed to.
 *
 * @param endpoint the receiver's URL, path included
 * @param events the URL that takes verdicts as events, path included; null: none are sent
 * @param interval time between two pushes
 * @param headers of each request, what they refer to put in: passwords among them, so not to be shown
 */
public record OtlpSettings(URI endpoint, @Nullable URI events, Duration interval, Map<String, String> headers) {

    public OtlpSettings {
        headers = Map.copyOf(headers);
    }

    /** Leaves out the headers. */
    @Override
    public String toString() {
        return "OtlpSettings[%s every %s]".formatted(endpoint, interval);
    }
}
