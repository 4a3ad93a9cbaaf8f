package io.plumbline.topology.metrics;

import io.plumbline.geometry.Statistic;
import io.plumbline.judgement.Verdict;
import io.plumbline.topology.report.Samples;
import io.plumbline.topology.report.WindowMetric;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Holds everything that is exported about one window of one site; immutable, so that whoever reads it sees one window
 * and no other.
 *
 * <p>A value that is undefined (null, NaN or infinite) is absent from the list and therefore from the scrape: a gauge
 * that showed 0 or yesterday's number instead would be believed.
 */
public record SiteSnapshot(String site, List<Sample> samples) {

    /** The most that a share of 0 or 1 may be beyond; what is farther off is no share and is not shown as one. */
    private static final double ROUND_OFF = 1e-9;

    public SiteSnapshot {
        samples = List.copyOf(samples);
    }

    /**
     * A value of a window; {@code labelValue} belongs to {@link WindowMetric#label()} and is null exactly when that is.
     */
    public record Sample(WindowMetric metric, @Nullable String labelValue, double value) {
        public Sample {
            if ((metric.label() == null) != (labelValue == null)) {
                throw new IllegalArgumentException(metric.metricName() + ": the label "
                        + (metric.label() == null
                                ? "value \"" + labelValue + "\" has no label"
                                : metric.label() + " is missing"));
            }
        }
    }

    public static Builder of(String site) {
        return new Builder(site);
    }

    /** Collects the values of one window. Not thread-safe. */
    public static final class Builder implements Samples {
        private final String site;
        private final List<Sample> samples = new ArrayList<>();
        private final Set<Series> series = new HashSet<>();

        /** A family and the label in it that a window has at most one value of. */
        private record Series(WindowMetric metric, @Nullable String labelValue) {}

        private Builder(String site) {
            this.site = site;
        }

        /** Adds a value without a label of its own; null, NaN and infinities are left out. */
        @Override
        public Builder set(WindowMetric metric, @Nullable Number value) {
            return add(metric, null, value);
        }

        /** Adds the value of a statistic in its family; null, NaN and infinities are left out. */
        public Builder set(Statistic statistic, @Nullable Number value) {
            return add(WindowMetric.of(statistic), statistic.series().value(), value);
        }

        /** Adds a value under a label; null, NaN and infinities are left out. */
        @Override
        public Builder set(WindowMetric metric, String labelValue, @Nullable Number value) {
            return add(metric, labelValue, value);
        }

        /** Adds a yes or no as 1 or 0; null is left out. */
        public Builder set(WindowMetric metric, String labelValue, @Nullable Boolean value) {
            return add(metric, labelValue, value == null ? null : Integer.valueOf(value ? 1 : 0));
        }

        /** Sets the event times of the window in milliseconds since the epoch; exported in seconds. */
        public Builder window(long startMs, long endMs) {
            return set(WindowMetric.WINDOW_START, startMs / 1e3).set(WindowMetric.WINDOW_END, endMs / 1e3);
        }

        /** Sets the verdict to 1 and the other two to 0, so that a change is a step. */
        public Builder verdict(Verdict verdict) {
            for (Verdict possible : Verdict.values()) {
                set(WindowMetric.VERDICT, possible.label(), possible == verdict);
            }
            return this;
        }

        public SiteSnapshot build() {
            return new SiteSnapshot(site, samples);
        }

        private Builder add(WindowMetric metric, @Nullable String labelValue, @Nullable Number value) {
            double number = value == null ? Double.NaN : value.doubleValue();
            if (metric.isRatio()) {
                double within = Math.min(1.0, Math.max(0.0, number));
                number = Math.abs(within - number) <= ROUND_OFF ? within : Double.NaN;
            }
            // Some labels are text of producers. Of two equal ones the first counts: two would fail the whole scrape.
            if (Double.isFinite(number) && series.add(new Series(metric, labelValue))) {
                samples.add(new Sample(metric, labelValue, number));
            }
            return this;
        }
    }
}
