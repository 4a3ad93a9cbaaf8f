package io.plumbline.topology.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.factored.DecoderFactors;
import io.plumbline.wire.DType;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the adapter hands to emission. Factors are null where the weights travel. */
public sealed interface AdaptationOutcome {

    AdaptationReport report();

    /** A decoder that passed the gate. */
    record Publish(
            AdaptationReport report,
            Decoder decoder,
            DType dtype,
            @Nullable DecoderFactors factors,
            Map<String, String> lineage,
            String parentSha256)
            implements AdaptationOutcome {}

    /** The pooled rows are too few to judge a decoder on: they wait for those of the next drifted window. */
    record Wait(AdaptationReport report) implements AdaptationOutcome {}

    /** Nothing changes. */
    record Keep(AdaptationReport report) implements AdaptationOutcome {}

    /** The trained decoder returns, if an adapted one is active. */
    record Revert(
            AdaptationReport report,
            Decoder trained,
            DType dtype,
            @Nullable DecoderFactors factors,
            String parentSha256)
            implements AdaptationOutcome {}
}
