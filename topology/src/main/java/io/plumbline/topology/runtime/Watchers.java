package io.plumbline.topology.runtime;

import io.plumbline.topology.adaptation.Outcome;
import io.plumbline.topology.assessment.WindowReport;
import io.plumbline.topology.console.Console;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.metrics.Metrics;
import io.plumbline.topology.metrics.PipelineMetrics;
import io.plumbline.topology.windows.RowAccount;
import java.util.Collection;

/**
 * The metrics of the monitor's stages, which tell the console what a person looks at. When a site leaves, the console
 * goes on with what the instance that judges it then writes to the topic.
 */
final class Watchers extends PipelineMetrics {

    private final Console console;

    Watchers(Metrics metrics, Collection<String> sites, Console console) {
        super(metrics, sites, Outcome.labels());
        this.console = console;
    }

    @Override
    public void onDeadLetter(DeadLetter.Reason reason) {
        super.onDeadLetter(reason);
        console.onDeadLetter(reason.label());
    }

    @Override
    public void onAccount(String site, RowAccount account) {
        super.onAccount(site, account);
        console.onAccount(site, account);
    }

    @Override
    public void onReport(WindowReport report, long nanoseconds) {
        super.onReport(report, nanoseconds);
        console.onReport(report);
    }
}
