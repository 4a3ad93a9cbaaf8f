package io.plumbline.topology.metrics;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsServer;
import io.prometheus.metrics.config.EscapingScheme;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
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
 * <p>With passwords, {@code /metrics} asks for one. The probes do not, since what asks them (an orchestrator, a load balancer) seldom holds
 * one; without a password they answer with the status and {@code ok} or {@code not ready}, and keep the sentence to themselves. With
 * TLS there is no plain HTTP.
 *
 * <p>Four threads and a short queue: a client that asks faster than it is answered is disconnected, and nothing grows. A client that does
 * not finish its request, its TLS handshake or the taking of its answer is cut off after ten seconds, one whose headers are larger than
 * 16 KiB at once, and 256 connections are open at most (the JDK server's own limits, which are off unless set before the first server of
 * the process; values set on the command line win). What a client sends as a body is not read. Threads are daemons.
 */
public final class MonitorServer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(MonitorServer.class);
    private static final int THREADS = 4;
    private static final int WAITING = 32;

    /** The JDK server's own limits: seconds for request and answer, bytes of all headers, open connections. */
    private static final Map<String, String> LIMITS = Map.of(
            "sun.net.httpserver.maxReqTime", "10",
            "sun.net.httpserver.maxRspTime", "10",
            "sun.net.httpserver.maxReqHeaderSize", "16384",
            "jdk.httpserver.maxConnections", "256");

    static {
        LIMITS.forEach((limit, value) -> {
            if (System.getProperty(limit) == null) {
                System.setProperty(limit, value);
            }
        });
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
    private final @Nullable Passwords passwords;
    private final WebPages pages;

    private MonitorServer(
            InetSocketAddress address, WebConfig web, Metrics metrics, Probe alive, Probe ready, WebPages pages)
            throws IOException {
        this.pages = pages;
        this.metrics = metrics;
        this.alive = alive;
        this.ready = ready;
        passwords = web.users().isEmpty() ? null : new Passwords(web.users());
        http = listen(address, web.tls());
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

    private static HttpServer listen(InetSocketAddress address, @Nullable ServerTls tls) throws IOException {
        if (tls == null) {
            return HttpServer.create(address, WAITING);
        }
        HttpsServer https = HttpsServer.create(address, WAITING);
        https.setHttpsConfigurator(tls.configurator());
        return https;
    }

    /** Listens on the loopback address only, plain and without passwords; port 0 takes a free one. */
    public static MonitorServer onLoopback(int port, Metrics metrics, Probe alive, Probe ready) throws IOException {
        return start(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                WebConfig.NONE,
                metrics,
                alive,
                ready,
                WebPages.NONE);
    }

    /**
     * Listens on the given address.
     *
     * @param web TLS and passwords
     * @param pages what else is served, under the same rules of access
     * @throws IOException when the address cannot be bound, named in the message
     */
    public static MonitorServer start(
            InetSocketAddress address, WebConfig web, Metrics metrics, Probe alive, Probe ready, WebPages pages)
            throws IOException {
        if (web.users().isEmpty() && !address.getAddress().isLoopbackAddress()) {
            log.warn(
                    "/metrics listens on {} and asks for no password: whoever reaches it learns sites, rates and verdicts; name a file with basic_auth_users under http.web_config, or http.bind: 127.0.0.1",
                    address.getHostString());
        }
        MonitorServer server;
        try {
            server = new MonitorServer(address, web, metrics, alive, ready, pages);
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
        String method = exchange.getRequestMethod();
        Answer answer;
        if (method.equals("GET") || method.equals("HEAD")) {
            answer = answer(exchange);
        } else {
            exchange.getResponseHeaders().set("Allow", "GET, HEAD");
            answer = Answer.text(405, method + " is not supported here; use GET");
        }
        if (answer == null) {
            pages.answer(exchange);
            return;
        }
        try (exchange) {
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

    /** Null: one of the pages, and who asks may see it. */
    private @Nullable Answer answer(HttpExchange exchange) {
        String path = exchange.getRequestURI().getPath();
        try {
            return switch (path) {
                case "/healthz" -> probe(alive, isKnown(exchange));
                case "/readyz" -> probe(ready, isKnown(exchange));
                default -> {
                    Passwords.Verdict verdict = verdict(exchange);
                    if (verdict != Passwords.Verdict.RIGHT) {
                        yield refused(exchange, verdict);
                    }
                    if (pages.has(path)) {
                        yield null;
                    }
                    yield path.equals("/metrics")
                            ? scrape(exchange.getRequestHeaders().getFirst("Accept"))
                            : Answer.text(404, "nothing here; try /metrics, /healthz or /readyz");
                }
            };
        } catch (IOException | RuntimeException e) {
            metrics.failed();
            log.warn("{} failed, answered 500; the stream goes on", path, e);
            return Answer.text(500, path + " failed" + (passwords == null ? ": " + e.getMessage() : ""));
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

    /** A password that is not needed is still looked at: it decides how much is told. */
    private boolean isKnown(HttpExchange exchange) {
        boolean isTold = exchange.getRequestHeaders().containsKey("Authorization");
        return passwords == null || (isTold && verdict(exchange) == Passwords.Verdict.RIGHT);
    }

    private Passwords.Verdict verdict(HttpExchange exchange) {
        return passwords == null
                ? Passwords.Verdict.RIGHT
                : passwords.check(exchange.getRequestHeaders().getFirst("Authorization"));
    }

    private static Answer refused(HttpExchange exchange, Passwords.Verdict verdict) {
        if (verdict == Passwords.Verdict.BUSY) {
            exchange.getResponseHeaders().set("Retry-After", "1");
            return Answer.text(429, "other passwords are being looked at; ask again");
        }
        exchange.getResponseHeaders().set("WWW-Authenticate", "Basic realm=\"plumbline\", charset=\"UTF-8\"");
        return Answer.text(401, "a user and a password of http.web_config are needed");
    }

    private static Answer probe(Probe probe, boolean tellsWhy) {
        Optional<String> complaint = probe.complaint();
        return complaint
                .map(sentence -> Answer.text(503, tellsWhy ? sentence : "not ready"))
                .orElseGet(() -> Answer.text(200, "ok"));
    }
}
