package io.plumbline.topology.runtime;

import io.plumbline.topology.adaptation.AdaptationListener;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.console.Console;
import io.plumbline.topology.metrics.Metrics;
import io.plumbline.topology.metrics.Stage;

/** Tells {@link Metrics} and {@link Console} what the adapter's stages report. */
record AdaptationMetrics(Metrics metrics, Console console) implements AdaptationListener {

    @Override
    public void onForeign() {
        metrics.foreignRecord(Metrics.ADAPTATION_REQUESTS);
    }

    @Override
    public void onSample(String site, int rows) {
        metrics.rowsAdaptedOn(site, rows);
    }

    @Override
    public void onPooled(String site, int rows) {
        metrics.rowsPooled(site, rows);
    }

    @Override
    public void onPoolReleased(String site) {
        metrics.forgetPool(site);
    }

    @Override
    public void onEmitted(long nanoseconds) {
        metrics.took(Stage.EMIT, nanoseconds);
    }

    @Override
    public void onAdaptation(AdaptationReport report) {
        switch (report.outcome()) {
            case PUBLISHED, APPROVED -> metrics.decoderPublished(report.site());
            case REVERTED, ROLLED_BACK -> metrics.decoderReverted(report.site());
            default -> {}
        }
        metrics.adaptationEnded(report.site(), report.outcome().label());
        metrics.took(Stage.ADAPT, (long) (report.seconds() * 1e9));
        console.onAdaptation(report);
    }
}
