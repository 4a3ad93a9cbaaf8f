package io.plumbline.topology.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.factored.DecoderFactors;
import io.plumbline.wire.DType;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the adapter hands to emission.
 *
 * @param publication a decoder to publish; null where there is none
 * @param state what the adapter holds itself to from now on; null where nothing changed
 * @param command id of the command that is answered; null where the monitor asked
 */
public record AdapterAnswer(
        AdaptationReport report,
        @Nullable Publication publication,
        @Nullable SwapState state,
        @Nullable String command) {

    /** Header of a report: the id of the command it answers. */
    public static final String COMMAND_HEADER = "plumbline.command";

    /**
     * A decoder with everything its manifest says.
     *
     * @param version higher than every one before it; candidates are counted by themselves
     * @param dtype the type its weights have
     * @param factors what it is made of, where it travels as factors; null where its weights travel
     */
    public record Publication(
            long version,
            DecoderKind kind,
            Decoder decoder,
            DType dtype,
            @Nullable DecoderFactors factors,
            Map<String, String> lineage,
            String parentSha256) {}
}
