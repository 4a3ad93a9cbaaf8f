package io.plumbline.topology.metrics;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import org.apache.kafka.shaded.io.opentelemetry.proto.common.v1.KeyValue;
import org.apache.kafka.shaded.io.opentelemetry.proto.logs.v1.LogRecord;
import org.apache.kafka.shaded.io.opentelemetry.proto.logs.v1.LogsData;
import org.apache.kafka.shaded.io.opentelemetry.proto.metrics.v1.Exemplar;
import org.apache.kafka.shaded.io.opentelemetry.proto.metrics.v1.HistogramDataPoint;
import org.apache.kafka.shaded.io.opentelemetry.proto.metrics.v1.Metric;
import org.apache.kafka.shaded.io.opentelemetry.proto.metrics.v1.MetricsData;
import org.apache.kafka.shaded.io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import org.apache.kafka.shaded.io.opentelemetry.proto.metrics.v1.SummaryDataPoint;

/** A receiver of pushes on loopback, which reads them by the protocol's own classes, as Kafka's clients have them. */
final class OtlpReceiver implements AutoCloseable {

    /** A request that was taken. */
    record Push(Headers headers, MetricsData data) {}

    private final HttpServer server;
    private final List<Push> pushes = Collections.synchronizedList(new ArrayList<>());
    private final List<LogRecord> logs = Collections.synchronizedList(new ArrayList<>());
    private volatile int status = 200;

    private OtlpReceiver(HttpServer server) {
        this.server = server;
    }

    static OtlpReceiver start() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        OtlpReceiver receiver = new OtlpReceiver(server);
        server.createContext("/v1/metrics", receiver::answer);
        server.createContext("/v1/logs", receiver::answerLogs);
        server.start();
        return receiver;
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange;
                GZIPInputStream body = new GZIPInputStream(exchange.getRequestBody())) {
            MetricsData data = MetricsData.parseFrom(body);
            if (status == 200) {
                pushes.add(new Push(exchange.getRequestHeaders(), data));
            }
            exchange.sendResponseHeaders(status, -1);
        }
    }

    private void answerLogs(HttpExchange exchange) throws IOException {
        try (exchange;
                GZIPInputStream body = new GZIPInputStream(exchange.getRequestBody())) {
            LogsData data = LogsData.parseFrom(body);
            if (status == 200) {
                logs.addAll(data.getResourceLogs(0).getScopeLogs(0).getLogRecordsList());
            }
            exchange.sendResponseHeaders(status, -1);
        }
    }

    URI endpoint() {
        return url("/v1/metrics");
    }

    URI events() {
        return url("/v1/logs");
    }

    private URI url(String path) {
        return URI.create("http://127.0.0.1:%d%s".formatted(server.getAddress().getPort(), path));
    }

    /** Returns the events that were taken. */
    List<LogRecord> logs() {
        return List.copyOf(logs);
    }

    /** Answers with another status from here on; only with 200 a push is kept. */
    void answerWith(int status) {
        this.status = status;
    }

    List<Push> pushes() {
        return List.copyOf(pushes);
    }

    /** Returns every series of a push as Prometheus names it, with the labels in order. */
    static Map<SeriesName, Double> series(MetricsData data) {
        Map<SeriesName, Double> series = new TreeMap<>();
        data.getResourceMetrics(0).getScopeMetrics(0).getMetricsList().forEach(metric -> putAll(metric, series));
        return series;
    }

    /** Returns the exemplars of a push as {@link SeriesName#exemplars} does. */
    static Map<SeriesName, String> exemplars(MetricsData data) {
        Map<SeriesName, String> exemplars = new TreeMap<>();
        data.getResourceMetrics(0).getScopeMetrics(0).getMetricsList().forEach(metric -> {
            metric.getSum().getDataPointsList().forEach(point -> point.getExemplarsList()
                    .forEach(each -> exemplars.put(name(metric, "", point.getAttributesList()), said(each))));
            metric.getHistogram().getDataPointsList().forEach(point -> point.getExemplarsList()
                    .forEach(each -> exemplars.put(name(metric, "", point.getAttributesList()), said(each))));
        });
        return exemplars;
    }

    private static String said(Exemplar exemplar) {
        Map<String, String> labels = new TreeMap<>();
        exemplar.getFilteredAttributesList()
                .forEach(each -> labels.put(each.getKey(), each.getValue().getStringValue()));
        if (!exemplar.getTraceId().isEmpty()) {
            labels.put(
                    "trace_id", HexFormat.of().formatHex(exemplar.getTraceId().toByteArray()));
            labels.put("span_id", HexFormat.of().formatHex(exemplar.getSpanId().toByteArray()));
        }
        return labels + " " + exemplar.getAsDouble();
    }

    private static void putAll(Metric metric, Map<SeriesName, Double> series) {
        switch (metric.getDataCase()) {
            case GAUGE -> metric.getGauge().getDataPointsList().forEach(point -> put(metric, point, series));
            case SUM -> metric.getSum().getDataPointsList().forEach(point -> put(metric, point, series));
            case HISTOGRAM -> metric.getHistogram().getDataPointsList().forEach(point -> put(metric, point, series));
            case SUMMARY -> metric.getSummary().getDataPointsList().forEach(point -> put(metric, point, series));
            default -> throw new AssertionError(metric);
        }
    }

    private static void put(Metric metric, NumberDataPoint point, Map<SeriesName, Double> series) {
        series.put(name(metric, "", point.getAttributesList()), point.getAsDouble());
    }

    private static void put(Metric metric, HistogramDataPoint point, Map<SeriesName, Double> series) {
        List<KeyValue> labels = point.getAttributesList();
        long count = 0;
        for (int bucket = 0; bucket < point.getBucketCountsCount(); bucket++) {
            count += point.getBucketCounts(bucket);
            double bound = bucket < point.getExplicitBoundsCount()
                    ? point.getExplicitBounds(bucket)
                    : Double.POSITIVE_INFINITY;
            series.put(name(metric, "_bucket", labels).with("le", Double.toString(bound)), (double) count);
        }
        series.put(name(metric, "_count", labels), (double) point.getCount());
        series.put(name(metric, "_sum", labels), point.getSum());
    }

    private static void put(Metric metric, SummaryDataPoint point, Map<SeriesName, Double> series) {
        List<KeyValue> labels = point.getAttributesList();
        point.getQuantileValuesList()
                .forEach(value -> series.put(
                        name(metric, "", labels).with("quantile", Double.toString(value.getQuantile())),
                        value.getValue()));
        series.put(name(metric, "_count", labels), (double) point.getCount());
        series.put(name(metric, "_sum", labels), point.getSum());
    }

    private static SeriesName name(Metric metric, String suffix, List<KeyValue> attributes) {
        SeriesName name = new SeriesName(metric.getName() + suffix, Map.of());
        for (KeyValue attribute : attributes) {
            name = name.with(attribute.getKey(), attribute.getValue().getStringValue());
        }
        return name;
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
