package io.plumbline.topology.assessment;

import io.plumbline.activity.ActivityChanges;
import io.plumbline.adaptation.PairedErrors;
import io.plumbline.attribution.FailingFeature;
import io.plumbline.behaviour.WindowBehaviour;
import io.plumbline.calibration.WindowRequests;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.refit.SampleRows;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The measurements of one window: nearly all the work, and nothing of what is remembered of its site. Immutable.
 *
 * @param requests scores of its requests
 * @param encoded the first rows of its sample, encoded: those that reconstruction is measured on, and where the window
 *     looks drifted as many as failing features are told by
 * @param active the decoder in service while it was measured; null while that is the trained one as it came
 * @param fvu of that decoder on the rows that reconstruction is measured on
 * @param activeGap its faithfulness gap
 * @param errors it against the trained one, while it is an adapted one that is watched
 * @param failing the features that fail, where the window looks drifted; null where nobody may ask, so that it was left
 *     out
 * @param activity the features that are active more or less often
 * @param spectrum eigenvalues of window and baseline
 * @param comparisons the rows by the values of headers and tags: of {@code breakdown_by}, and where the window looks
 *     drifted of those it has several values of
 * @param behaviour what the rest of the model did with its requests; null where the site names none
 * @param nanoseconds what it took
 */
record Measurement(
        GapAssessment geometry,
        WindowRequests requests,
        ActiveSubspace subspace,
        SampleRows encoded,
        ActiveDecoders.@Nullable Active active,
        @Nullable Double fvu,
        @Nullable Double activeGap,
        @Nullable PairedErrors errors,
        @Nullable List<FailingFeature> failing,
        ActivityChanges activity,
        Spectrum spectrum,
        Map<String, Breakdown> comparisons,
        @Nullable WindowBehaviour behaviour,
        long nanoseconds) {}
