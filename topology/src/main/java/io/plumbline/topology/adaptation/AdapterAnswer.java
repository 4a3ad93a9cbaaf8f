package io.plumbline.topology.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.wire.DType;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the adapter hands to emission: a report, and a decoder where one is published.
 *
 * @param publication null where nothing is
 */
public record AdapterAnswer(
        AdaptationReport report, @Nullable Publication publication) {

    /** Of a decoder made from the trained one. */
    public static final String ADAPTED = "adapted";
    /** Of the trained decoder, returned. */
    public static final String TRAINED = "trained";

    /**
     * A decoder with everything its manifest says.
     *
     * @param version higher than every one before it of this name
     * @param kind {@link #ADAPTED} or {@link #TRAINED}
     * @param dtype the type its weights travel in
     */
    public record Publication(
            long version,
            String kind,
            Decoder decoder,
            DType dtype,
            Map<String, String> lineage,
            String parentSha256) {}
}
