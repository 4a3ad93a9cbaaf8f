package io.plumbline.topology.runtime;

import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.assessment.WindowReport;
import io.plumbline.topology.console.Console;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.ingest.IngestListener;
import io.plumbline.topology.metrics.PipelineMetrics;
import io.plumbline.topology.windows.LateReason;
import io.plumbline.topology.windows.RowAccount;
import io.plumbline.topology.windows.StateSize;
import io.plumbline.topology.windows.WindowListener;

/** What the monitor's stages report goes to the metrics, and what a person looks at to the console as well. */
record Watchers(PipelineMetrics metrics, Console console) implements IngestListener, WindowListener, DriftListener {

    @Override
    public void onAccepted(String site, int rows) {
        metrics.onAccepted(site, rows);
    }

    @Override
    public void onMoment(String site) {
        metrics.onMoment(site);
    }

    @Override
    public void onRepeated(String site) {
        metrics.onRepeated(site);
    }

    @Override
    public void onRead(long nanoseconds) {
        metrics.onRead(nanoseconds);
    }

    @Override
    public void onDeadLetter(DeadLetter.Reason reason) {
        metrics.onDeadLetter(reason);
        console.onDeadLetter(reason.label());
    }

    @Override
    public void onLate(String site, long rows, LateReason reason) {
        metrics.onLate(site, rows, reason);
    }

    @Override
    public void onAccumulated(String site, int rows, long nanoseconds) {
        metrics.onAccumulated(site, rows, nanoseconds);
    }

    @Override
    public void onAccount(String site, RowAccount account) {
        metrics.onAccount(site, account);
        console.onAccount(site, account);
    }

    @Override
    public void onAccountReleased(String site) {
        metrics.onAccountReleased(site);
    }

    @Override
    public void onGivenUp(String site, int partition) {
        metrics.onGivenUp(site, partition);
    }

    @Override
    public void onForeign() {
        metrics.onForeign();
    }

    @Override
    public void onComposed(long nanoseconds) {
        metrics.onComposed(nanoseconds);
    }

    @Override
    public void onState(String store, String task, StateSize size) {
        metrics.onState(store, task, size);
    }

    @Override
    public void onStored(long nanoseconds) {
        metrics.onStored(nanoseconds);
    }

    @Override
    public void onStateReleased(String store, String task) {
        metrics.onStateReleased(store, task);
    }

    @Override
    public void onStall(long nanoseconds) {
        metrics.onStall(nanoseconds);
    }

    @Override
    public void onWindowClosed(String site, long rows) {
        metrics.onWindowClosed(site, rows);
    }

    @Override
    public void onReport(WindowReport report, long nanoseconds) {
        metrics.onReport(report, nanoseconds);
        console.onReport(report);
    }

    /** The console goes on with what the instance that judges the site now writes to the topic. */
    @Override
    public void onSiteReleased(String site) {
        metrics.onSiteReleased(site);
    }
}
