package io.plumbline.topology.report;

import io.plumbline.behaviour.Figure;
import io.plumbline.behaviour.WindowAblation;
import io.plumbline.behaviour.WindowBehaviour;
import io.plumbline.geometry.Statistic;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Says what the rest of the model did with whole requests of a window, the decoders' reconstructions in place.
 *
 * @param requests that were measured; fewer than there were where the budget ran out
 * @param rows of theirs that count: all but the first of each
 * @param leftOut requests that could not be measured: of one row, or with a token that the head does not know
 * @param split requests of the sample that came in several records, so that their rows have no order
 * @param failure in one word how the head failed, such as {@code timed_out}; null where it did not
 * @param reason a sentence for why nothing was measured; null where something was
 * @param trained figures of the trained decoder by statistic, with the ends of their 95 % intervals over requests
 * @param active the same of the decoder in service; null while that is the trained one
 * @param ablation what removing features does to the model's prediction; null where none were removed
 */
public record DownstreamReport(
        int requests,
        long rows,
        int leftOut,
        int split,
        @Nullable String failure,
        @Nullable String reason,
        Map<String, Figure> trained,
        @Nullable Map<String, Figure> active,
        @Nullable WindowAblation ablation) {

    private static final WindowMetric REQUESTS = WindowMetric.family(
            "plumbline_downstream_requests",
            "Whole requests of the newest closed window that the rest of the model was run on");

    /** Figures of the trained decoder are statistics. */
    static final BiConsumer<DownstreamReport, Samples> SAMPLES = (downstream, samples) -> {
        samples.set(REQUESTS, downstream.requests());
        Map<String, Figure> active = downstream.active();
        if (active != null) {
            for (Statistic statistic : WindowBehaviour.STATISTICS) {
                Figure figure = active.get(statistic.label());
                samples.set(WindowMetric.of(statistic), "active", figure == null ? null : figure.value());
            }
        }
    };

    /** @param split requests of the sample that came in several records */
    public static DownstreamReport of(WindowBehaviour behaviour, int split) {
        Map<Statistic, Figure> active = behaviour.active();
        return new DownstreamReport(
                behaviour.requests(),
                behaviour.rows(),
                behaviour.leftOut(),
                split,
                behaviour.failure(),
                behaviour.reason(),
                byLabel(behaviour.trained()),
                active == null ? null : byLabel(active),
                behaviour.ablation());
    }

    private static Map<String, Figure> byLabel(Map<Statistic, Figure> figures) {
        Map<String, Figure> byLabel = new LinkedHashMap<>();
        figures.forEach((statistic, figure) -> byLabel.put(statistic.label(), figure));
        return byLabel;
    }
}
