package io.plumbline.topology.report;

import io.plumbline.features.ActivityChange;
import io.plumbline.features.ActivityChanges;
import java.util.function.BiConsumer;

/** The metrics of the features that are active more or less often. */
final class ActivitySamples {

    private static final WindowMetric COMPARED_FEATURES = WindowMetric.family(
            "plumbline_compared_features",
            "Features that are active often enough for the window to be compared with the baseline");
    private static final WindowMetric CHANGED_FEATURES = WindowMetric.family(
            "plumbline_changed_features",
            "Features that are active less or more often in the window than on the baseline's rows, beyond chance",
            "direction");

    static final BiConsumer<ActivityChanges, Samples> SAMPLES = (activity, samples) -> {
        if (activity.undefined() == null) {
            samples.set(COMPARED_FEATURES, activity.tested())
                    .set(CHANGED_FEATURES, ActivityChange.LESS_ACTIVE, activity.lessActive())
                    .set(CHANGED_FEATURES, ActivityChange.MORE_ACTIVE, activity.moreActive());
        }
    };

    private ActivitySamples() {}
}
