package io.plumbline.topology.metrics;

import io.plumbline.topology.adaptation.SwapRules;
import io.plumbline.topology.adaptation.SwapState;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.MetricFamilyDescriptor;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.time.Clock;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Exports who decides which decoder serves a site, and what the adapter last told of it. Every process reads that from
 * the topic, so every instance exports the same. Thread-safe.
 */
final class SiteSwaps implements MultiCollector {

    private static final Family MODE = Family.gauge(
            "plumbline_swap_mode",
            "1 for the mode by which the site's decoder may be changed, 0 for the others",
            "site",
            "mode");
    private static final Family PINNED =
            Family.gauge("plumbline_pinned", "1 while a person keeps the decoder in service, else 0", "site");
    private static final Family CANDIDATE = Family.gauge(
            "plumbline_candidate_version",
            "Version of the candidate that waits for approval; 0 while none does",
            "site");

    private record Standing(SwapRules.Mode mode, SwapState state) {

        /** Returns the candidate that can still be approved; 0: none. The adapter does not tell that one expired. */
        long candidate(long nowMs) {
            return Stream.of(Optional.ofNullable(state.waiting()), Optional.ofNullable(state.explainer()))
                    .flatMap(Optional::stream)
                    .filter(waiting -> nowMs < waiting.expiresMs())
                    .findFirst()
                    .map(SwapState.Waiting::number)
                    .orElse(0L);
        }
    }

    private final Map<String, Standing> sites = new ConcurrentHashMap<>();
    private final Clock wallClock;

    SiteSwaps(Clock wallClock) {
        this.wallClock = wallClock;
    }

    void mode(String site, SwapRules.Mode mode) {
        sites.merge(site, new Standing(mode, SwapState.INITIAL), (before, next) -> new Standing(mode, before.state()));
    }

    /** Takes what was told about a site whose mode is known; others are not ours to export. */
    void told(String site, SwapState state) {
        sites.computeIfPresent(site, (name, before) -> new Standing(before.mode(), state));
    }

    @Override
    public MetricSnapshots collect() {
        Scrape scrape = new Scrape();
        long nowMs = wallClock.millis();
        sites.forEach((site, standing) -> {
            for (SwapRules.Mode mode : SwapRules.Mode.values()) {
                scrape.value(
                        MODE, standing.mode() == mode ? 1 : 0, site, mode.name().toLowerCase(Locale.ROOT));
            }
            scrape.value(PINNED, standing.state().pinned() ? 1 : 0, site)
                    .value(CANDIDATE, standing.candidate(nowMs), site);
        });
        return scrape.families();
    }

    @Override
    public List<MetricFamilyDescriptor> getMetricFamilyDescriptors() {
        return Family.descriptors(MODE, PINNED, CANDIDATE);
    }
}
