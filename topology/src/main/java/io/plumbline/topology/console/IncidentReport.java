package io.plumbline.topology.console;

import io.plumbline.features.ActivityChange;
import io.plumbline.features.ActivityChanges;
import io.plumbline.features.FailingFeature;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.report.CoverageReport;
import io.plumbline.topology.report.FeatureName;
import io.plumbline.topology.report.Sections;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.topology.report.WorstRequest;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Writes one site and period as a file that needs nothing else: no script, no network, light and dark, printable. What
 * a person attaches to an incident, so that it can still be read when the topic's retention is over.
 */
public final class IncidentReport {

    private static final int FEATURES = 20;

    private final SiteHistory site;

    private IncidentReport(SiteHistory site) {
        this.site = site;
    }

    /**
     * @param windows at least one, in any order; of a window reported twice the last report counts
     * @throws IllegalArgumentException when there is none
     */
    public static IncidentReport of(String site, List<WindowReport> windows, List<AdaptationReport> adaptations) {
        if (windows.isEmpty()) {
            throw new IllegalArgumentException("site %s: no window to report on".formatted(site));
        }
        SiteHistory history = SiteHistory.of(site);
        for (WindowReport window : windows) {
            history = history.with(window, Integer.MAX_VALUE, 0);
        }
        for (AdaptationReport report : adaptations) {
            history = history.with(report, Integer.MAX_VALUE);
        }
        return new IncidentReport(history);
    }

    public String html() {
        Markup page = new Markup();
        List<WindowPoint> windows = site.windows();
        page.raw("""
                <!doctype html>
                <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
                <meta name="color-scheme" content="light dark">
                <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
                """);
        page.element("title", site.site() + " · Plumbline report");
        page.raw("<style>")
                .raw(new String(StaticFiles.read("report.css"), StandardCharsets.UTF_8))
                .raw("</style></head><body><main>");
        page.element("h1", site.site());
        WindowPoint first = windows.get(0);
        WindowPoint last = windows.get(windows.size() - 1);
        page.element(
                "p",
                "%s to %s, event time. %s. Decoder %s at first, %s at last."
                        .formatted(
                                instant(first.header().windowStartMs()),
                                instant(last.header().windowEndMs()),
                                tally(windows),
                                decoder(first.inService().decoderVersion()),
                                decoder(last.inService().decoderVersion())));
        page.element(
                "p class=\"reason\"",
                "Last window: " + last.judged().verdict() + ". " + last.judged().reason() + ".");
        last.details()
                .forEach(detail ->
                        page.element("p", Character.toUpperCase(detail.charAt(0)) + detail.substring(1) + "."));
        CoverageReport coverage =
                Objects.requireNonNull(site.newest(), "a report has windows").section(Sections.COVERAGE);
        if (coverage != null && coverage.moved() != null) {
            page.element("p", "Coverage moved: " + coverage.moved() + ".");
        }
        charts(page, windows);
        adaptations(page);
        requests(page);
        features(page);
        activity(page);
        statistics(page);
        table(page, windows);
        page.element(
                "p class=\"quiet\"",
                "Times are UTC. FVU is the fraction of variance unexplained, on sampled rows. Written by plumbline"
                        + " report on "
                        + Instant.now() + ".");
        return page.raw("</main></body></html>\n").toString();
    }

    private static String tally(List<WindowPoint> windows) {
        Map<String, Long> counts = windows.stream()
                .collect(Collectors.groupingBy(
                        window -> window.judged().verdict().label(), TreeMap::new, Collectors.counting()));
        return windows.size() + " windows: "
                + counts.entrySet().stream()
                        .map(count -> count.getValue() + " " + count.getKey())
                        .collect(Collectors.joining(", "));
    }

