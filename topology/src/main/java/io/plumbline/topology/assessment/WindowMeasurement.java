package io.plumbline.topology.assessment;

import io.plumbline.causal.BehaviourProbe;
import io.plumbline.topology.windows.ClosedWindow;
import io.plumbline.topology.windows.WindowWork;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Measures windows beside the stream; what {@link WindowAssessor} then needs the stream's state for takes microseconds.
 * Thread-safe.
 */
public final class WindowMeasurement implements WindowWork<MeasuredWindow> {

    private final Map<String, SiteJudge> judges;

    /** Judges sites as their candidates explain them, by site. */
    private final Map<String, SiteJudge> ofCandidates;

    private final Map<String, Long> blocks;
    private final ActiveDecoders activeDecoders;

    /** @param probes run the rest of the model of the sites that name it, see {@link WatchedSite#probe} */
    public WindowMeasurement(
            Map<String, WatchedSite> sites, Map<String, BehaviourProbe> probes, ActiveDecoders activeDecoders) {
        this.judges = sites.entrySet().stream()
                .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, entry -> judge(entry.getValue(), probes)));
        this.ofCandidates = sites.values().stream()
                .map(WatchedSite::candidate)
                .filter(Objects::nonNull)
                .collect(Collectors.toUnmodifiableMap(WatchedSite::site, site -> judge(site, probes)));
        this.blocks = sites.values().stream()
                .collect(Collectors.groupingBy(site -> site.id().group(), Collectors.counting()));
        this.activeDecoders = activeDecoders;
    }

    private static SiteJudge judge(WatchedSite site, Map<String, BehaviourProbe> probes) {
        return new SiteJudge(site, probes.get(site.probe()), probes.get(site.shadowProbe()));
    }

    @Override
    public Function<ClosedWindow, MeasuredWindow> on(ClosedWindow window) {
        ActiveDecoders.Active active = activeDecoders.of(window.site());
        SiteJudge judge = judge(window.site(), active == null ? null : active.explainerSha256());
        Measurement measurement = judge == null ? null : judge.measure(window, active);
        return accounted -> new MeasuredWindow(accounted, measurement);
    }

    /** Returns how many blocks of a site with several targets are watched. */
    long blocks(String group) {
        return blocks.getOrDefault(group, 0L);
    }

    /**
     * Returns the judge of a site.
     *
     * @param explainerSha256 names the explainer in service; null: the site's own
     */
    @Nullable
    SiteJudge judge(String site, @Nullable String explainerSha256) {
        SiteJudge ofCandidate = ofCandidates.get(site);
        return ofCandidate != null && ofCandidate.explainerSha256().equals(explainerSha256)
                ? ofCandidate
                : judges.get(site);
    }
}
