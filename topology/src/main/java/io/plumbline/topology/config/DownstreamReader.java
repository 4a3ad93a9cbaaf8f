package io.plumbline.topology.config;

import io.plumbline.behaviour.DownstreamSettings;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Reads {@code downstream} of a site: the rest of its model, and what that may cost. */
final class DownstreamReader {

    private DownstreamReader() {}

    /**
     * Reads the settings; null where so much is wrong that no settings can be made; the mistakes are then on the list.
     */
    static @Nullable DownstreamSettings read(ConfigNode node, ConfigReader reader) {
        String head = node.required(
                "head", "", "an ONNX file of the rest of the model, from what the explainer models to logits");
        int requests = node.integer("requests", DownstreamSettings.DEFAULT_REQUESTS, 1);
        if (requests > DownstreamSettings.MOST_REQUESTS) {
            node.problem(
                    "requests",
                    requests,
                    "expected at most %d: each is kept whole in every open pane"
                            .formatted(DownstreamSettings.MOST_REQUESTS));
            requests = DownstreamSettings.MOST_REQUESTS;
        }
        Duration budget = positive(node, "budget", DownstreamSettings.DEFAULT_BUDGET);
        Duration timeout = positive(node, "timeout", DownstreamSettings.DEFAULT_TIMEOUT);
        double share = node.real("share", DownstreamSettings.DEFAULT_SHARE, 0.001, 1.0);
        int threads = node.integer("threads", DownstreamSettings.DEFAULT_THREADS, 1);
        if (threads > DownstreamSettings.MOST_THREADS) {
            node.problem("threads", threads, "expected at most %d".formatted(DownstreamSettings.MOST_THREADS));
            threads = DownstreamSettings.MOST_THREADS;
        }
        int megabytes = node.integer("max_megabytes", DownstreamSettings.MOST_MEGABYTES, 1);
        if (megabytes > DownstreamSettings.MOST_MEGABYTES) {
            node.problem(
                    "max_megabytes",
                    megabytes,
                    "expected at most %d, which is what one ONNX file holds"
                            .formatted(DownstreamSettings.MOST_MEGABYTES));
            megabytes = DownstreamSettings.MOST_MEGABYTES;
        }
        node.refuseUnknownKeys();
        Path file = reader.path(node, "head", head);
        return new DownstreamSettings(file, requests, budget, timeout, share, threads, (long) megabytes << 20);
    }

    private static Duration positive(ConfigNode node, String key, Duration otherwise) {
        Duration read = node.duration(key, otherwise);
        if (read.isZero()) {
            node.problem(key, "is 0: expected a time in which the head can answer, such as 2s");
            return otherwise;
        }
        return read;
    }
}
