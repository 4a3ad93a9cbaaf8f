package io.plumbline.causal;

import io.plumbline.adaptation.PairedErrors;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.geometry.Value;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Holds what the rest of a model did with the requests of one window.
 *
 * @param requests that were measured
 * @param rows of theirs that count: all but the first of each
 * @param leftOut requests that could not be measured: of one row, or with a token that the head does not know
 * @param trained of the trained decoder; without those that are undefined, empty where nothing was measured
 * @param active of the decoder in service; null while that is the trained one
 * @param change KL of the decoder in service less that of the trained one, request by request; null while that is the
 *     trained one
 * @param ablation what removing features does; null where none were removed
 * @param failure in one word how the head failed; null where it did not
 * @param reason why nothing was measured; null where something was
 * @param nanoseconds what it took
 */
public record WindowBehaviour(
        int requests,
        long rows,
        int leftOut,
        Map<Statistic, Figure> trained,
        @Nullable Map<Statistic, Figure> active,
        @Nullable PairedErrors change,
        @Nullable WindowAblation ablation,
        @Nullable String failure,
        @Nullable String reason,
        long nanoseconds) {

    /** Every statistic that is measured by running the rest of the model. */
    public static final List<Statistic> STATISTICS = Arrays.stream(Statistic.values())
            .filter(statistic -> statistic.source() == Statistic.Source.HEAD)
            .toList();

    private static final String NO_TOKENS =
            "the window's requests have no token_ids, or the figure is undefined on them";

    public WindowBehaviour {
        trained = ordered(trained);
        active = active == null ? null : ordered(active);
    }

    private static Map<Statistic, Figure> ordered(Map<Statistic, Figure> figures) {
        Map<Statistic, Figure> ordered = new EnumMap<>(Statistic.class);
        ordered.putAll(figures);
        return Collections.unmodifiableMap(ordered);
    }

    /** Says that nothing was measured, for a reason that is no failure of the head. */
    public static WindowBehaviour nothing(int leftOut, String reason, long nanoseconds) {
        return new WindowBehaviour(0, 0, leftOut, Map.of(), null, null, null, null, reason, nanoseconds);
    }

    /** Says that the head failed. */
    public static WindowBehaviour failed(String failure, String reason, long nanoseconds) {
        return new WindowBehaviour(0, 0, 0, Map.of(), null, null, null, failure, reason, nanoseconds);
    }

    /** Returns an assessment with what was measured of the trained decoder, or why it was not. */
    public GapAssessment addTo(GapAssessment window) {
        GapAssessment with = window;
        for (Statistic statistic : STATISTICS) {
            Figure figure = trained.get(statistic);
            with = with.with(
                    statistic,
                    figure != null
                            ? new Value.Known(figure.value())
                            : new Value.Undefined(reason == null ? NO_TOKENS : reason));
        }
        return with;
    }
}