    private static void charts(Markup page, List<WindowPoint> windows) {
        page.raw("""
                <h2>Faithfulness gap</h2><p class="legend"><i class="value"></i>gap <i class="threshold"></i>threshold <i class="bound"></i>lower and
                upper bound <i class="active"></i>gap of the decoder in service; tinted: not aligned; dotted: another decoder</p>
                """);
        new SvgChart(windows, 280)
                .line("bound", window -> window.number(Statistic.GAP_LOWER_BOUND))
                .line("bound", window -> window.number(Statistic.GAP_UPPER_BOUND))
                .line("threshold", WindowPoint::gapThreshold)
                .line(
                        "active",
                        window -> window.inService().decoderVersion() > 0
                                ? window.inService().activeFaithfulnessGap()
                                : null)
                .line("value", window -> window.number(Statistic.FAITHFULNESS_GAP))
                .writeTo(page, "Faithfulness gap over event time; the table below has the numbers");
        String trigger = windows.get(windows.size() - 1).judged().trigger();
        if (!trigger.equals(Statistic.FAITHFULNESS_GAP.label())) {
            page.element("h2", trigger.replace('_', ' '));
            new SvgChart(windows, 200)
                    .line("threshold", window -> window.judged().threshold())
                    .line("value", window -> window.judged().triggerValue())
                    .writeTo(page, trigger + " over event time");
        }
        page.raw("<h2>FVU</h2><p class=\"legend\"><i class=\"value\"></i>trained decoder <i"
                + " class=\"active\"></i>decoder in service</p>");
        new SvgChart(windows, 150)
                .line("value", window -> window.number(Statistic.RECONSTRUCTION_FVU_TRAINED))
                .line(
                        "active",
                        window -> window.inService().decoderVersion() > 0
                                ? window.inService().reconstructionFvu()
                                : null)
                .writeTo(page, "Fraction of variance unexplained over event time");
    }

    private void adaptations(Markup page) {
        page.element("h2", "What the adapter did");
        if (site.adaptations().isEmpty()) {
            page.element("p", "Nothing in this period.");
            return;
        }
        page.raw("<ol>");
        for (AdaptationReport report : site.adaptations()) {
            page.raw("<li>");
            page.element("b", report.outcome() + (report.version() > 0 ? " version " + report.version() : ""));
            page.text(", window to " + instant(report.windowEndMs()) + ": " + report.reason() + ".");
            if (report.candidate() != null) {
                page.raw("<br>")
                        .text("%s; held-out FVU %s → %s, gap %s → %s"
                                .formatted(
                                        report.candidate(),
                                        number(report.fvuBefore()),
                                        number(report.fvuAfter()),
                                        number(report.faithfulnessGapBefore()),
                                        number(report.faithfulnessGapAfter())));
            }
            if (report.gate() != null) {
                page.raw("<ul>");
                report.gate()
                        .tests()
                        .forEach(test -> page.element(
                                "li", (test.passed() ? "✓ " : "✗ ") + test.name() + ": " + test.finding()));
                page.raw("</ul>");
            }
            page.raw("</li>");
        }
        page.raw("</ol>");
    }

    private void requests(Markup page) {
        WindowReport shown = Objects.requireNonNull(site.withFarthestRequests(), "a report has windows");
        List<WorstRequest> worst = shown.listed(Sections.WORST_REQUESTS);
        if (worst.isEmpty()) {
            return;
        }
        page.element("h2", "Requests that are farthest from the baseline's");
        page.element(
                "p",
                "Of the %s window that ended %s."
                        .formatted(
                                shown.judged().verdict(), instant(shown.header().windowEndMs())));
        page.raw("<table><tr><th>request<th>rows<th>score<th>p-value<th>share of the evidence</tr>");
        for (WorstRequest request : worst) {
            row(
                    page,
                    request.request(),
                    request.rows(),
                    number(request.score()),
                    String.format(Locale.ROOT, "%.2g", request.pValue()),
                    number(request.share()));
        }
        page.raw("</table>");
    }

    private void features(Markup page) {
        WindowReport failing = site.newestDrifted();
        if (failing == null || failing.listed(Sections.FAILING_FEATURES).isEmpty()) {
            return;
        }
        page.element("h2", "Features that fail");
        page.element(
                "p",
                "Of the drifted window that ended " + instant(failing.header().windowEndMs())
                        + ". Systematic residual: the error that goes with the feature's code. Usefulness: FVU that"
                        + " taking it out would add.");
        page.raw("<table><tr><th>feature<th>systematic residual<th>in baseline<th>usefulness<th>in baseline<th>share"
                + " of error"
                + "<th>share of writing<th>active in</tr>");
        for (FailingFeature feature : failing.listed(Sections.FAILING_FEATURES).stream()
                .limit(FEATURES)
                .toList()) {
            row(
                    page,
                    name(feature.feature()),
                    number(feature.systematicResidual()),
                    number(feature.systematicResidualBaseline()),
                    number(feature.usefulness()),
                    number(feature.usefulnessBaseline()),
                    number(feature.shareOfError()),
                    number(feature.activity()),
                    number(feature.frequency()));
        }
        page.raw("</table>");
    }

