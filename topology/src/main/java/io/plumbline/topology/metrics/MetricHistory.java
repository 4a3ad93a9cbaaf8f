package io.plumbline.topology.metrics;

import io.plumbline.topology.report.TargetsReport;
import io.plumbline.topology.report.WindowMetric;
import io.plumbline.topology.report.WindowReport;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Writes windows of the past under the names of the scrape, each value at its window's end in event time, as
 * OpenMetrics text: {@code promtool tsdb create-blocks-from openmetrics} makes blocks of it, and the dashboards show
 * last month.
 *
 * <p>What a scrape cannot give: it knows only when it looked. Of a window reported twice (a topic replayed) the last
 * report counts. The client library writes one value of a series, not its history, so the text is written here.
 *
 * <p><b>Memory:</b> about 100 bytes a value, 60 values a window: 10,000 windows are 60 MB. OpenMetrics wants a metric
 * in one piece, which is why nothing is written before all is read. Not thread-safe.
 */
public final class MetricHistory {

    private final String job;
    private final Map<WindowMetric, SortedMap<String, SortedMap<Long, Double>>> families = new LinkedHashMap<>();

    /** @param job that scrapes would name, by which dashboards choose */
    public MetricHistory(String job) {
        this.job = job;
    }

    /** Adds the values of one window; undefined ones are left out, as on the scrape. */
    public void add(WindowReport report) {
        add(WindowValues.of(report), report.header().windowEndMs());
    }

    /** Adds which target layer stood worst in one window of a site with several. */
    public void add(TargetsReport report) {
        add(WindowValues.of(report), report.windowEndMs());
    }

    private void add(SiteSnapshot snapshot, long windowEndMs) {
        for (SiteSnapshot.Sample sample : snapshot.samples()) {
            families.computeIfAbsent(sample.metric(), metric -> new TreeMap<>())
                    .computeIfAbsent(labels(snapshot.site(), sample), labels -> new TreeMap<>())
                    .put(windowEndMs, sample.value());
        }
    }

    private String labels(String site, SiteSnapshot.Sample sample) {
        String labels = "{job=\"" + escaped(job) + "\",site=\"" + escaped(site) + "\"";
        String name = sample.metric().label();
        return name == null
                ? labels + "}"
                : labels + "," + name + "=\"" + escaped(String.valueOf(sample.labelValue())) + "\"}";
    }

    private static String escaped(String value) {
        return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\"", "\\\"");
    }

    /** Writes every series in order of time, and the mark of the end without which the text counts as cut off. */
    public void writeTo(Appendable out) throws IOException {
        for (Map.Entry<WindowMetric, SortedMap<String, SortedMap<Long, Double>>> family : families.entrySet()) {
            String name = family.getKey().metricName();
            out.append("# TYPE ").append(name).append(" gauge\n");
            out.append("# HELP ")
                    .append(name)
                    .append(' ')
                    .append(family.getKey().help());
            out.append('\n');
            for (Map.Entry<String, SortedMap<Long, Double>> series :
                    family.getValue().entrySet()) {
                for (Map.Entry<Long, Double> value : series.getValue().entrySet()) {
                    out.append(name).append(series.getKey()).append(' ');
                    out.append(value.getValue().toString()).append(' ');
                    out.append(seconds(value.getKey())).append('\n');
                }
            }
        }
        out.append("# EOF\n");
    }

    private static String seconds(long ms) {
        return BigDecimal.valueOf(ms, 3).toPlainString();
    }
}
