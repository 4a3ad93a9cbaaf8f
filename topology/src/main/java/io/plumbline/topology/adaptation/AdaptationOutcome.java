package io.plumbline.topology.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.wire.DType;
import java.util.Map;

/** What the adapter hands to emission. */
public sealed interface AdaptationOutcome {

    AdaptationReport report();

    /** A decoder that passed the gate. */
    record Publish(
            AdaptationReport report, Decoder decoder, DType dtype, Map<String, String> lineage, String parentSha256)
            implements AdaptationOutcome {}

    /** Nothing changes. */
    record Keep(AdaptationReport report) implements AdaptationOutcome {}

    /** The trained decoder returns, if an adapted one is active. */
    record Revert(AdaptationReport report, Decoder trained, DType dtype, String parentSha256)
            implements AdaptationOutcome {}
}