    private void activity(Markup page) {
        ActivityChanges changes =
                Objects.requireNonNull(site.newest(), "a report has windows").section(Sections.FEATURE_ACTIVITY);
        if (changes == null || changes.undefined() != null || changes.features().isEmpty()) {
            return;
        }
        page.element("h2", "Features that fell silent or woke up");
        page.element(
                "p",
                ("Features active less often in the last window than on the baseline's rows, beyond chance: %d; "
                                + "more often: %d; compared: %d.")
                        .formatted(changes.lessActive(), changes.moreActive(), changes.tested()));
        page.raw("<table><tr><th>feature<th>direction<th>active in<th>in baseline<th>mean activation<th>in"
                + " baseline<th>p</tr>");
        for (ActivityChange change : changes.features().stream().limit(FEATURES).toList()) {
            row(
                    page,
                    name(change.feature()),
                    change.direction().replace('_', ' '),
                    number(change.frequency()),
                    number(change.frequencyBaseline()),
                    number(change.meanActivation()),
                    number(change.meanActivationBaseline()),
                    change.pValueText());
        }
        page.raw("</table>");
    }

    private Cell name(int feature) {
        FeatureName name = site.featureNames().get(feature);
        return page -> {
            String link = name == null ? null : name.link();
            String text = FeatureName.text(feature, name);
            if (link == null) {
                page.text(text);
            } else {
                page.raw("<a rel=\"noreferrer\" href=\"")
                        .text(link)
                        .raw("\">")
                        .text(text)
                        .raw("</a>");
            }
        };
    }

    /** Writes a cell that is more than text. */
    private interface Cell {
        void write(Markup page);
    }

    private void statistics(Markup page) {
        GapAssessment last =
                Objects.requireNonNull(site.newest(), "a report has windows").geometry();
        page.element("h2", "Every statistic of the last window");
        page.raw("<table><tr><th>statistic<th>value<th>what it is</tr>");
        Map<String, String> undefined = last.undefined();
        for (Statistic statistic : Statistic.shown()) {
            OptionalDouble value = last.value(statistic);
            row(
                    page,
                    statistic.label(),
                    value.isPresent() ? number(value.getAsDouble()) : undefined.getOrDefault(statistic.label(), "–"),
                    statistic.help());
        }
        page.raw("</table>");
    }

    private static void table(Markup page, List<WindowPoint> windows) {
        page.element("h2", "Windows");
        page.raw("<table><tr><th>from<th>to<th>verdict<th>gap<th>threshold<th>lower<th>upper<th>FVU trained<th>in"
                + " service<th>rows<th>decoder</tr>");
        for (WindowPoint window : windows) {
            row(
                    page,
                    instant(window.header().windowStartMs()),
                    instant(window.header().windowEndMs()),
                    window.judged().verdict().label(),
                    number(window.number(Statistic.FAITHFULNESS_GAP)),
                    number(window.gapThreshold()),
                    number(window.number(Statistic.GAP_LOWER_BOUND)),
                    number(window.number(Statistic.GAP_UPPER_BOUND)),
                    number(window.number(Statistic.RECONSTRUCTION_FVU_TRAINED)),
                    number(window.inService().reconstructionFvu()),
                    window.rows(),
                    decoder(window.inService().decoderVersion()));
        }
        page.raw("</table>");
    }

    private static void row(Markup page, Object... cells) {
        page.raw("<tr>");
        for (Object cell : cells) {
            if (cell instanceof Cell own) {
                page.raw("<td>");
                own.write(page);
                page.raw("</td>");
            } else {
                page.element("td", cell);
            }
        }
        page.raw("</tr>\n");
    }

    private static String decoder(long version) {
        return version == 0 ? "trained" : "v" + version;
    }

    private static String instant(long ms) {
        return Instant.ofEpochMilli(ms).toString();
    }

    private static String number(@Nullable Double value) {
        return value == null ? "–" : String.format(Locale.ROOT, "%.4f", value);
    }
}
