package io.plumbline.topology.assessment;

import io.plumbline.causal.BehaviourProbe;
import io.plumbline.topology.windows.ClosedWindow;
import io.plumbline.topology.windows.WindowWork;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Measures windows beside the stream; what {@link WindowAssessor} then needs the stream's state for takes microseconds.
 * Thread-safe.
 */
public final class WindowMeasurement implements WindowWork<MeasuredWindow> {

    private final Map<String, SiteJudge> judges;
    private final Map<String, Long> blocks;
    private final ActiveDecoders activeDecoders;

    /** @param probes run the rest of the model of the sites that name it */
    public WindowMeasurement(
            Map<String, WatchedSite> sites, Map<String, BehaviourProbe> probes, ActiveDecoders activeDecoders) {
        this.judges = sites.entrySet().stream()
                .collect(Collectors.toUnmodifiableMap(
                        Map.Entry::getKey, entry -> new SiteJudge(entry.getValue(), probes.get(entry.getKey()))));
        this.blocks = sites.values().stream()
                .collect(Collectors.groupingBy(site -> site.id().group(), Collectors.counting()));
        this.activeDecoders = activeDecoders;
    }

    @Override
    public Function<ClosedWindow, MeasuredWindow> on(ClosedWindow window) {
        SiteJudge judge = judges.get(window.site());
        Measurement measurement = judge == null ? null : judge.measure(window, activeDecoders.of(window.site()));
        return accounted -> new MeasuredWindow(accounted, measurement);
    }

    /** Returns how many blocks of a site with several targets are watched. */
    long blocks(String group) {
        return blocks.getOrDefault(group, 0L);
    }

    @Nullable
    SiteJudge judge(String site) {
        return judges.get(site);
    }
}
