package io.plumbline.topology.console;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.assessment.Json;
import io.plumbline.topology.assessment.WindowReport;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.emission.DecoderManifest;
import io.plumbline.topology.metrics.WebPages;
import io.plumbline.topology.windows.RowAccount;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The page, its JSON and its events under {@code /} and {@code /api}, described in {@code deploy/CONSOLE.md}.
 *
 * <p><b>Nothing from outside runs.</b> The content security policy lets the page load its own files and nothing else, run no inline script
 * and make no markup of text; names of sites are text wherever they stand.
 *
 * <p>The {@code on} methods are called on stream threads and by the subscriber of decoders: they do not block. Thread-safe.
 */
public final class Console implements WebPages, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Console.class);

    private static final Map<String, String> HEADERS = Map.of(
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
            "X-Content-Type-Options",
            "nosniff",
            "X-Frame-Options",
            "DENY",
            "Referrer-Policy",
            "no-referrer",
            "Cross-Origin-Opener-Policy",
            "same-origin",
            "Cross-Origin-Resource-Policy",
            "same-origin",
            "Cache-Control",
            "no-store");

    private static final String JSON = "application/json; charset=utf-8";
    private static final String API = "/api/";
    private static final String SITES = "/api/sites";
    private static final String EVENTS = "/api/events";

    private record Answer(int status, String contentType, byte[] body) {
        static Answer json(int status, Object value) {
            return new Answer(status, JSON, Json.bytes(value));
        }

        static Answer problem(int status, String sentence) {
            return json(status, new ConsoleViews.Problem(ConsoleViews.SCHEMA, sentence));
        }
    }

    private final MonitorConfig config;
    private final ConsoleLimits limits;
    private final ConsoleModel model;
    private final ConsoleApi api;
    private final EventStreams streams;
    private final StaticFiles files = new StaticFiles();
    private @Nullable ReportFeed feed;

    private Console(MonitorConfig config) {
        this.config = config;
        limits = ConsoleLimits.of(config.sites().size());
        Events events = new Events(ConsoleLimits.EVENTS);
        model = new ConsoleModel(config.sites().keySet(), limits, events);
        api = new ConsoleApi(config, model);
        streams = new EventStreams(events, System.currentTimeMillis());
    }

    /** A page about the sites of a configuration, without any window yet. */
    public static Console of(MonitorConfig config) {
        return new Console(config);
    }

    /** Begins to read what was reported before, and by others. Once. */
    public void readReports() {
        model.readingPast();
        feed = ReportFeed.start(config, model, limits);
    }

    public void onReport(WindowReport report) {
        guarded(() -> model.window(report));
    }

    public void onAccount(String site, RowAccount account) {
        guarded(() -> model.account(site, account));
    }

    public void onDeadLetter(String reason) {
        guarded(() -> model.deadLetter(reason));
    }

    public void onAdaptation(AdaptationReport report) {
        guarded(() -> model.adaptation(report));
    }

    public void onDecoder(String site, DecoderManifest manifest) {
        guarded(() -> model.published(site, manifest));
    }

    public void onSwapState(String site, SwapState state) {
        guarded(() -> model.swaps(site, state));
    }

    public void onRefused(String site, long version, String reason) {
        guarded(() -> model.refused(site, version, reason));
    }

    /** A page that fails must not stop what it shows. */
    private static void guarded(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            LOG.warn("the console could not take what happened; the stream goes on", e);
        }
    }

    @Override
    public boolean has(String path) {
        return path.startsWith(API) || files.file(path) != null;
    }

    @Override
    public void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getRawPath();
        Headers headers = exchange.getResponseHeaders();
        HEADERS.forEach(headers::set);
        if (path.equals(EVENTS) && exchange.getRequestMethod().equals("GET")) {
            String place = exchange.getRequestHeaders().getFirst("Last-Event-ID");
            if (!streams.follow(exchange, place == null ? query(exchange).get("after") : place)) {
                headers.set("Retry-After", "5");
                send(
                        exchange,
                        Answer.problem(503, "%d browsers follow already; close one".formatted(ConsoleLimits.CLIENTS)));
            }
            return;
        }
        Answer answer;
        try {
            answer = path.startsWith(API) ? api(exchange, path) : page(path);
        } catch (IllegalArgumentException refused) {
            answer = Answer.problem(400, String.valueOf(refused.getMessage()));
        } catch (RuntimeException e) {
            LOG.warn("{} failed, answered 500; the stream goes on", path, e);
            answer = Answer.problem(500, "this answer could not be made; the log of the process says why");
        }
        send(exchange, answer);
    }

    private Answer page(String path) {
        StaticFiles.File file = files.file(path);
        return file == null
                ? Answer.problem(404, "nothing here; try /")
                : new Answer(200, file.contentType(), file.bytes());
    }

    private Answer api(HttpExchange exchange, String path) {
        if (path.equals(SITES)) {
            return Answer.json(200, api.overview(streams.place()));
        }
        String[] words = path.split("/", -1);
        if (!path.startsWith(SITES + "/") || words.length < 4 || words.length > 5) {
            return Answer.problem(404, "nothing here; deploy/CONSOLE.md lists what is");
        }
        String name = URLDecoder.decode(words[3].replace("+", "%2B"), StandardCharsets.UTF_8);
        SiteHistory site = api.site(name);
        if (site == null) {
            return Answer.problem(404, "no site of this name is configured here; /api/sites lists those that are");
        }
        String what = words.length == 4 ? "" : words[4];
        return switch (what) {
            case "" -> Answer.json(200, api.summary(site));
            case "windows" ->
                Answer.json(200, new ConsoleViews.Windows(ConsoleViews.SCHEMA, name, windows(site, query(exchange))));
            case "windows.csv" -> csv(exchange, site);
            case "spectrum" -> Answer.json(200, api.angles(site));
            case "features" -> Answer.json(200, api.features(site));
            case "decoders" -> Answer.json(200, api.decoders(site));
            default ->
                Answer.problem(404, "a site has windows, windows.csv, spectrum, features and decoders, nothing else");
        };
    }

    private Answer csv(HttpExchange exchange, SiteHistory site) {
        List<WindowPoint> windows = windows(site, query(exchange));
        String file = site.site().replaceAll("[^a-zA-Z0-9._-]", "_");
        exchange.getResponseHeaders()
                .set("Content-Disposition", "attachment; filename=\"windows-%s.csv\"".formatted(file));
        return new Answer(200, "text/csv; charset=utf-8", Csv.of(windows).getBytes(StandardCharsets.UTF_8));
    }

    private List<WindowPoint> windows(SiteHistory site, Map<String, String> query) {
        return api.windows(site, time(query, "from_ms", Long.MIN_VALUE), time(query, "to_ms", Long.MAX_VALUE));
    }

    private static long time(Map<String, String> query, String key, long otherwise) {
        String text = query.get(key);
        try {
            return text == null ? otherwise : Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(key + ": expected milliseconds since 1970 UTC", e);
        }
    }

    private static Map<String, String> query(HttpExchange exchange) {
        Map<String, String> query = new HashMap<>();
        String raw = exchange.getRequestURI().getRawQuery();
        for (String pair : raw == null ? new String[0] : raw.split("&", -1)) {
            int equals = pair.indexOf('=');
            if (equals > 0) {
                query.put(
                        pair.substring(0, equals),
                        URLDecoder.decode(pair.substring(equals + 1), StandardCharsets.UTF_8));
            }
        }
        return query;
    }

    private static void send(HttpExchange exchange, Answer answer) throws IOException {
        try (exchange) {
            exchange.getResponseHeaders().set("Content-Type", answer.contentType());
            if (exchange.getRequestMethod().equals("HEAD")) {
                exchange.sendResponseHeaders(answer.status(), -1);
            } else {
                exchange.sendResponseHeaders(answer.status(), answer.body().length == 0 ? -1 : answer.body().length);
                exchange.getResponseBody().write(answer.body());
            }
        }
    }

    @Override
    public void close() {
        if (feed != null) {
            feed.close();
        }
        streams.close();
    }
}
