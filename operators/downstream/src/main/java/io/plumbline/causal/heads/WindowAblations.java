package io.plumbline.causal.heads;

import io.plumbline.causal.Figure;
import io.plumbline.causal.WindowAblation;
import io.plumbline.explainer.Decoder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Adds up what removing features does in the requests of one window, in the order of the drop that each causes.
 *
 * <p><b>Cost.</b> A run of the head for each active feature of the last row, and ten more, a request and decoder.
 */
final class WindowAblations {

    private static final List<Metric> METRICS = List.of(Metric.NAOPC, Metric.NCOMP, Metric.NCOMP8, Metric.NCOMP4);

    private final Decoder trained;
    private final @Nullable Decoder active;
    private final List<Sums> ofTrained = new ArrayList<>();
    private final List<Sums> ofActive = new ArrayList<>();
    private int requests;

    WindowAblations(Decoder trained, @Nullable Decoder active) {
        this.trained = trained;
        this.active = active;
    }

    void add(RequestStudy request) {
        requests++;
        add(request, trained, ofTrained);
        if (active != null) {
            add(request, active, ofActive);
        }
    }

    private static void add(RequestStudy request, Decoder decoder, List<Sums> to) {
        Ablation ablation = request.ablation(decoder, FeatureRanking.CAUSAL, null);
        if (ablation.counts()) {
            Sums.Builder sums = new Sums.Builder();
            ablation.addTo(sums);
            to.add(sums.build());
        }
    }

    /** Returns the figures with their intervals over requests; null where no features were removed. */
    @Nullable
    WindowAblation figures() {
        return requests == 0
                ? null
                : new WindowAblation(
                        requests,
                        requests - ofTrained.size(),
                        figures(ofTrained),
                        active == null ? null : figures(ofActive));
    }

    private static Map<String, Figure> figures(List<Sums> requests) {
        Map<String, Figure> figures = new LinkedHashMap<>();
        if (!requests.isEmpty()) {
            RequestBootstrap drawn = RequestBootstrap.of(requests);
            for (Metric metric : METRICS) {
                Interval interval = drawn.interval(metric::of);
                figures.put(metric.key(), new Figure(interval.value(), interval.low(), interval.high()));
            }
        }
        return figures;
    }
}
