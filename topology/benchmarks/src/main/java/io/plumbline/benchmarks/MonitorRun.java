package io.plumbline.benchmarks;

import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The monitor as it runs in production, from the beginning of a topic to its end, by its own count. */
final class MonitorRun {

    private static final String ROWS = "plumbline_rows_total";
    private static final String WINDOWS = "plumbline_windows_total";
    private static final long LOOK_EVERY_MS = 100;
    private static final double GIVE_UP_SECONDS = 300;

    private MonitorRun() {}

    /**
     * The result of a run.
     *
     * @param rowsPerSecond without warm-up
     * @param withoutBroker rows a second if the broker had run on other cores ({@link RateMeter#hotRateWithoutOthers})
     * @param stalls of ingestion, because windows closed
     * @param collections pauses of the collector of this process
     */
    record Result(double rowsPerSecond, double withoutBroker, Pauses stalls, Pauses collections) {}

    /**
     * Runs until so many rows are read and so many windows closed, with the stalls they caused.
     *
     * @param windows that the rows close, which takes some commits more than to read them
     * @param brokerTime the processor time that the broker has used so far
     */
    static Result of(
            MonitorConfig config,
            Map<String, WatchedSite> sites,
            long rows,
            long windows,
            Supplier<Duration> brokerTime)
            throws IOException, InterruptedException {
        try (CollectorWatch collector = new CollectorWatch();
                PlumblineRuntime runtime = PlumblineRuntime.start(config, sites, Role.MONITOR)) {
            RateMeter meter = new RateMeter();
            long begin = System.nanoTime();
            double seen = 0.0;
            MetricsPage page = MetricsPage.EMPTY;
            while (seen < rows || !haveClosed(windows, page)) {
                String failure = runtime.awaitFailure(LOOK_EVERY_MS, TimeUnit.MILLISECONDS);
                requireRunning(
                        failure,
                        begin,
                        "%,.0f of %,d rows, closed %,.0f of %,d windows"
                                .formatted(seen, rows, page.sumOf(WINDOWS), windows));
                page = MetricsPage.of(runtime);
                if (seen < rows) {
                    seen = page.sumOf(ROWS);
                    meter.at(System.nanoTime(), seen, brokerTime.get().toNanos());
                }
            }
            return new Result(
                    meter.hotRate(),
                    meter.hotRateWithoutOthers(Runtime.getRuntime().availableProcessors()),
                    StallHistogram.read("", page.text()),
                    collector.pauses(""));
        }
    }

    private static void requireRunning(@Nullable String failure, long begin, String done) {
        double seconds = (System.nanoTime() - begin) / 1e9;
        if (failure != null || seconds > GIVE_UP_SECONDS) {
            throw new IllegalStateException("the monitor read %s in %.0f s: %s"
                    .formatted(done, seconds, failure == null ? "given up" : failure));
        }
    }

    /** Returns whether so many windows are closed; the stall of a window is counted after it. */
    private static boolean haveClosed(long windows, MetricsPage page) {
        return windows == 0
                || (page.sumOf(WINDOWS) >= windows
                        && StallHistogram.read("", page.text()).number() > 0);
    }
}
