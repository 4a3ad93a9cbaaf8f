package io.plumbline.topology.console;

import com.fasterxml.jackson.databind.JsonNode;
import io.plumbline.judgement.Verdict;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.ModelReport;
import io.plumbline.topology.report.Sections;
import io.plumbline.topology.report.SiteStanding;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.topology.report.WindowReports;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

/** Makes configurations and reports for a page without a broker behind it. */
final class ConsoleReports {

    static final String SITE = "blocks.7";

    /**
     * A name that breaks out of markup, attributes, shells, paths and spreadsheets where somebody forgets that it is
     * text.
     */
    static final String HOSTILE = "=<img src=x onerror=document.title='owned'>/..%2F'\"$(reboot)`&ü";

    static final long T0 = 1_700_000_040_000L;

    private static final String YAML = """
            application_id: page
            kafka: {bootstrap.servers: "broker:9092"}
            window: {size: 60s, advance: 60s, grace: 5s}
            http: {port: 0}
            sites:
              blocks.7: {explainer: sae, baseline: b, rank: 32, threshold: 4.0, adaptation: {mode: propose}}
              %s: {explainer: sae, baseline: b, rank: 32, threshold: 4.0}
            """;

    private ConsoleReports() {}

    static MonitorConfig config(Path folder) throws IOException {
        return MonitorConfig.parse(
                YAML.formatted('"' + HOSTILE.replace("\\", "\\\\").replace("\"", "\\\"") + '"'), "page.yaml", folder);
    }

    /** One site, behind a proxy that keeps its path and names who reads. */
    static MonitorConfig proxied(Path folder) throws IOException {
        return MonitorConfig.parse("""
                application_id: page
                kafka: {bootstrap.servers: "broker:9092"}
                http: {port: 0, base_path: /watch/plumbline, forwarded_user: X-Forwarded-User}
                sites: {blocks.7: {explainer: sae, baseline: b, rank: 32, threshold: 4.0}}
                """, "page.yaml", folder);
    }

    /** A site with two target layers, {@code clt}, that proposes. */
    static MonitorConfig targets(Path folder) throws IOException {
        return MonitorConfig.parse("""
                application_id: page
                kafka: {bootstrap.servers: "broker:9092"}
                http: {port: 0}
                sites:
                  clt: {explainer: clt, targets: [3, 5], baseline: b, rank: 32, threshold: 4.0, adaptation: {mode: propose}}
                """, "page.yaml", folder);
    }

    /** The name of one of {@link #twenty} sites: they differ in the middle and at the end. */
    static String layer(int number) {
        return "encoder.layer.%d.attention.output.LayerNorm.%s".formatted(number / 2, number % 2 == 0 ? "in" : "out");
    }

    static MonitorConfig twenty(Path folder) throws IOException {
        StringBuilder yaml =
                new StringBuilder("application_id: page\nkafka: {bootstrap.servers: \"broker:9092\"}\nsites:\n");
        for (int i = 0; i < 20; i++) {
            yaml.append("  %s: {explainer: sae, baseline: b, rank: 32, threshold: 4.0}%n".formatted(layer(i)));
        }
        return MonitorConfig.parse(yaml.toString(), "page.yaml", folder);
    }

    /** A model of 64 layers. */
    static MonitorConfig model(Path folder) throws IOException {
        StringBuilder yaml = new StringBuilder(
                "application_id: page\nkafka: {bootstrap.servers: \"broker:9092\"}\nmodels: {llama: {sites: [");
        IntStream.range(0, 64)
                .forEach(i -> yaml.append(i == 0 ? "" : ", ").append("layer.").append(i));
        yaml.append("]}}\nsites:\n");
        for (int i = 0; i < 64; i++) {
            yaml.append("  layer.%d: {explainer: sae, baseline: b, rank: 32}%n".formatted(i));
        }
        return MonitorConfig.parse(yaml.toString(), "page.yaml", folder);
    }

    /** The window of the model with this number, in which layers from one to another are above their thresholds. */
    static ModelReport ofModel(int number, int from, int to) {
        List<SiteStanding> sites = IntStream.range(0, 63)
                .mapToObj(i -> new SiteStanding(
                        "layer." + i,
                        i >= from && i < to ? Verdict.DRIFTED : Verdict.ALIGNED,
                        "faithfulness_gap",
                        i >= from && i < to ? 5.0 + i : 2.0,
                        4.0,
                        null,
                        null))
                .toList();
        List<String> above = sites.stream()
                .filter(SiteStanding::isAbove)
                .map(SiteStanding::site)
                .toList();
        SiteStanding worst = ModelReport.worst(sites);
        long end = T0 + 60_000L * (number + 1);
        return new ModelReport(
                "llama",
                end - 60_000,
                end,
                above.isEmpty() ? Verdict.ALIGNED : Verdict.DRIFTED,
                above.isEmpty() ? "it is not above the threshold" : above.size() + " of 64 sites are above theirs",
                worst.overThreshold(),
                worst.site(),
                above.isEmpty() ? null : above.get(0),
                above,
                above,
                List.of("layer.63"),
                sites);
    }

