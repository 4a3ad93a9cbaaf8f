package io.plumbline.topology.assessment;

import io.plumbline.causal.BehaviourProbe;
import io.plumbline.topology.panes.InForce;
import io.plumbline.topology.windows.ClosedWindow;
import io.plumbline.topology.windows.WindowWork;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Measures windows beside the stream; what {@link WindowAssessor} then needs the stream's state for takes microseconds.
 * Thread-safe.
 */
public final class WindowMeasurement implements WindowWork<MeasuredWindow> {

    /**
     * The judges of all sites.
     *
     * @param ofCandidates judges sites as their candidates explain them
     */
    private record Judges(Map<String, SiteJudge> ofSites, Map<String, SiteJudge> ofCandidates) {

        static final Judges NONE = new Judges(Map.of(), Map.of());

        /** @param before keeps the judges of the sites that are as they were */
        static Judges of(Map<String, WatchedSite> sites, Judges before, Map<String, BehaviourProbe> probes) {
            return new Judges(
                    all(sites.values().stream(), before.ofSites, probes),
                    all(
                            sites.values().stream().flatMap(site -> Stream.ofNullable(site.candidate())),
                            before.ofCandidates,
                            probes));
        }

        private static Map<String, SiteJudge> all(
                Stream<WatchedSite> sites, Map<String, SiteJudge> before, Map<String, BehaviourProbe> probes) {
            return sites.collect(Collectors.toUnmodifiableMap(WatchedSite::site, site -> {
                SiteJudge judged = before.get(site.site());
                return judged != null && judged.isOf(site)
                        ? judged
                        : new SiteJudge(site, judged, probes.get(site.probe()), probes.get(site.shadowProbe()));
            }));
        }
    }

    private final InForce<Judges> judges;
    private final Map<String, Long> blocks;
    private final ActiveDecoders activeDecoders;

    /** @param probes run the rest of the model of the sites that name it, see {@link WatchedSite#probe} */
    public WindowMeasurement(
            InForce<Map<String, WatchedSite>> sites,
            Map<String, BehaviourProbe> probes,
            ActiveDecoders activeDecoders) {
        judges = sites.map((all, before) -> Judges.of(all, before == null ? Judges.NONE : before, probes));
        blocks = sites.newest().values().stream()
                .collect(Collectors.groupingBy(site -> site.id().group(), Collectors.counting()));
        this.activeDecoders = activeDecoders;
    }

    @Override
    public Function<ClosedWindow, MeasuredWindow> on(ClosedWindow window) {
        ActiveDecoders.Active active = activeDecoders.of(window.site());
        SiteJudge judge = judge(window, active == null ? null : active.explainerSha256());
        Measurement measurement = judge == null ? null : judge.measure(window, active);
        return accounted -> new MeasuredWindow(accounted, judge, measurement);
    }

    /** Returns how many blocks of a site with several targets are watched. */
    long blocks(String group) {
        return blocks.getOrDefault(group, 0L);
    }

    /**
     * Returns the judge of a window.
     *
     * @param explainerSha256 names the explainer in service; null: the site's own
     */
    private @Nullable SiteJudge judge(ClosedWindow window, @Nullable String explainerSha256) {
        Judges inForce = judges.at(window.startMs());
        SiteJudge ofCandidate = inForce.ofCandidates().get(window.site());
        return ofCandidate != null && ofCandidate.explainerSha256().equals(explainerSha256)
                ? ofCandidate
                : inForce.ofSites().get(window.site());
    }
}
