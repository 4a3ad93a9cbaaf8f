package io.plumbline.topology.metrics;

import io.plumbline.adaptation.GateTest;
import io.plumbline.topology.adaptation.AdaptationListener;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.GateVerdict;
import io.plumbline.topology.adaptation.Outcome;
import io.plumbline.topology.kafka.NextOffsets;
import io.prometheus.metrics.model.registry.MultiCollector;
import java.util.Collection;
import java.util.List;

/** Meters of the adapter's two stages. Thread-safe and never blocks; {@link Metrics#guarded} contains its failures. */
public final class AdaptationMeters implements AdaptationListener {

    private final Counters counters;
    private final SiteCounters sites;
    private final StageTimers times;
    private final SitePools sitePools = new SitePools();

    AdaptationMeters(Counters counters, SiteCounters sites, StageTimers times) {
        this.counters = counters;
        this.sites = sites;
        this.times = times;
    }

    List<MultiCollector> collectors() {
        return List.of(sitePools);
    }

    /** Creates the counters of these sites and of every outcome at 0, see {@link Metrics#expect}. */
    void expect(Collection<String> siteNames) {
        for (String site : siteNames) {
            String label = sites.of(site).label();
            Outcome.labels().forEach(outcome -> counters.adaptations(label, outcome));
            GateTest.NAMES.forEach(test -> counters.gateRefusals(label, test));
            counters.adaptationRows(label);
        }
        counters.foreignRecords(NextOffsets.Input.ADAPTATION_REQUESTS.label());
    }

    @Override
    public void onForeign() {
        counters.foreignRecords(NextOffsets.Input.ADAPTATION_REQUESTS.label()).increment();
    }

    @Override
    public void onSample(String site, int rows) {
        counters.adaptationRows(sites.of(site).label()).increment(rows);
    }

    @Override
    public void onPooled(String site, int rows) {
        if (sites.of(site).hasSeries()) {
            sitePools.put(site, rows);
        }
    }

    @Override
    public void onPoolReleased(String site) {
        sitePools.forget(site);
    }

    @Override
    public void onEmitted(long nanoseconds) {
        times.took(Stage.EMIT, nanoseconds);
    }

    @Override
    public void onAdaptation(AdaptationReport report) {
        Counters.OfSite ofSite = sites.of(report.site());
        switch (report.outcome()) {
            case PUBLISHED, APPROVED -> ofSite.publications().increment();
            case REVERTED, ROLLED_BACK -> ofSite.reverts().increment();
            default -> {}
        }
        counters.adaptations(ofSite.label(), report.outcome().label()).increment();
        GateVerdict gate = report.gate();
        if (gate != null && report.outcome() == Outcome.REFUSED) {
            gate.tests().stream().filter(test -> !test.passed()).forEach(test -> counters.gateRefusals(
                            ofSite.label(), test.name())
                    .increment());
        }
        times.took(Stage.ADAPT, (long) (report.seconds() * 1e9));
    }
}