    /** The window with this number, one a minute. */
    static WindowReport window(String site, int number, double gap) {
        long start = T0 + 60_000L * number;
        Verdict verdict = gap > 4 ? Verdict.DRIFTED : Verdict.ALIGNED;
        String json = """
                {"site": %s, "window_start_ms": %d, "window_end_ms": %d, "closed_by": "event_time", "requests": 12,
                 "verdict": "%s", "reason": "faithfulness_gap = %s, \\"quoted\\", the threshold 4", "trigger": "faithfulness_gap",
                 "trigger_value": %s, "threshold": 4.0, "warning": null, "sequential": [], "violated_bounds": [],
                 "statistics": [{"statistic": "faithfulness_gap", "role": "trigger", "value": %s, "threshold": 4.0, "exceeded": %s}],
                 "reconstruction_fvu": 0.25, "decoder_version": %d, "masked_share": 0.0,
                 "feature_activity": {"rows": 2048, "requests": 40, "tested": 900, "less_active": 1, "more_active": 0, "undefined": null,
                   "features": [{"feature": 23, "direction": "less_active", "frequency": 0.0, "frequency_baseline": 0.02,
                     "mean_activation": 0.0, "mean_activation_baseline": 1.5, "active_requests": 0, "p_value": 1e-9}]},
                 "feature_names": {"17": {"label": "<b>dogs", "link": null}, "23": {"label": null, "link": "https://example.org/23"}},
                 "failing_features": %s, "requests_scored": 11, "records_not_scored": 1,
                 "worst_requests": [{"request": "chat-<b>17", "rows": 118, "score": 640.5, "p_value": 1e-6, "share": 0.75}],
                 "downstream": {"requests": 24, "rows": 300, "left_out": 0, "split": 0, "failure": null, "reason": null,
                   "trained": {"kl": {"value": 0.375, "low": 0.25, "high": 0.5}}, "active": null, "ablation": null},
                 "spectrum": {"window": [9.0, 4.0, 1.0, 0.25], "baseline": [8.0, 5.0, 0.5, 0.1], "baseline_angles": [0.1, 0.9]},
                 "rows": %d, "dimension": 8, "rank": 2, "faithfulness_gap": %s, "largest_gap": 5.0,
                 "gap_lower_bound": %s, "gap_upper_bound": %s, "reconstruction_fvu_trained": 0.3,
                 "principal_angles": [0.2, 1.1], "vacuous": {"gap_upper_bound": false}, "undefined": {}}
                """.formatted(
                        Json.text(site),
                        start,
                        start + 60_000,
                        verdict,
                        gap,
                        gap,
                        gap,
                        gap > 4,
                        number / 4,
                        gap > 4
                                ? "[{\"feature\": 17, \"systematic_residual\": 0.05, \"systematic_residual_low\": "
                                        + "0.04, \"systematic_residual_baseline\": 0.01,"
                                        + " \"share_of_error\": 0.02, \"usefulness\": 0.1, \"usefulness_baseline\": "
                                        + "0.2, \"activity\": 0.2,"
                                        + " \"frequency\": 0.3}]"
                                : "null",
                        2048 + number,
                        gap,
                        gap - 1,
                        gap + 0.5);
        return Json.read(json.getBytes(StandardCharsets.UTF_8), WindowReport.class);
    }

    /** Returns the report of an adapter that found nothing better in the first window. */
    static AdaptationReport kept(String site, String reason) {
        String json = """
                {"site": %s, "window_start_ms": %d, "window_end_ms": %d, "outcome": "kept", "reason": %s, "candidates": []}
                """.formatted(Json.text(site), T0, T0 + 60_000, Json.text(reason));
        return Json.read(json.getBytes(StandardCharsets.UTF_8), AdaptationReport.class);
    }

    /** Returns what a file for an incident holds in place of a monitor that answers. */
    static JsonNode recorded(String html) {
        String before = "<script type=\"application/json\" id=\"record\">";
        int begin = html.indexOf(before) + before.length();
        String json = html.substring(begin, html.indexOf("</script>", begin));
        return Json.read(json.getBytes(StandardCharsets.UTF_8), JsonNode.class);
    }

    /** Returns a window that is drifted by a statistic whose numbers are much smaller than the gap's. */
    static WindowReport driftedByFvu(String site, int number) {
        String text = Json.text(window(site, number, 3))
                .replace("\"trigger\":\"faithfulness_gap\"", "\"trigger\":\"reconstruction_fvu_trained\"")
                .replace("\"trigger_value\":3.0,\"threshold\":4.0", "\"trigger_value\":0.26,\"threshold\":0.2")
                .replace("\"aligned\"", "\"drifted\"");
        return Json.read(text.getBytes(StandardCharsets.UTF_8), WindowReport.class);
    }

    /** Returns a window as judged by a baseline of this content, with a candidate beside or in service. */
    static WindowReport judgedBy(WindowReport report, String content, String beside) {
        String candidate = Json.text(
                        WindowReports.of(WindowReports.distinctNumbers()).section(Sections.CANDIDATE))
                .replace("\"explainer\":\"candidate\"", "\"explainer\":\"%s\"".formatted(beside));
        String text = Json.text(report)
                .replace("\"baseline_sha256\":null", "\"baseline_sha256\":\"%s\"".formatted(content))
                .replace("\"candidate\":null", "\"candidate\":" + candidate);
        return Json.read(text.getBytes(StandardCharsets.UTF_8), WindowReport.class);
    }

    /** Returns a window with too few rows: nothing has a threshold. */
    static WindowReport undecided(String site, int number) {
        String judged = Json.text(window(site, number, 3));
        String text = judged.replace("\"threshold\":4.0", "\"threshold\":null").replace("\"aligned\"", "\"undecided\"");
        return Json.read(text.getBytes(StandardCharsets.UTF_8), WindowReport.class);
    }
}
