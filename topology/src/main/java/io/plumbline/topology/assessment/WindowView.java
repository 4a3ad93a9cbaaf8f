package io.plumbline.topology.assessment;

import io.plumbline.adaptation.ExplainerTrial;
import io.plumbline.baseline.WindowRequests;
import io.plumbline.causal.WindowBehaviour;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.topology.windows.ClosedWindow;
import org.jspecify.annotations.Nullable;

/**
 * Holds all that is known of a window before it is judged, for every {@link Measure} to start from.
 *
 * @param adapted the decoder in service while the window was measured, where it is an adapted one; else null
 * @param geometry every statistic of the window
 * @param requests scores of its requests
 * @param sample its sampled rows, as far as they are encoded
 * @param behaviour what the rest of the model did with its requests; null where the site names none
 * @param trial the explainer in no service beside the one of the site; null where there is none, or no row to compare
 *     them on
 * @param shadowBehaviour what the rest of the model did with that one's reconstructions; null where it was not asked
 * @param suspect whether it looks drifted, so that the sections that describe a drift are worth their time
 */
record WindowView(
        ClosedWindow window,
        ActiveDecoders.@Nullable Active adapted,
        GapAssessment geometry,
        WindowRequests requests,
        ActiveSubspace subspace,
        EncodedSample sample,
        @Nullable WindowBehaviour behaviour,
        @Nullable ExplainerTrial trial,
        @Nullable WindowBehaviour shadowBehaviour,
        boolean suspect) {}
