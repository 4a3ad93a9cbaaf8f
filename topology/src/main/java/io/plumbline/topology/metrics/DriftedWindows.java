package io.plumbline.topology.metrics;

import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Exemplar;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricFamilyDescriptor;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.time.Clock;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Counts the windows in which a site was drifted. The newest one brings an exemplar: the request with most of the
 * evidence, and its share of it. Exemplars are shown where OpenMetrics is asked for. Thread-safe.
 */
final class DriftedWindows implements MultiCollector {

    private static final String NAME = "plumbline_drifted_windows";
    private static final String HELP =
            "Windows judged while the site was drifted; the exemplar names the request with most of the evidence";

    /**
     * The most characters of a request's name: OpenMetrics allows 128 characters of names and values in an exemplar.
     */
    private static final int LONGEST_REQUEST = 80;

    private record Counted(long windows, @Nullable Exemplar newest) {}

    private final Map<String, Counted> sites = new ConcurrentHashMap<>();
    private final Clock wallClock;

    DriftedWindows(Clock wallClock) {
        this.wallClock = wallClock;
    }

    /** Begins the count of a site at 0. */
    void expect(String site) {
        sites.putIfAbsent(site, new Counted(0, null));
    }

    /**
     * Counts a window.
     *
     * @param request the request with most of the evidence; null where none was scored
     * @param share of the evidence, in [0, 1]
     */
    void add(String site, @Nullable String request, double share) {
        Exemplar exemplar = request == null ? null : exemplar(request, share);
        sites.merge(
                site,
                new Counted(1, exemplar),
                (before, one) -> new Counted(before.windows() + 1, exemplar == null ? before.newest() : exemplar));
    }

    private Exemplar exemplar(String request, double share) {
        int end = Math.min(LONGEST_REQUEST, request.length());
        return Exemplar.builder()
                .value(1.0)
                .labels(Labels.of(
                        "request", request.substring(0, end), "share", String.format(Locale.ROOT, "%.2f", share)))
                .timestampMillis(wallClock.millis())
                .build();
    }

    @Override
    public MetricSnapshots collect() {
        if (sites.isEmpty()) {
            return MetricSnapshots.of();
        }
        CounterSnapshot.Builder family = CounterSnapshot.builder().name(NAME).help(HELP);
        sites.forEach((site, counted) -> {
            CounterDataPointSnapshot.Builder point = CounterDataPointSnapshot.builder()
                    .labels(Labels.of("site", site))
                    .value((double) counted.windows());
            Exemplar newest = counted.newest();
            if (newest != null) {
                point.exemplar(newest);
            }
            family.dataPoint(point.build());
        });
        return MetricSnapshots.of(family.build());
    }

    @Override
    public List<MetricFamilyDescriptor> getMetricFamilyDescriptors() {
        return List.of(MetricFamilyDescriptor.counter(NAME)
                .help(HELP)
                .labelNames("site")
                .build());
    }
}
