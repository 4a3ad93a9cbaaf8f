package io.plumbline.topology.console;

import io.plumbline.topology.adaptation.AdaptationListener;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.baselines.BaselineHistory;
import io.plumbline.topology.baselines.BaselineListener;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.emission.DecoderListener;
import io.plumbline.topology.emission.PublishedDecoder;
import io.plumbline.topology.http.WebAnswer;
import io.plumbline.topology.http.WebPages;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.ingest.IngestListener;
import io.plumbline.topology.panes.RowAccount;
import io.plumbline.topology.progress.Probe;
import io.plumbline.topology.reload.ConfigVersion;
import io.plumbline.topology.reload.ReloadListener;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.ModelReport;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.topology.windows.WindowListener;
import io.plumbline.wire.Printable;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the page, its JSON and its events under {@code /} and {@code /api}, described in
 * {@code docs/use/console.md}.
 *
 * <p><b>Nothing from outside runs.</b> The content security policy lets the page load its own files and nothing else,
 * run no inline script and make no markup of text; names of sites are text wherever they stand.
 *
 * <p>It listens to the stages and to the subscriber of decoders, and hears what a person looks at. When a site leaves
 * this instance, it goes on with what the instance that judges the site writes to the topic. Never blocks. Thread-safe.
 */
public final class Console
        implements WebPages,
                IngestListener,
                WindowListener,
                DriftListener,
                AdaptationListener,
                DecoderListener,
                ReloadListener,
                BaselineListener,
                AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Console.class);

    private static final Map<String, String> HEADERS = Map.of(
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri"
                    + " 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script';"
                    + " trusted-types 'none'",
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
    private static final int LONGEST_READER = 200;

    private static WebAnswer json(int status, Object value) {
        return new WebAnswer(status, JSON, Json.bytes(value));
    }

    private static WebAnswer problem(int status, String sentence) {
        return json(status, new ConsoleViews.Problem(ConsoleViews.SCHEMA, sentence));
    }

    private final MonitorConfig config;
    private final Probe ready;
    private final ConsoleLimits limits;
    private final ConsoleModel model;
    private final ConsoleApi api;
    private final EventStreams streams;
    private final StaticFiles files = new StaticFiles();
    private @Nullable ReportFeed feed;

    private Console(MonitorConfig config, Probe ready) {
        this.config = config;
        this.ready = ready;
        limits = ConsoleLimits.of(config.sites().size());
        Events events = new Events(ConsoleLimits.EVENTS);
        model = new ConsoleModel(config.sites().keySet(), config.models().values(), limits, events);
        api = new ConsoleApi(config, model);
        streams = new EventStreams(events, System.currentTimeMillis());
    }

    /**
     * Returns a page about the sites of a configuration, without any window yet.
     *
     * @param ready asked whether what the page shows goes on
     */
    public static Console of(MonitorConfig config, Probe ready) {
        return new Console(config, ready);
    }

    /** Begins to read what was reported before, and by others. Once. */
    public void readReports() {
        model.readingPast();
        feed = ReportFeed.start(config, model, limits);
    }

    @Override
    public void onConfiguration(MonitorConfig next, String sha256, @Nullable ConfigVersion version) {
        guarded(() -> api.takeOver(next));
    }

    @Override
    public void onReport(WindowReport report, long nanoseconds) {
        guarded(() -> model.window(report));
    }

    @Override
    public void onModelReport(ModelReport report) {
        guarded(() -> model.model(report));
    }

    @Override
    public void onAccount(String site, RowAccount account) {
        guarded(() -> model.account(site, account));
    }

    @Override
    public void onDeadLetter(DeadLetter.Reason reason) {
        guarded(() -> model.deadLetter(reason.label()));
    }

    @Override
    public void onAdaptation(AdaptationReport report) {
        guarded(() -> model.adaptation(report));
    }

    @Override
    public void onDecoder(PublishedDecoder decoder) {
        guarded(() -> model.published(decoder.site(), decoder.manifest()));
    }

    @Override
    public void onBaselines(BaselineHistory history) {
        guarded(() -> model.baselines(history));
    }

    @Override
    public void onSwapState(String site, SwapState state) {
        guarded(() -> model.swaps(site, state));
    }

    @Override
    public void onRefused(String site, long version, String reason) {
        guarded(() -> model.refused(site, version, reason));
    }

    /** Does nothing: the page shows no records of other programs. */
    @Override
    public void onForeign() {}

    /** Runs a step so that a page that fails does not stop what it shows. */
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
    public void answer(Request request, Response response, Callback callback) {
        String path = request.getHttpURI().getPath();
        logReader(request, path);
        HEADERS.forEach(response.getHeaders()::put);
        WebAnswer answer;
        try {
            if (Route.of(path) == Route.EVENTS && request.getMethod().equals("GET")) {
                String place = request.getHeaders().get("Last-Event-ID");
                if (streams.follow(
                        response, callback, place == null ? query(request).get("after") : place)) {
                    return;
                }
                response.getHeaders().put(HttpHeader.RETRY_AFTER, "5");
                answer = problem(503, "%d browsers follow already; close one".formatted(ConsoleLimits.CLIENTS));
            } else {
                answer = path.startsWith(API) ? api(request, response, path) : page(path);
            }
        } catch (IllegalArgumentException refused) {
            answer = problem(400, String.valueOf(refused.getMessage()));
        } catch (RuntimeException e) {
            LOG.warn("a request failed, answered 500; the stream goes on: path={}", Printable.value(path), e);
            answer = problem(500, "this answer could not be made; the log of the process says why");
        }
        answer.send(response, callback);
    }

    /** Says in the log who opens the page, where a proxy says so. */
    private void logReader(Request request, String path) {
        String reader = path.equals("/") || path.equals("/index.html") ? reader(request) : null;
        if (reader != null) {
            LOG.info("somebody opened the console: reader={}", Printable.value(reader));
        }
    }

    /** Returns whom the proxy names; null where none is believed, where it names nobody, or more than one name came. */
    private @Nullable String reader(Request request) {
        String header = config.http().forwardedUser();
        List<String> names = header == null ? List.of() : request.getHeaders().getValuesList(header);
        if (names.size() != 1 || names.get(0).isBlank()) {
            return null;
        }
        return Printable.of(names.get(0).strip(), LONGEST_READER);
    }

    private WebAnswer page(String path) {
        StaticFiles.File file = files.file(path);
        return file == null
                ? problem(404, "nothing here; try /")
                : new WebAnswer(200, file.contentType(), file.bytes());
    }

    private WebAnswer api(Request request, Response response, String path) {
        Route route = Route.of(path);
        if (route == null) {
            return problem(404, "nothing here; docs/use/console.md lists what is");
        }
        return switch (route) {
            case SITES -> json(200, api.overview(streams.place(), reader(request)));
            case READY ->
                json(
                        200,
                        new ConsoleViews.Ready(
                                ConsoleViews.SCHEMA, ready.complaint().orElse(null)));
            case EVENTS -> problem(405, "events are followed with GET");
            case SITE, WINDOWS, WINDOWS_CSV, REPORTS, DECODERS, BASELINES -> ofSite(request, response, route, path);
        };
    }

    private WebAnswer ofSite(Request request, Response response, Route route, String path) {
        String name = URLDecoder.decode(path.split("/", -1)[3].replace("+", "%2B"), StandardCharsets.UTF_8);
        SiteHistory site = api.site(name);
        if (site == null) {
            return problem(404, "no site of this name is configured here; /api/sites lists those that are");
        }
        return switch (route) {
            case WINDOWS ->
                json(200, new ConsoleViews.Windows(ConsoleViews.SCHEMA, name, windows(site, query(request))));
            case WINDOWS_CSV -> csv(request, response, site);
            case REPORTS -> json(200, api.reports(site));
            case DECODERS -> json(200, api.decoders(site));
            case BASELINES -> json(200, api.baselines(site));
            default -> json(200, api.summary(site));
        };
    }

    private WebAnswer csv(Request request, Response response, SiteHistory site) {
        List<WindowPoint> windows = windows(site, query(request));
        String file = site.site().replaceAll("[^a-zA-Z0-9._-]", "_");
        response.getHeaders().put("Content-Disposition", "attachment; filename=\"windows-%s.csv\"".formatted(file));
        return new WebAnswer(200, "text/csv; charset=utf-8", Csv.of(windows).getBytes(StandardCharsets.UTF_8));
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

    private static Map<String, String> query(Request request) {
        Map<String, String> query = new HashMap<>();
        String raw = request.getHttpURI().getQuery();
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

    @Override
    public void close() {
        if (feed != null) {
            feed.close();
        }
        streams.close();
    }
}
