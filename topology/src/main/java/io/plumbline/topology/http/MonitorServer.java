package io.plumbline.topology.http;

import io.plumbline.topology.config.HttpSettings;
import io.plumbline.topology.metrics.Metrics;
import io.plumbline.topology.progress.Probe;
import io.plumbline.wire.Printable;
import io.prometheus.metrics.config.EscapingScheme;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpURI;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves {@code /metrics} (Prometheus text, OpenMetrics or protocol buffers, as the client accepts), {@code /healthz}
 * and {@code /readyz} (200 {@code ok}, or 503 with a sentence).
 *
 * <p>With passwords, {@code /metrics} asks for one. The probes do not, since what asks them (an orchestrator, a load
 * balancer) seldom holds one; without a password they answer with the status and {@code ok} or {@code not ready}, and
 * keep the sentence to themselves. With TLS there is no plain HTTP. Requests for names that are not this server's are
 * refused, see {@link AnsweredHosts}; the probes answer under any name. With {@code http.base_path} everything is
 * served under that path too, for a proxy that keeps it.
 *
 * <p>Slow, half-sent or renewed requests hold connections and no threads ({@link HttpListener}). Who fills all
 * connections of the port still keeps others out: where strangers reach it, {@code http.probe_port} gives the probes a
 * port and threads of their own.
 */
