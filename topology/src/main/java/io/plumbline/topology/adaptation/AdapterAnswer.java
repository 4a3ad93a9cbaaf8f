package io.plumbline.topology.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.wire.DType;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a request or a command, from the refit through the rules of swaps to emission.
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

    /** The header of a report that holds the id of the command it answers. */
    public static final String COMMAND_HEADER = "plumbline.command";

    /**
     * A decoder with everything its manifest says.
     *
     * @param version higher than every one before it; candidates are counted by themselves; 0 until it has one
     * @param dtype the type its weights have
     */
    public record Publication(
            long version,
            DecoderKind kind,
            Decoder decoder,
            DType dtype,
            Map<String, String> lineage,
            String parentSha256) {

        /** Returns this decoder as the given version of a kind. */
        Publication as(DecoderKind newKind, long newVersion) {
            return new Publication(newVersion, newKind, decoder, dtype, lineage, parentSha256);
        }

        /** Returns this decoder with another lineage. */
        Publication with(Map<String, String> newLineage) {
            return new Publication(version, kind, decoder, dtype, newLineage, parentSha256);
        }
    }

    /** Returns an answer that publishes nothing and changes nothing. */
    static AdapterAnswer said(AdaptationReport report) {
        return new AdapterAnswer(report, null, null, null);
    }

    /** Returns an answer that publishes nothing. */
    static AdapterAnswer said(AdaptationReport report, SwapState state) {
        return new AdapterAnswer(report, null, state, null);
    }

    /** Returns an answer that publishes a decoder. */
    static AdapterAnswer published(AdaptationReport report, Publication publication, SwapState state) {
        return new AdapterAnswer(report, publication, state, null);
    }

    Outcome outcome() {
        return report.outcome();
    }

    /** Returns this answer with what is pooled of each block in its report. */
    AdapterAnswer pooled(List<PooledRows> pools) {
        return new AdapterAnswer(report.pooled(pools), publication, state, command);
    }

    /** Returns this answer without a state that is the one before. */
    AdapterAnswer since(SwapState before) {
        return before.equals(state) ? new AdapterAnswer(report, publication, null, command) : this;
    }

    /** Returns this answer to a person's command. */
    AdapterAnswer to(AdaptationMessage.Command asked) {
        return new AdapterAnswer(report, publication, state, asked.id());
    }
}
