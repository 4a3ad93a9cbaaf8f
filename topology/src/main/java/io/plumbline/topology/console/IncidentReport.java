package io.plumbline.topology.console;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.models.ModelSettings;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.ModelReport;
import io.plumbline.topology.report.WindowReport;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Writes one site, or one model, and period as a file that needs nothing else: the console's page with the answers of
 * {@code /api} inside. A person attaches it to an incident, so that it can still be read when the topic's retention is
 * over.
 *
 * <p><b>One file.</b> The page holds its styles, icon and modules, and an import map names the modules. The answers are
 * JSON in an element that {@code feed.js} reads in place of asking a monitor.
 *
 * <p><b>Nothing from outside runs.</b> The content security policy allows no connection, no markup made of text, and
 * only scripts with the nonce of this file; no text of the JSON ends its element. Commands are left out: they name
 * brokers, and what they would change may be different when the file is read.
 */
public final class IncidentReport {

    private static final Pattern STYLE = Pattern.compile("<link rel=\"stylesheet\" href=\"([^\"]+)\">");
    private static final String ENCODING = "<meta charset=\"utf-8\">";
    private static final String ICON = "\"icon.svg\"";
    private static final String ENTRY = "<script type=\"module\" src=\"app.js\"></script>";

    /** The most sites of a model whose pages are in its file: the worst, and the first. */
    private static final int MOST_SITES = 8;

    /**
     * The element that {@code feed.js} reads.
     *
     * @param site whose page is shown first; null: the overview
     * @param answers by site and the part of their path behind it
     */
    private record Recorded(
            @Nullable String site, long writtenMs, JsonNode overview, Map<String, Map<String, Object>> answers) {}

    private IncidentReport() {}

    /**
     * Returns the file.
     *
     * @param windows at least one, in any order; of a window reported twice the last report counts
     * @param adaptations reports about the site, or about all target layers of the site that it belongs to
     */
    public static String html(
            MonitorConfig config, String site, List<WindowReport> windows, List<AdaptationReport> adaptations) {
        ConsoleModel model = new ConsoleModel(List.of(site), List.of(), ConsoleLimits.NONE, new Events(1));
        windows.forEach(model::window);
        adaptations.forEach(model::adaptation);
        return page(recorded(new ConsoleApi(config, model), site, List.of(site)));
    }

    /**
     * Returns the file of a model: its map, and the pages of the sites that were above their thresholds, those first
     * that were so in most windows.
     *
     * @param reports of the model, in any order
     * @param windows of its sites, in any order
     * @param adaptations reports about its sites
     */
    public static String html(
            MonitorConfig config,
            ModelSettings settings,
            List<ModelReport> reports,
            List<WindowReport> windows,
            List<AdaptationReport> adaptations) {
        ConsoleModel model = new ConsoleModel(settings.sites(), List.of(settings), ConsoleLimits.NONE, new Events(1));
        windows.forEach(model::window);
        adaptations.forEach(model::adaptation);
        reports.forEach(model::model);
        Map<String, Long> above = reports.stream()
                .flatMap(report -> report.sitesAbove().stream())
                .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
        List<String> worst = settings.sites().stream()
                .filter(above::containsKey)
                .sorted(Comparator.comparing(above::get, Comparator.reverseOrder()))
                .limit(MOST_SITES)
                .toList();
        return page(recorded(new ConsoleApi(config, model), null, worst));
    }

    private static Recorded recorded(ConsoleApi api, @Nullable String first, List<String> sites) {
        ObjectNode overview = (ObjectNode) Json.tree(api.overview("", null));
        overview.remove("dead_letters_command");
        Map<String, Map<String, Object>> answers = new LinkedHashMap<>();
        sites.forEach(site -> answers.put(site, answers(api, site)));
        return new Recorded(first, System.currentTimeMillis(), overview, answers);
    }

    private static Map<String, Object> answers(ConsoleApi api, String name) {
        SiteHistory site = Objects.requireNonNull(api.site(name), name);
        ObjectNode decoders = (ObjectNode) Json.tree(api.decoders(site));
        decoders.putObject("commands");
        return Map.of(
                "",
                api.summary(site),
                "windows",
                new ConsoleViews.Windows(ConsoleViews.SCHEMA, name, site.windows()),
                "reports",
                api.reports(site),
                "decoders",
                decoders);
    }

    private static String page(Recorded recorded) {
        String nonce = UUID.randomUUID().toString();
        String policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';"
                + " script-src 'nonce-%1$s'; style-src 'nonce-%1$s'; img-src data:; base-uri 'none';"
                + " form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'\">";
        String style = "<style nonce=\"%s\">\n%s</style>";
        String scripts = """
                <script type="application/json" id="record">%2$s</script>
                <script type="importmap" nonce="%1$s">%3$s</script>
                <script type="module" nonce="%1$s">import "app.js";</script>""";
        String page = text("index.html")
                .replace(ENCODING, ENCODING + '\n' + policy.formatted(nonce))
                .replace(ICON, '"' + data("image/svg+xml", text("icon.svg")) + '"');
        page = STYLE.matcher(page)
                .replaceAll(link -> Matcher.quoteReplacement(style.formatted(nonce, text(link.group(1)))));
        // Last, so that nothing is looked for in what the data says.
        return page.replace(ENTRY, scripts.formatted(nonce, json(recorded), json(Map.of("imports", modules()))));
    }

    /** Returns the modules by names that are not relative: a module in a data URL has no neighbours. */
    private static Map<String, String> modules() {
        return StaticFiles.NAMES.stream()
                .filter(name -> name.endsWith(".js"))
                .collect(Collectors.toMap(
                        name -> name, name -> data("text/javascript", text(name).replace("from \"./", "from \""))));
    }

    private static String json(Object value) {
        return Json.text(value).replace("<", "\\u003c");
    }

    private static String data(String type, String text) {
        return "data:%s;base64,%s"
                .formatted(type, Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8)));
    }

    private static String text(String name) {
        return new String(StaticFiles.read(name), StandardCharsets.UTF_8);
    }
}
