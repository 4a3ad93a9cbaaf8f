package io.plumbline.topology.console;

import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.baselines.BaselineHistory;
import io.plumbline.topology.emission.DecoderManifest;
import io.plumbline.topology.ingest.SiteId;
import io.plumbline.topology.models.ModelSettings;
import io.plumbline.topology.panes.RowAccount;
import io.plumbline.topology.report.ModelReport;
import io.plumbline.topology.report.WindowReport;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.UnaryOperator;

/**
 * Holds what the console knows, of the sites of the configuration only: an immutable history a site, replaced whole.
 * Thread-safe; a report costs a copy of at most a thousand references.
 */
final class ConsoleModel {

    /**
     * Says whether what was reported before this process is known: {@code unread}, {@code reading}, {@code complete} or
     * {@code refused}.
     */
    record Past(String state, String sentence) {}

    /** A window as an event. */
    record WindowEvent(String site, WindowPoint window) {}

    /** A window of a model as an event. */
    record ModelEvent(String model, ModelHistory.Point window, ModelReport report) {}

    /** An event about anything else of a site that changed. */
    record SiteEvent(String site, String what) {}

    /** An event that tells the records refused so far, by reason. */
    record LettersEvent(Map<String, Long> deadLetters) {}

    private final Map<String, SiteHistory> sites = new ConcurrentHashMap<>();
    private final Map<String, ModelHistory> models = Collections.synchronizedMap(new LinkedHashMap<>());
    private final Map<String, BaselineHistory> baselines = new ConcurrentHashMap<>();
    private final Map<String, LongAdder> deadLetters = new ConcurrentHashMap<>();
    private final Collection<String> inOrder;
    private final ConsoleLimits limits;
    private final Events events;
    private volatile Past past = new Past("unread", "");

    ConsoleModel(Collection<String> sites, Collection<ModelSettings> models, ConsoleLimits limits, Events events) {
        this.limits = limits;
        this.events = events;
        inOrder = List.copyOf(sites);
        models.forEach(model -> this.models.put(model.model(), ModelHistory.of(model)));
        sites.forEach(site -> this.sites.put(site, SiteHistory.of(site)));
        sites.forEach(site -> this.sites.computeIfAbsent(SiteId.parse(site).group(), SiteHistory::of));
    }

    /** The sites of the configuration, in its order. */
    Map<String, SiteHistory> sites() {
        Map<String, SiteHistory> all = new LinkedHashMap<>();
        inOrder.forEach(site -> all.put(site, sites.getOrDefault(site, SiteHistory.of(site))));
        return all;
    }

    /** The models of the configuration, in its order. */
    List<ModelHistory> models() {
        synchronized (models) {
            return List.copyOf(models.values());
        }
    }

    /** The site whose decoder serves this one: all target layers of a site with several are swapped as one. */
    SiteHistory swappedAs(SiteHistory site) {
        String configured = SiteId.parse(site.site()).group();
        return sites.getOrDefault(configured, SiteHistory.of(configured));
    }

    Map<String, Long> deadLetters() {
        Map<String, Long> counts = new TreeMap<>();
        deadLetters.forEach((reason, count) -> counts.put(reason, count.sum()));
        return counts;
    }

    Past past() {
        return past;
    }

    void window(WindowReport report) {
        if (change(
                report.header().site(),
                history -> history.with(report, limits.windows(), System.currentTimeMillis()))) {
            tell("window", new WindowEvent(report.header().site(), WindowPoint.of(report)));
        }
    }

    void model(ModelReport report) {
        ModelHistory after =
                models.computeIfPresent(report.model(), (name, before) -> before.with(report, limits.modelWindows()));
        if (after != null) {
            ModelHistory.Point newest = after.windows().get(after.windows().size() - 1);
            tell("model", new ModelEvent(report.model(), newest, report));
        }
    }

    void adaptation(AdaptationReport report) {
        if (change(report.site(), history -> history.with(report, limits.adaptations()))) {
            tellOf(report.site(), "adaptation");
        }
    }

    /** Takes an account without an event: it comes with every pane, and the page asks with every window. */
    void account(String site, RowAccount account) {
        change(site, history -> history.with(account));
    }

    void published(String site, DecoderManifest manifest) {
        SiteHistory.Published published = new SiteHistory.Published(
                manifest.version(),
                manifest.kind().label(),
                manifest.sha256(),
                manifest.parentSha256(),
                manifest.bytes(),
                manifest.chunks(),
                manifest.lineage());
        if (change(site, history -> history.with(published))) {
            tellOf(site, "decoder");
        }
    }

    void baselines(BaselineHistory history) {
        if (sites.containsKey(history.site())) {
            baselines.put(history.site(), history);
            tell("site", new SiteEvent(history.site(), "baseline"));
        }
    }

    BaselineHistory baselines(String site) {
        return baselines.getOrDefault(site, BaselineHistory.of(site));
    }

    void swaps(String site, SwapState state) {
        if (change(site, history -> history.with(state))) {
            tellOf(site, "swaps");
        }
    }

    void refused(String site, long version, String reason) {
        if (change(site, history -> history.with(new SiteHistory.Refusal(version, reason)))) {
            tellOf(site, "refusal");
        }
    }

    void deadLetter(String reason) {
        deadLetters.computeIfAbsent(reason, name -> new LongAdder()).increment();
        events.publish("letters", new LettersEvent(deadLetters()));
    }

    /** Takes windows for those of the past from here on, until {@link #pastIs} says otherwise. */
    void readingPast() {
        past = new Past("reading", "");
    }

    /** Notes that what was there at the start has been read, or cannot be: pages ask for everything anew. */
    void pastIs(Past now) {
        past = now;
        events.publish("reset", Map.of());
    }

    /** Tells what changed of a site, or of all target layers of a site with several. */
    private void tellOf(String site, String what) {
        inOrder.stream()
                .filter(shown ->
                        shown.equals(site) || SiteId.parse(shown).group().equals(site))
                .forEach(shown -> tell("site", new SiteEvent(shown, what)));
    }

    /** Tells an event, unless it is of the past: thousands of windows of the past are no news. */
    private void tell(String name, Object data) {
        if (!past.state().equals("reading")) {
            events.publish(name, data);
        }
    }

    /**
     * Changes a site and returns whether anything changed; a step that changes nothing returns the very object: no
     * thousand windows are compared.
     */
    @SuppressWarnings("ReferenceEquality")
    private boolean change(String site, UnaryOperator<SiteHistory> step) {
        boolean[] changed = {false};
        sites.computeIfPresent(site, (name, before) -> {
            SiteHistory after = step.apply(before);
            changed[0] = after != before;
            return after;
        });
        return changed[0];
    }
}
