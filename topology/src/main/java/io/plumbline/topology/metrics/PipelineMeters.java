package io.plumbline.topology.metrics;

import io.plumbline.judgement.Verdict;
import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.ingest.IngestListener;
import io.plumbline.topology.kafka.NextOffsets;
import io.plumbline.topology.panes.LateReason;
import io.plumbline.topology.panes.RowAccount;
import io.plumbline.topology.panes.StateSize;
import io.plumbline.topology.report.DownstreamReport;
import io.plumbline.topology.report.ModelReport;
import io.plumbline.topology.report.Sections;
import io.plumbline.topology.report.TargetsReport;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.topology.report.WorstRequest;
import io.plumbline.topology.windows.WindowListener;
import io.prometheus.metrics.model.registry.MultiCollector;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Meters of the monitor's stages. Thread-safe and never blocks; {@link Metrics#guarded} contains its failures. */
public final class PipelineMeters implements IngestListener, WindowListener, DriftListener {

    private final Counters counters;
    private final SiteCounters sites;
    private final StageTimers times;
    private final SiteWindows siteWindows;
    private final ModelWindows modelWindows;
    private final SiteAccounts siteAccounts = new SiteAccounts();
    private final PipelineState pipelineState = new PipelineState();
    private final DriftedWindows driftedWindows;

    PipelineMeters(Counters counters, SiteCounters sites, StageTimers times, Clock wallClock, Duration staleness) {
        this.counters = counters;
        this.sites = sites;
        this.times = times;
        siteWindows = new SiteWindows(wallClock, staleness);
        modelWindows = new ModelWindows(wallClock, staleness);
        driftedWindows = new DriftedWindows(wallClock);
    }

    List<MultiCollector> collectors() {
        return List.of(siteWindows, modelWindows, siteAccounts, pipelineState, driftedWindows);
    }

    /** Creates the counters of these sites and of every reason at 0, see {@link Metrics#expect}. */
    void expect(Collection<String> siteNames) {
        for (DeadLetter.Reason reason : DeadLetter.Reason.values()) {
            counters.deadLetters(reason.label());
        }
        for (String site : siteNames) {
            String label = sites.of(site).label();
            for (LateReason reason : LateReason.values()) {
                counters.lateRows(label, reason.label());
            }
            counters.partitionsGivenUp(label);
            driftedWindows.expect(label);
        }
        counters.foreignRecords(NextOffsets.Input.MOMENTS.label());
        counters.foreignRecords(NextOffsets.Input.MODEL_WINDOWS.label());
    }

    @Override
    public void onAccepted(String site, int rows) {
        Counters.OfSite ofSite = sites.of(site);
        ofSite.records().increment();
        ofSite.rows().increment(rows);
    }

    @Override
    public void onMoment(String site) {
        sites.of(site).momentRecords().increment();
    }

    @Override
    public void onRepeated(String site) {
        sites.of(site).repeatedRecords().increment();
    }

    @Override
    public void onRead(long nanoseconds, byte @Nullable [] traceparent) {
        times.read(nanoseconds, traceparent);
    }

    @Override
    public void onDeadLetter(DeadLetter.Reason reason) {
        counters.deadLetters(reason.label()).increment();
    }

    @Override
    public void onLate(String site, long rows, LateReason reason) {
        counters.lateRows(sites.of(site).label(), reason.label()).increment((double) rows);
    }

    @Override
    public void onAccount(String site, RowAccount account) {
        if (sites.of(site).hasSeries()) {
            siteAccounts.put(site, account);
        }
    }

    @Override
    public void onAccountReleased(String site) {
        siteAccounts.forget(site);
    }

    @Override
    public void onGivenUp(String site, int partition) {
        counters.partitionsGivenUp(sites.of(site).label()).increment();
    }

    @Override
    public void onAccumulated(String site, int rows, long nanoseconds) {
        times.took(Stage.ACCUMULATE, nanoseconds);
    }

    @Override
    public void onComposed(long nanoseconds) {
        times.took(Stage.COMPOSE, nanoseconds);
    }

    @Override
    public void onStored(long nanoseconds) {
        times.took(Stage.STORE, nanoseconds);
    }

    @Override
    public void onState(String store, String task, StateSize size) {
        pipelineState.put(store, task, size);
    }

    @Override
    public void onStateReleased(String store, String task) {
        pipelineState.forget(store, task);
    }

    @Override
    public void onWindowClosed(String site, long rows) {
        sites.of(site).windows().increment();
    }

    @Override
    public void onStall(long nanoseconds) {
        times.stalled(nanoseconds);
    }

    @Override
    public void onForeign() {
        counters.foreignRecords(NextOffsets.Input.MOMENTS.label()).increment();
    }

    @Override
    public void onReport(WindowReport report, long nanoseconds) {
        Counters.OfSite ofSite = sites.of(report.header().site());
        times.took(Stage.ASSESS, nanoseconds);
        ofSite.boundViolations().increment(report.violatedBounds().size());
        DownstreamReport downstream = report.section(Sections.DOWNSTREAM);
        if (downstream != null && downstream.failure() != null) {
            ofSite.downstreamFailures().increment();
        }
        if (report.judged().verdict() == Verdict.DRIFTED) {
            WorstRequest worst =
                    report.listed(Sections.WORST_REQUESTS).stream().findFirst().orElse(null);
            driftedWindows.add(
                    ofSite.label(), worst == null ? null : worst.printable(), worst == null ? 0.0 : worst.share());
        }
        show(WindowValues.of(report));
    }

    @Override
    public void onTargets(TargetsReport report) {
        show(WindowValues.of(report));
    }

    @Override
    public void onModelReport(ModelReport report) {
        modelWindows.put(report);
    }

    @Override
    public void onLateSite(String model) {
        counters.lateSites(model).increment();
    }

    @Override
    public void onForeignWindow() {
        counters.foreignRecords(NextOffsets.Input.MODEL_WINDOWS.label()).increment();
    }

    @Override
    public void onModelReleased(String model) {
        modelWindows.forget(model);
    }

    @Override
    public void onDownstream(String site, long nanoseconds) {
        times.took(Stage.DOWNSTREAM, nanoseconds);
    }

    /** Replaces the values of a site's last window by these, all at once. */
    void show(SiteSnapshot window) {
        if (sites.of(window.site()).hasSeries()) {
            siteWindows.put(window);
        }
    }

    @Override
    public void onSiteReleased(String site) {
        siteWindows.forget(site);
    }
}
