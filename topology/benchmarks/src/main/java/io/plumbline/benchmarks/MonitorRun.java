package io.plumbline.benchmarks;

import io.plumbline.benchmarks.BenchSite.Windows;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.runtime.PlumblineRuntime;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.concurrent.TimeUnit;

/** The monitor as it runs in production, from the beginning of a topic to its end, by its own count. */
final class MonitorRun {

    static final String ROWS = "plumbline_rows_total";
    private static final String WINDOWS = "plumbline_windows_total";
    private static final String STALLS = "plumbline_ingestion_stall_seconds";
    private static final long LOOK_EVERY_MS = 100;
    private static final double GIVE_UP_SECONDS = 300;

    private MonitorRun() {}

    /**
     * The result of a run.
     *
     * @param rowsPerSecond without warm-up
     * @param withoutBroker rows a second if the broker had run on other cores ({@link RateMeter#hotRateWithoutOthers})
     * @param stalls of ingestion, because windows closed
     * @param seconds from the start to the last row and window
     * @param heapMegabytes in use after a collection at the end, the broker's apart, which is another process
     */
    record Result(double rowsPerSecond, double withoutBroker, Stalls stalls, double seconds, double heapMegabytes) {}

    /**
     * The times for which ingestion stood still, in ms.
     *
     * @param ninetyNinth percentile, as the upper end of the bucket that it falls in
     * @param longest exact; no percentile is above it
     */
    record Stalls(long number, double ninetyNinth, double longest) {

        /** Reads them off a page of metrics. */
        static Stalls read(String page) {
            double number = sum(page, STALLS + "_count");
            double longest = sum(page, STALLS + "_max");
            double ninetyNinth = page.lines()
                    .filter(line -> line.startsWith(STALLS + "_bucket"))
                    .filter(line -> value(line) >= 0.99 * number)
                    .map(Stalls::upperEnd)
                    .min(Comparator.naturalOrder())
                    .orElseThrow(() ->
                            new IllegalStateException("the monitor's metrics have no %s_bucket".formatted(STALLS)));
            return new Stalls((long) number, 1e3 * Math.min(ninetyNinth, longest), 1e3 * longest);
        }

        private static double upperEnd(String line) {
            int from = line.indexOf("le=\"") + 4;
            String end = line.substring(from, line.indexOf('"', from));
            return end.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(end);
        }
    }

    /** Reads the topic to its end, and on until so many windows have closed and their stalls are counted. */
    static Result of(Bench bench, BenchSite site, ActivationsTopic topic, Windows windows, long closing)
            throws IOException, InterruptedException {
        MonitorConfig config = site.watching(bench, topic, windows);
        try (PlumblineRuntime runtime = site.start(config)) {
            RateMeter meter = new RateMeter();
            long begin = System.nanoTime();
            double seen = 0.0;
            String page = "";
            while (seen < topic.rows()
                    || sum(page, WINDOWS) < closing
                    || (closing > 0 && Stalls.read(page).number() == 0)) {
                String failure = runtime.awaitFailure(LOOK_EVERY_MS, TimeUnit.MILLISECONDS);
                double seconds = (System.nanoTime() - begin) / 1e9;
                if (failure != null || seconds > GIVE_UP_SECONDS) {
                    throw new IllegalStateException("the monitor read %,.0f of %,d rows, closed %,.0f of %,d windows"
                                    .formatted(seen, topic.rows(), sum(page, WINDOWS), closing)
                            + " in %.0f s: %s".formatted(seconds, failure == null ? "given up" : failure));
                }
                page = metrics(runtime);
                if (seen < topic.rows()) {
                    seen = sum(page, ROWS);
                    meter.at(System.nanoTime(), seen, bench.brokerTime().toNanos());
                }
            }
            return new Result(
                    meter.hotRate(),
                    meter.hotRateWithoutOthers(Runtime.getRuntime().availableProcessors()),
                    Stalls.read(page),
                    (System.nanoTime() - begin) / 1e9,
                    heapAfterCollection());
        }
    }

    private static double heapAfterCollection() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / 1e6;
    }

    private static String metrics(PlumblineRuntime runtime) throws IOException {
        return page(URI.create(
                "http://127.0.0.1:%d/metrics".formatted(runtime.httpAddress().getPort())));
    }

    /** Returns a page of metrics. */
    static String page(URI address) throws IOException {
        try (InputStream in = address.toURL().openStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** Returns a figure over all its labels; 0 while nothing was counted. */
    static double sum(String page, String name) {
        return page.lines()
                .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
                .mapToDouble(MonitorRun::value)
                .sum();
    }

    private static double value(String line) {
        return Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
    }
}
