package io.plumbline.topology.report;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.plumbline.causal.Figure;
import io.plumbline.causal.WindowAblation;
import io.plumbline.causal.WindowBehaviour;
import io.plumbline.geometry.Statistic;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Says what the rest of the model did with whole requests of a window, the decoders' reconstructions in place. */
public record DownstreamReport(
        @JsonPropertyDescription("whole requests that were measured; fewer than there were where the budget ran out")
        int requests,

        @JsonPropertyDescription("rows of theirs that count: all but the first of each")
        long rows,

        @JsonPropertyDescription(
                "requests that could not be measured: of one row, or with a token that the head does not know")
        int leftOut,

        @JsonPropertyDescription(
                "requests of the sample that came in several records, so that their rows have no order")
        int split,

        @JsonPropertyDescription(
                "how the head failed: `not_finite`, `wrong_shape`, `timed_out`, `unreachable` or `failed`; "
                        + "null where it did not")
        @Nullable
        String failure,

        @JsonPropertyDescription("a sentence for why nothing was measured; null where something was") @Nullable
        String reason,

        @JsonPropertyDescription("of the trained decoder: `value`, `low` and `high` of `delta_ce`, `kl`, "
                + "`top1_agreement` and `loss_recovered`, a 95 % interval over requests; "
                + "without those that are undefined")
        Map<String, Figure> trained,

        @JsonPropertyDescription("the same of the decoder in service; null while that is the trained one") @Nullable
        Map<String, Figure> active,

        @JsonPropertyDescription(
                "what removing features of the last row does, of a site with `ablations`: `requests`, `excluded`, "
                        + "and `naopc`, `ncomp`, `ncomp8` and `ncomp4` of the `trained` and the `active` decoder; "
                        + "to be read, not to be judged by. Null where none were removed")
        @Nullable
        WindowAblation ablation) {

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
