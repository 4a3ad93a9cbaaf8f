package io.plumbline.benchmarks;

import io.plumbline.benchmarks.BenchSite.Windows;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Measures for how long the monitor takes no records: while it assesses windows, and while somebody refits beside it.
 */
final class PauseBench {

    private static final double MEBIBYTE = 1 << 20;

    /** The number of windows of a second that a topic closes: all but its last. */
    private static final long WINDOWS = ActivationsTopic.EVENT_SECONDS - 1;

    private final PipelineBench pipeline;
    private final Findings findings;
    private final Path folder;

    PauseBench(PipelineBench pipeline, Findings findings, Path folder) {
        this.pipeline = pipeline;
        this.findings = findings;
        this.folder = folder;
    }

    /** Measures a window a second, as fast as the topic can be read: many times as many as there would be. */
    void whileAssessing(BenchSite site, ActivationsTopic topic) throws IOException, InterruptedException {
        watch(site, topic, "d = %,d, windows of 1 s".formatted(topic.d()));
    }

    /** Measures with another process on the same cores. */
    void beside(RefitProcess refit, BenchSite site, ActivationsTopic topic) throws IOException, InterruptedException {
        findings.next("%s: starting".formatted(refit.title()));
        try (ChildProcess running = refit.start(folder.resolve("refits-%d.log".formatted(refit.d())))) {
            watch(site, topic, "d = %,d, windows of 1 s, %s".formatted(topic.d(), running.said()));
        }
    }

    private void watch(BenchSite site, ActivationsTopic topic, String what) throws IOException, InterruptedException {
        findings.next("stalls and pauses, " + what);
        MonitorRun.Result result = pipeline.monitorRun(site, topic, Windows.TUMBLING, WINDOWS);
        Pauses stalls = result.stalls().named("stalls of ingestion, " + what);
        findings.pauses.add(stalls);
        findings.pauses.add(result.collections()
                .named("garbage collector, %s, heap of %,.0f MiB"
                        .formatted(what, Runtime.getRuntime().maxMemory() / MEBIBYTE)));
        findings.add(List.of(Measurement.of(
                "pipeline, %s".formatted(what), PipelineBench.MONITOR, PipelineBench.ROWS_PER_SECOND, new double[] {
                    result.rowsPerSecond()
                })));
    }
}
