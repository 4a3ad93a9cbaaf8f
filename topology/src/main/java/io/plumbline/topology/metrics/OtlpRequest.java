package io.plumbline.topology.metrics;

import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.DataPointSnapshot;
import io.prometheus.metrics.model.snapshots.DistributionDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Exemplar;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.Label;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.Quantile;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import io.prometheus.metrics.model.snapshots.SummarySnapshot.SummaryDataPointSnapshot;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * Writes what {@code /metrics} shows as a request of the OpenTelemetry protocol.
 *
 * <p>Names are those of {@code /metrics}, {@code _total} and units included, and units are left empty: a receiver that
 * makes Prometheus' names from others then has nothing to add. Counters, histograms and summaries are cumulative since
 * the process started. An exemplar has trace and span in fields of their own and its other labels as attributes.
 *
 * <p>A metric has one type there, so histograms are sent with their classic buckets alone.
 */
final class OtlpRequest {

    private static final int CUMULATIVE = 2;

    private final long startNanos;
    private final long nowNanos;

    private OtlpRequest(long startMs, long nowMs) {
        startNanos = TimeUnit.MILLISECONDS.toNanos(startMs);
        nowNanos = TimeUnit.MILLISECONDS.toNanos(nowMs);
    }

    /**
     * Returns the bytes of an {@code ExportMetricsServiceRequest}.
     *
     * @param resource attributes of this process
     * @param startMs when its counters were 0, since the epoch
     */
    static byte[] of(MetricSnapshots snapshots, Map<String, String> resource, long startMs, long nowMs) {
        OtlpRequest request = new OtlpRequest(startMs, nowMs);
        ProtobufMessage scope = new ProtobufMessage().put(1, new ProtobufMessage().put(1, "plumbline"));
        snapshots.stream().forEach(snapshot -> scope.put(2, request.metric(snapshot)));
        return of(resource, scope);
    }

    /** Returns the bytes of a request with what one scope of this process says. */
    static byte[] of(Map<String, String> resource, ProtobufMessage scope) {
        ProtobufMessage attributes = new ProtobufMessage();
        resource.forEach((key, value) -> attributes.put(1, attribute(key, value)));
        return new ProtobufMessage()
                .put(1, new ProtobufMessage().put(1, attributes).put(2, scope))
                .toByteArray();
    }

    private ProtobufMessage metric(MetricSnapshot snapshot) {
        String name = snapshot.getMetadata().getPrometheusName();
        String help = snapshot.getMetadata().getHelp();
        ProtobufMessage metric = new ProtobufMessage().put(2, help == null ? "" : help);
        if (snapshot instanceof CounterSnapshot) {
            return metric.put(1, name + "_total")
                    .put(7, points(snapshot, this::number).put(2, CUMULATIVE).put(3, true));
        }
        if (snapshot instanceof HistogramSnapshot) {
            return metric.put(1, name).put(9, points(snapshot, this::histogram).put(2, CUMULATIVE));
        }
        if (snapshot instanceof SummarySnapshot) {
            return metric.put(1, name).put(11, points(snapshot, this::summary));
        }
        return metric.put(1, snapshot instanceof InfoSnapshot ? name + "_info" : name)
                .put(5, points(snapshot, this::number));
    }

    private static ProtobufMessage points(MetricSnapshot snapshot, Function<DataPointSnapshot, ProtobufMessage> point) {
        ProtobufMessage points = new ProtobufMessage();
        snapshot.getDataPoints().forEach(each -> points.put(1, point.apply(each)));
        return points;
    }

    private ProtobufMessage number(DataPointSnapshot point) {
        ProtobufMessage written = point(point, 7).put(4, value(point));
        Exemplar exemplar = point instanceof CounterDataPointSnapshot counter ? counter.getExemplar() : null;
        return exemplar == null ? written : written.put(5, exemplar(exemplar));
    }

    private static double value(DataPointSnapshot point) {
        if (point instanceof CounterDataPointSnapshot counter) {
            return counter.getValue();
        }
        return point instanceof GaugeDataPointSnapshot gauge ? gauge.getValue() : 1;
    }

    private ProtobufMessage histogram(DataPointSnapshot point) {
        HistogramDataPointSnapshot histogram = (HistogramDataPointSnapshot) point;
        ClassicHistogramBuckets buckets = histogram.getClassicBuckets();
        // The last bucket has no upper bound, which goes without saying there.
        ProtobufMessage written = distribution(histogram, 9)
                .putAll(6, IntStream.range(0, buckets.size()).mapToLong(buckets::getCount))
                .put(7, IntStream.range(0, buckets.size() - 1).mapToDouble(buckets::getUpperBound));
        histogram.getExemplars().forEach(each -> written.put(8, exemplar(each)));
        return written;
    }

    private static ProtobufMessage exemplar(Exemplar exemplar) {
        ProtobufMessage written = new ProtobufMessage()
                .fixed(2, TimeUnit.MILLISECONDS.toNanos(exemplar.getTimestampMillis()))
                .put(3, exemplar.getValue());
        for (Label label : exemplar.getLabels()) {
            switch (label.getName()) {
                case Exemplar.SPAN_ID -> written.put(4, HexFormat.of().parseHex(label.getValue()));
                case Exemplar.TRACE_ID -> written.put(5, HexFormat.of().parseHex(label.getValue()));
                default -> written.put(7, attribute(label.getName(), label.getValue()));
            }
        }
        return written;
    }

    private ProtobufMessage summary(DataPointSnapshot point) {
        SummaryDataPointSnapshot summary = (SummaryDataPointSnapshot) point;
        ProtobufMessage written = distribution(summary, 7);
        for (Quantile quantile : summary.getQuantiles()) {
            written.put(6, new ProtobufMessage().put(1, quantile.getQuantile()).put(2, quantile.getValue()));
        }
        return written;
    }

    private ProtobufMessage distribution(DistributionDataPointSnapshot point, int attributes) {
        return point(point, attributes).fixed(4, point.getCount()).put(5, point.getSum());
    }

    private ProtobufMessage point(DataPointSnapshot point, int attributes) {
        ProtobufMessage written = new ProtobufMessage().fixed(2, startNanos).fixed(3, nowNanos);
        Labels labels = point.getLabels();
        for (int label = 0; label < labels.size(); label++) {
            written.put(attributes, attribute(labels.getPrometheusName(label), labels.getValue(label)));
        }
        return written;
    }

    static ProtobufMessage attribute(String key, String value) {
        return new ProtobufMessage().put(1, key).put(2, new ProtobufMessage().put(1, value));
    }
}
