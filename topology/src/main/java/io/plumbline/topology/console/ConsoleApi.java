package io.plumbline.topology.console;

import io.plumbline.geometry.Statistic;
import io.plumbline.judgement.Verdict;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.SwapRules;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.baselines.BaselineHistory;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.metrics.Metrics;
import io.plumbline.topology.report.Sections;
import io.plumbline.topology.report.WindowReport;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Makes the answers of {@code /api} of what the model knows at that moment. Thread-safe. */
final class ConsoleApi {

    private static final int SPARKS = 60;

    private volatile MonitorConfig config;
    private final ConsoleModel model;
    private final long staleAfterMs;

    ConsoleApi(MonitorConfig config, ConsoleModel model) {
        this.config = config;
        this.model = model;
        staleAfterMs = Metrics.Settings.of(config.window(), 1).staleness().toMillis();
    }

    /** Answers by another configuration of the same sites. */
    void takeOver(MonitorConfig next) {
        config = next;
    }

    /**
     * @param place where the events stand: taken before the model is looked at, so that nothing is missed
     * @param reader whom a proxy names; null: nobody
     */
    ConsoleViews.Overview overview(String place, @Nullable String reader) {
        List<ConsoleViews.Summary> sites = new ArrayList<>();
        model.sites().values().forEach(site -> sites.add(summary(site)));
        Map<String, String> sections = new LinkedHashMap<>();
        Sections.ALL.forEach(
                kind -> sections.put(kind.key(), kind.shown().name().toLowerCase(Locale.ROOT)));
        return new ConsoleViews.Overview(
                ConsoleViews.SCHEMA,
                System.currentTimeMillis(),
                place,
                config.applicationId(),
                reader,
                new ConsoleViews.Windowing(
                        config.window().size().toMillis(),
                        config.window().advance().toMillis(),
                        config.window().grace().toMillis(),
                        config.window().idleClose() == null
                                ? null
                                : config.window().idleClose().toMillis()),
                staleAfterMs,
                model.past(),
                model.deadLetters(),
                Commands.deadLetters(config),
                Statistic.shown().stream()
                        .map(statistic -> new ConsoleViews.Named(statistic.label(), statistic.help()))
                        .toList(),
                sections,
                model.models(),
                sites);
    }

    @Nullable
    SiteHistory site(String name) {
        return model.sites().get(name);
    }

    ConsoleViews.Summary summary(SiteHistory site) {
        List<WindowPoint> windows = site.windows();
        WindowPoint newest = windows.isEmpty() ? null : windows.get(windows.size() - 1);
        SiteSettings settings = config.sites().get(site.site());
        SiteHistory swapped = model.swappedAs(site);
        return new ConsoleViews.Summary(
                site.site(),
                mode(site.site()),
                settings == null ? 0 : settings.explained().rank(),
                swapped.swaps() != null && swapped.swaps().pinned(),
                versionInService(swapped, newest),
                swapped.swaps() == null || swapped.swaps().forApproval() == null
                        ? null
                        : Long.valueOf(swapped.swaps().forApproval().number()),
                newest,
                newest == null ? null : since(windows, newest.judged().verdict()),
                windows.size(),
                site.heardMs(),
                site.account(),
                windows.subList(Math.max(0, windows.size() - SPARKS), windows.size()).stream()
                        .map(ConsoleApi::spark)
                        .toList());
    }

    private static long versionInService(SiteHistory swapped, @Nullable WindowPoint newest) {
        SiteHistory.Published published = swapped.inService();
        return published != null
                ? published.version()
                : newest == null ? 0 : newest.inService().decoderVersion();
    }

    private static ConsoleViews.Spark spark(WindowPoint point) {
        return new ConsoleViews.Spark(
                point.header().windowEndMs(),
                point.overThreshold(),
                point.judged().verdict());
    }

    private static Long since(List<WindowPoint> windows, Verdict verdict) {
        int first = windows.size() - 1;
        while (first > 0 && windows.get(first - 1).judged().verdict() == verdict) {
            first--;
        }
        return windows.get(first).header().windowEndMs();
    }

    private String mode(String site) {
        SwapRules rules = config.swapRules().getOrDefault(site, SwapRules.DEFAULT);
        return rules.mode().name().toLowerCase(Locale.ROOT);
    }

    /** The windows that end in {@code [fromMs, toMs)}. */
    List<WindowPoint> windows(SiteHistory site, long fromMs, long toMs) {
        return site.windows().stream()
                .filter(point ->
                        point.header().windowEndMs() >= fromMs && point.header().windowEndMs() < toMs)
                .toList();
    }

    ConsoleViews.Reports reports(SiteHistory site) {
        return new ConsoleViews.Reports(ConsoleViews.SCHEMA, site.site(), site.newest(), site.newestDrifted());
    }

    ConsoleViews.Decoders decoders(SiteHistory site) {
        SiteHistory swapped = model.swappedAs(site);
        boolean joint = !swapped.site().equals(site.site());
        return new ConsoleViews.Decoders(
                ConsoleViews.SCHEMA,
                site.site(),
                joint ? swapped.site() : null,
                mode(site.site()),
                swapped.inService(),
                swapped.swaps(),
                Commands.of(config, swapped),
                joint ? together(site.adaptations(), swapped.adaptations()) : site.adaptations(),
                swapped.refusals());
    }

    ConsoleViews.Baselines baselines(SiteHistory site) {
        BaselineHistory history = model.baselines(site.site());
        WindowReport newest = site.newest();
        return new ConsoleViews.Baselines(
                ConsoleViews.SCHEMA,
                site.site(),
                newest == null ? null : newest.baseline().sha256(),
                history.taken(),
                history.proposed(),
                "plumbline approve-baseline --key KEY FILE");
    }

    /** Returns what was said of a target layer and of all of its site, oldest first. */
    private static List<AdaptationReport> together(List<AdaptationReport> ofLayer, List<AdaptationReport> ofAll) {
        return Stream.concat(ofLayer.stream(), ofAll.stream())
                .sorted(Comparator.comparingLong(AdaptationReport::windowEndMs))
                .toList();
    }
}