public final class MonitorServer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(MonitorServer.class);
    private static final int THREADS = 8;
    private static final int PROBE_THREADS = 4;
    private static final int MISDIRECTED = 421;

    private final ExpositionFormats formats = ExpositionFormats.init();
    private final Metrics metrics;
    private final Probe alive;
    private final Probe ready;
    private final AnsweredHosts hosts;
    private final HttpListener http;
    private final @Nullable HttpListener probes;
    private final @Nullable Passwords passwords;
    private final WebPages pages;
    private final String basePath;

    private MonitorServer(
            HttpSettings settings, WebConfig web, Metrics metrics, Probe alive, Probe ready, WebPages pages)
            throws IOException {
        this.pages = pages;
        basePath = settings.basePath();
        this.metrics = metrics;
        this.alive = alive;
        this.ready = ready;
        passwords = web.users().isEmpty() ? null : new Passwords(web.users());
        InetAddress address = InetAddress.getByName(settings.bind());
        hosts = AnsweredHosts.of(address, settings.bind(), settings.hosts());
        http = listen("http.port", THREADS, address, settings.port(), web.tls(), answering(false));
        Integer own = settings.probePort();
        try {
            probes = own == null
                    ? null
                    : listen("http.probe_port", PROBE_THREADS, address, own, web.tls(), answering(true));
        } catch (IOException e) {
            http.close();
            throw e;
        }
    }

    private static HttpListener listen(
            String key, int threads, InetAddress address, int port, @Nullable ServerTls tls, Handler handler)
            throws IOException {
        try {
            String name = key.replaceAll("[._]", "-");
            return HttpListener.start(name, threads, new InetSocketAddress(address, port), tls, handler);
        } catch (IOException e) {
            throw new IOException(
                    ("metrics: cannot listen on %s:%d: %s; stop what listens there, or set %s to another (0: "
                                    + "any free one)")
                            .formatted(address.getHostAddress(), port, e.getMessage(), key),
                    e);
        }
    }

    /**
     * Starts to listen.
     *
     * @param web TLS and passwords
     * @param pages what else is served, under the same rules of access
     * @throws IOException when an address cannot be bound, named in the message
     */
    public static MonitorServer start(
            HttpSettings settings, WebConfig web, Metrics metrics, Probe alive, Probe ready, WebPages pages)
            throws IOException {
        MonitorServer server = new MonitorServer(settings, web, metrics, alive, ready, pages);
        if (web.users().isEmpty() && !server.address().getAddress().isLoopbackAddress()) {
            log.warn(
                    "/metrics asks for no password: whoever reaches it learns sites, rates and verdicts: address={}\n"
                            + "name a file with basic_auth_users under http.web_config, or set http.bind: 127.0.0.1",
                    settings.bind());
        }
        return server;
    }

    /** Returns the address on which the server listens, with the port it really got. */
    public InetSocketAddress address() {
        return http.address();
    }

    /** Returns the address of the probes where they have a port of their own, else {@link #address}. */
    public InetSocketAddress probeAddress() {
        return probes == null ? http.address() : probes.address();
    }

    @Override
    public void close() {
        http.close();
        if (probes != null) {
            probes.close();
        }
    }

    private Handler answering(boolean onlyProbes) {
        return new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) {
                String method = request.getMethod();
                if (!method.equals("GET") && !method.equals("HEAD")) {
                    response.getHeaders().put(HttpHeader.ALLOW, "GET, HEAD");
                    WebAnswer.text(405, "this method is not supported here; use GET")
                            .send(response, callback);
                    return true;
                }
                Request inside = withoutBasePath(request);
                WebAnswer answer = answer(inside, response, onlyProbes);
                if (answer == null) {
                    pages.answer(inside, response, callback);
                } else {
                    answer.send(response, callback);
                }
                return true;
            }
        };
    }

    /**
     * Returns the request as it would be without the base path, or itself: what asks the process and not the proxy, and
     * a proxy that takes the path away, ask without it.
     */
    private Request withoutBasePath(Request request) {
        HttpURI asked = request.getHttpURI();
        String path = asked.getPath();
        return basePath.isEmpty() || path == null || !path.startsWith(basePath + "/")
                ? request
                : Request.serveAs(request, HttpURI.build(asked).path(path.substring(basePath.length())));
    }

    /** Returns the answer, or null where one of the pages is asked for by somebody who may see it. */
    private @Nullable WebAnswer answer(Request request, Response response, boolean onlyProbes) {
        String path = Request.getPathInContext(request);
        try {
            if (path.equals("/healthz") || path.equals("/readyz")) {
                return probe(path.equals("/healthz") ? alive : ready, isKnown(request));
            }
            if (onlyProbes) {
                return WebAnswer.text(404, "nothing here; this port has /healthz and /readyz");
            }
            String foreign = hosts.refusal(request);
            if (foreign != null) {
                return WebAnswer.text(MISDIRECTED, foreign);
            }
            Passwords.Verdict verdict = verdict(request);
            if (verdict != Passwords.Verdict.RIGHT) {
                return refused(response, verdict);
            }
            if (pages.has(path)) {
                return null;
            }
            if (path.equals(basePath)) {
                // The page's links are relative to the folder that it is in.
                response.getHeaders().put(HttpHeader.LOCATION, basePath + "/");
                return WebAnswer.text(308, "the page is at %s/".formatted(basePath));
            }
            return path.equals("/metrics")
                    ? scrape(request.getHeaders().get(HttpHeader.ACCEPT))
                    : WebAnswer.text(404, "nothing here; try /metrics, /healthz or /readyz");
        } catch (IOException | RuntimeException e) {
            metrics.failed();
            log.warn("a request failed, answered 500; the stream goes on: path={}", Printable.value(path), e);
            return WebAnswer.text(500, path + " failed" + (passwords == null ? ": " + e.getMessage() : ""));
        }
    }

    /** Writes a scrape to memory first: one that fails half-way must not look like one that ended. */
    private WebAnswer scrape(@Nullable String accept) throws IOException {
        ExpositionFormatWriter writer = writer(accept == null ? "" : accept);
        ByteArrayOutputStream body = new ByteArrayOutputStream(1 << 16);
        writer.write(body, metrics.scrape(), EscapingScheme.UNDERSCORE_ESCAPING);
        return new WebAnswer(200, writer.getContentType(), body.toByteArray());
    }

    /** Returns the first form of these that the client accepts: what asks for protocol buffers accepts text as well. */
    private ExpositionFormatWriter writer(String accept) {
        if (formats.getPrometheusProtobufWriter().accepts(accept)) {
            return formats.getPrometheusProtobufWriter();
        }
        return accept.contains("application/openmetrics-text")
                ? formats.getOpenMetricsTextFormatWriter()
                : formats.getPrometheusTextFormatWriter();
    }

    /**
     * Returns whether the caller is known; a password that is not needed is still looked at: it decides how much the
     * answer shows.
     */
    private boolean isKnown(Request request) {
        boolean isTold = request.getHeaders().contains(HttpHeader.AUTHORIZATION);
        return passwords == null || (isTold && verdict(request) == Passwords.Verdict.RIGHT);
    }

    private Passwords.Verdict verdict(Request request) {
        return passwords == null
                ? Passwords.Verdict.RIGHT
                : passwords.check(request.getHeaders().get(HttpHeader.AUTHORIZATION));
    }

    private static WebAnswer refused(Response response, Passwords.Verdict verdict) {
        if (verdict == Passwords.Verdict.BUSY) {
            response.getHeaders().put(HttpHeader.RETRY_AFTER, "1");
            return WebAnswer.text(429, "other passwords are being looked at; ask again");
        }
        response.getHeaders().put(HttpHeader.WWW_AUTHENTICATE, "Basic realm=\"plumbline\", charset=\"UTF-8\"");
        return WebAnswer.text(401, "a user and a password of http.web_config are needed");
    }

    private static WebAnswer probe(Probe probe, boolean tellsWhy) {
        Optional<String> complaint = probe.complaint();
        return complaint
                .map(sentence -> WebAnswer.text(503, tellsWhy ? sentence : "not ready"))
                .orElseGet(() -> WebAnswer.text(200, "ok"));
    }
}
