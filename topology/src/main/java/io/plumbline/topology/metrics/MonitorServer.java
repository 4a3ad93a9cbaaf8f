package io.plumbline.topology.metrics;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.prometheus.metrics.config.EscapingScheme;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves {@code /metrics} (OpenMetrics or Prometheus text, as the client accepts), {@code /healthz} and {@code /readyz} (200 {@code ok}, or
 * 503 with a sentence).
 *
 * <p>Four threads and a short queue: a client that asks faster than it is answered is disconnected, and nothing grows. A client that does
 * not finish its request or does not take its answer is cut off after ten seconds (the JDK server's own limits, which are off unless set
 * before the first server of the process; values set on the command line win). Threads are daemons.
 */
public final class MonitorServer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(MonitorServer.class);
    private static final int THREADS = 4;
    private static final int WAITING = 32;

    static {
        for (String limit : new String[] {"sun.net.httpserver.maxReqTime", "sun.net.httpserver.maxRspTime"}) {
            if (System.getProperty(limit) == null) {
                System.setProperty(limit, "10");
            }
        }
    }

    private record Answer(int status, String contentType, byte[] body) {
        static Answer text(int status, String sentence) {
            return new Answer(status, "text/plain; charset=utf-8", (sentence + "\n").getBytes(StandardCharsets.UTF_8));
        }
    }

    private final ExpositionFormats formats = ExpositionFormats.init();
    private final Metrics metrics;
    private final Probe alive;
    private final Probe ready;
    private final HttpServer http;
    private final ThreadPoolExecutor threads;

    private MonitorServer(InetSocketAddress address, Metrics metrics, Probe alive, Probe ready) throws IOException {
        this.metrics = metrics;
        this.alive = alive;
        this.ready = ready;
        http = HttpServer.create(address, WAITING);
        AtomicInteger number = new AtomicInteger();
        threads = new ThreadPoolExecutor(
                THREADS, THREADS, 1, TimeUnit.MINUTES, new ArrayBlockingQueue<>(WAITING), task -> {
                    Thread thread = new Thread(task, "monitor-http-" + number.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
        http.setExecutor(threads);
        http.createContext("/", this::handle);
    }

    /** Listens on the loopback address only; port 0 takes a free one. */
    public static MonitorServer onLoopback(int port, Metrics metrics, Probe alive, Probe ready) throws IOException {
        return start(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), metrics, alive, ready);
    }

    /**
     * Listens on the given address. There is no authentication: an address other than loopback belongs behind a network policy.
     *
     * @throws IOException when the address cannot be bound, named in the message
     */
    public static MonitorServer start(InetSocketAddress address, Metrics metrics, Probe alive, Probe ready)
            throws IOException {
        MonitorServer server;
        try {
            server = new MonitorServer(address, metrics, alive, ready);
        } catch (IOException e) {
            throw new IOException(
                    "metrics: cannot listen on %s:%d: %s; stop what listens there, or set http.port to another (0: any free one)"
                            .formatted(address.getHostString(), address.getPort(), e.getMessage()),
                    e);
        }
        server.http.start();
        return server;
    }

    /** Where the server listens, with the port it really got. */
    public InetSocketAddress address() {
        return http.getAddress();
    }

    @Override
    public void close() {
        http.stop(0);
        threads.shutdownNow();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String method = exchange.getRequestMethod();
            Answer answer;
            if (method.equals("GET") || method.equals("HEAD")) {
                answer = answer(exchange);
            } else {
                exchange.getResponseHeaders().set("Allow", "GET, HEAD");
                answer = Answer.text(405, method + " is not supported here; use GET");
            }
            exchange.getResponseHeaders().set("Content-Type", answer.contentType());
            exchange.getResponseHeaders().set("Cache-Control", "no-store");
            if (method.equals("HEAD")) {
                exchange.sendResponseHeaders(answer.status(), -1);
            } else {
                exchange.sendResponseHeaders(answer.status(), answer.body().length);
                exchange.getResponseBody().write(answer.body());
            }
        }
    }

    private Answer answer(HttpExchange exchange) {
        String path = exchange.getRequestURI().getPath();
        try {
            return switch (path) {
                case "/metrics" -> scrape(exchange.getRequestHeaders().getFirst("Accept"));
                case "/healthz" -> probe(alive);
                case "/readyz" -> probe(ready);
                default -> Answer.text(404, "nothing here; try /metrics, /healthz or /readyz");
            };
        } catch (IOException | RuntimeException e) {
            metrics.failed();
            log.warn("{} failed, answered 500; the stream goes on", path, e);
            return Answer.text(500, path + " failed: " + e.getMessage());
        }
    }

    /** Written to memory first: a scrape that fails half-way must not look like one that ended. */
    private Answer scrape(@Nullable String accept) throws IOException {
        ExpositionFormatWriter writer = accept != null && accept.contains("application/openmetrics-text")
                ? formats.getOpenMetricsTextFormatWriter()
                : formats.getPrometheusTextFormatWriter();
        ByteArrayOutputStream body = new ByteArrayOutputStream(1 << 16);
        writer.write(body, metrics.scrape(), EscapingScheme.UNDERSCORE_ESCAPING);
        return new Answer(200, writer.getContentType(), body.toByteArray());
    }

    private static Answer probe(Probe probe) {
        Optional<String> complaint = probe.complaint();
        return complaint.map(sentence -> Answer.text(503, sentence)).orElseGet(() -> Answer.text(200, "ok"));
    }
}
