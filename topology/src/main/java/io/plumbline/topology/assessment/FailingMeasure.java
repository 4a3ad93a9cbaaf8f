package io.plumbline.topology.assessment;

import io.plumbline.features.FailingFeature;
import io.plumbline.features.FailingFeatures;
import io.plumbline.refit.SampleRows;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Lists the features whose decoder columns are wrong on the rows of a drifted window. Of a window that looks drifted
 * they are measured beside the stream; of one that is found drifted only when it is judged, then. Thread-safe.
 */
final class FailingMeasure implements Measure<List<FailingFeature>> {

    private final WatchedSite site;

    /** Made with the first window that looks drifted, since it encodes the rows that the baseline keeps. */
    private @Nullable FailingFeatures features;

    FailingMeasure(WatchedSite site) {
        this.site = site;
    }

    @Override
    public Telling<List<FailingFeature>> of(WindowView view) {
        List<FailingFeature> measured = view.suspect() ? list(view) : null;
        return (decision, told) -> {
            if (!decision.drifted()) {
                return null;
            }
            return measured == null ? list(view) : measured;
        };
    }

    private List<FailingFeature> list(WindowView view) {
        if (site.explainer().isGiven()) {
            return List.of();
        }
        SampleRows rows = view.sample().extended().first(FailingFeatures.ROWS);
        return features()
                .list(
                        rows.codes(),
                        rows.targets(),
                        rows.requests(),
                        view.adapted() == null ? null : view.adapted().decoder(),
                        FailingFeatures.REPORTED);
    }

    private synchronized FailingFeatures features() {
        FailingFeatures known = features;
        if (known == null) {
            known = FailingFeatures.of(site.explainer(), site.baseline().rows());
            features = known;
        }
        return known;
    }
}
