package io.plumbline.topology.config;

import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads where metrics are pushed to. */
final class OtlpReader {

    private static final URI USUAL = URI.create("http://127.0.0.1:4318/v1/metrics");
    private static final URI USUAL_EVENTS = URI.create("http://127.0.0.1:4318/v1/logs");
    private static final Duration USUAL_INTERVAL = Duration.ofSeconds(30);
    private static final Duration SHORTEST_INTERVAL = Duration.ofSeconds(1);

    private OtlpReader() {}

    /**
     * Returns the settings, or null where nothing is pushed.
     *
     * @param secrets learns the headers
     */
    static @Nullable OtlpSettings read(ConfigNode metrics, Secrets secrets, Path folder, List<String> problems) {
        OtlpSettings settings = metrics.has("otlp") ? settings(metrics.child("otlp"), secrets, folder, problems) : null;
        metrics.refuseUnknownKeys();
        return settings;
    }

    private static OtlpSettings settings(ConfigNode node, Secrets secrets, Path folder, List<String> problems) {
        node.required("endpoint", USUAL.toString(), "the URL of a receiver, such as " + USUAL);
        URI endpoint = url(node, "endpoint", USUAL);
        URI events = node.has("events") ? url(node, "events", USUAL_EVENTS) : null;
        Duration interval = node.duration("interval", USUAL_INTERVAL);
        if (interval.compareTo(SHORTEST_INTERVAL) < 0) {
            node.problem("interval", DurationText.format(interval), "expected at least 1s");
        }
        Map<String, String> headers = headers(node, secrets, folder, problems);
        node.refuseUnknownKeys();
        return new OtlpSettings(endpoint, events, interval, headers);
    }

    /** Reads the URL. No message shows it, since a password may stand in it all the same. */
    private static URI url(ConfigNode node, String key, URI usual) {
        String text = node.text(key, usual.toString());
        URI uri;
        try {
            uri = URI.create(text);
        } catch (IllegalArgumentException broken) {
            uri = URI.create("");
        }
        boolean isHttp = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
        if (!isHttp || uri.getHost() == null) {
            node.problem(key, "is no URL of a receiver: expected one such as " + usual);
        } else if (uri.getUserInfo() != null || uri.getQuery() != null) {
            node.problem(key, "holds a login or a query: expected a URL without, and keys under headers");
        }
        return uri;
    }

    /** Reads the headers, whose values no message shows either. */
    private static Map<String, String> headers(ConfigNode otlp, Secrets secrets, Path folder, List<String> problems) {
        if (otlp.has("headers") && !otlp.isMapping("headers")) {
            otlp.problem("headers", "is not a mapping: expected one of names to values");
            return Map.of();
        }
        ConfigNode node = otlp.child("headers");
        Map<String, String> headers = new LinkedHashMap<>();
        for (String name : node.keys()) {
            String value = node.isContainer(name) ? null : node.textOrNull(name);
            if (value == null) {
                node.problem(name, "is not one value: expected one");
            } else {
                headers.put(name, value);
            }
        }
        secrets.resolveHeaders(headers, folder, System::getenv, problems);
        headers.forEach((name, value) -> {
            try {
                HttpRequest.newBuilder().header(name, value);
            } catch (IllegalArgumentException refused) {
                // The message of the refusal may show the value, which may be a password.
                node.problem(name, "is no header that can be sent: expected a name such as Authorization and one line");
            }
        });
        return headers;
    }
}
