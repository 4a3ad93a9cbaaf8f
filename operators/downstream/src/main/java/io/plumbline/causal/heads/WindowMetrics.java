package io.plumbline.causal.heads;

import io.plumbline.geometry.Statistic;
import java.util.EnumMap;
import java.util.Map;

/** The figures of a service's windows among the sequence metrics. */
final class WindowMetrics {

    /** The metric of each statistic that is measured by running a head. */
    static final Map<Statistic, Metric> BY_STATISTIC = Map.of(
            Statistic.DELTA_CE, Metric.DELTA_CE,
            Statistic.KL, Metric.KL,
            Statistic.TOP1_AGREEMENT, Metric.TOP1_AGREEMENT,
            Statistic.LOSS_RECOVERED, Metric.LOSS_RECOVERED);

    private WindowMetrics() {}

    /** Returns the figures of these sums that are defined. */
    static Map<Statistic, Double> of(Sums sums) {
        Map<Statistic, Double> figures = new EnumMap<>(Statistic.class);
        BY_STATISTIC.forEach((statistic, metric) -> {
            double value = metric.of(sums);
            if (Double.isFinite(value)) {
                figures.put(statistic, value);
            }
        });
        return figures;
    }
}
