package io.plumbline.topology.config;

import io.plumbline.causal.DownstreamSettings;
import io.plumbline.causal.HeadDevice;
import io.plumbline.causal.HeadLocation;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Reads {@code downstream} of a site: the rest of its model, and what that may cost. */
final class DownstreamReader {

    private DownstreamReader() {}

    /**
     * Reads the settings; null where so much is wrong that no settings can be made; the mistakes are then on the list.
     */
    static @Nullable DownstreamSettings read(ConfigNode node, ConfigReader reader) {
        HeadLocation head = head(node, reader);
        int requests = node.integer("requests", DownstreamSettings.DEFAULT_REQUESTS, 1);
        if (requests > DownstreamSettings.MOST_REQUESTS) {
            node.problem(
                    "requests",
                    requests,
                    "expected at most %d: each is kept whole in every open pane"
                            .formatted(DownstreamSettings.MOST_REQUESTS));
            requests = DownstreamSettings.MOST_REQUESTS;
        }
        int ablations = node.integer("ablations", 0, 0);
        if (ablations > requests) {
            node.problem("ablations", ablations, "expected at most requests (%d)".formatted(requests));
            ablations = 0;
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
                    "expected at most %d, which is what one ONNX file holds and one answer of a worker"
                            .formatted(DownstreamSettings.MOST_MEGABYTES));
            megabytes = DownstreamSettings.MOST_MEGABYTES;
        }
        boolean gate = node.flag("gate", true);
        double growth = node.real("max_kl_growth", DownstreamSettings.DEFAULT_MAXIMUM_GROWTH, 0.0, Double.MAX_VALUE);
        node.refuseUnknownKeys();
        return new DownstreamSettings(
                head, requests, ablations, budget, timeout, share, threads, (long) megabytes << 20, gate, growth);
    }

    private static HeadLocation head(ConfigNode node, ConfigReader reader) {
        if (!node.has("worker")) {
            String file = node.required(
                    "head",
                    "",
                    "an ONNX file of the rest of the model, from what the explainer models to logits; or worker: the"
                            + " address of one");
            return new HeadLocation.InFile(reader.path(node, "head", file), device(node));
        }
        if (node.has("device")) {
            node.problem("device", node.text("device", ""), "expected only beside head: a worker has its own --device");
        }
        String worker = node.text("worker", "");
        if (node.has("head")) {
            node.problem("head", node.text("head", ""), "expected either head or worker, not both");
        }
        try {
            return HeadLocation.AtWorker.parse(worker, reader.folder());
        } catch (IllegalArgumentException refused) {
            node.problem("worker", worker, String.valueOf(refused.getMessage()));
            return new HeadLocation.InFile(reader.folder());
        }
    }

    private static HeadDevice device(ConfigNode node) {
        String device = node.text("device", HeadDevice.CPU.toString());
        try {
            return HeadDevice.parse(device);
        } catch (IllegalArgumentException refused) {
            node.problem("device", device, String.valueOf(refused.getMessage()));
            return HeadDevice.CPU;
        }
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
