package io.plumbline.benchmarks;

import io.plumbline.benchmarks.BenchSite.Windows;
import io.plumbline.benchmarks.Curve.Point;
import io.plumbline.parallel.Cores;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** Measures how costs grow with each size, everything else held; by one thread. */
final class Scaling {

    private static final int WIDTH = 768;
    private static final int QUICK_WIDTH = 64;
    private static final int BATCH = 256;

    /** The width of the pipeline's curves: small, so that sites and panes are what costs. */
    private static final int PIPELINE_WIDTH = 256;

    private final BenchPlan plan;
    private final Findings findings;
    private final Stopwatch stopwatch;

    Scaling(BenchPlan plan, Findings findings) {
        this.plan = plan;
        this.findings = findings;
        this.stopwatch = plan.quick() ? new Stopwatch(1_000, 1_000) : new Stopwatch(1_500_000_000L, 1_000_000_000L);
    }

    void kernels() {
        int d = plan.quick() ? QUICK_WIDTH : WIDTH;
        System.setProperty(Cores.PROPERTY, "1");
        curve("moment update", "d", "us a row", BATCH, sizes(128, 4096), size -> KernelCase.update(size, BATCH, 1));
        curve(
                "encoder with TopK, d = %d".formatted(d),
                "k",
                "us a row",
                BATCH / 2,
                sizes(1536, 24_576),
                size -> KernelCase.topK(d, BATCH / 2, size, 1));
        curve("Cholesky of the refit's N x N system", "N", "us", 1, sizes(256, 2048), KernelCase::cholesky);
        curve(
                "leading eigenspace, d = %d".formatted(d),
                "r",
                "us",
                1,
                sizes(8, 128),
                size -> KernelCase.eigenspace(d, Math.min(size, d)));
        System.clearProperty(Cores.PROPERTY);
    }

    /** Returns sizes that double from the least to the most; with quick sizes a 16th of them, and two. */
    private int[] sizes(int least, int most) {
        if (plan.quick()) {
            return new int[] {Math.max(4, least / 16), Math.max(8, least / 8)};
        }
        return IntStream.iterate(least, size -> size <= most, size -> 2 * size).toArray();
    }

    private void curve(
            String what, String variable, String unit, int share, int[] sizes, IntFunction<KernelCase> work) {
        List<Point> points = new ArrayList<>();
        for (int size : sizes) {
            findings.next("%s, %s = %,d".formatted(what, variable, size));
            KernelCase sized = work.apply(size);
            Variant ours = OwnKernels.variants(sized).get(0);
            double[] nanos = stopwatch.time(sized.code(), List.of(ours))[0];
            points.add(
                    new Point(size, Measurement.of(what, variable, unit, nanos).median() / 1e3 / share));
        }
        findings.curves.add(Curve.through(what, variable, unit, points));
    }

    /** Measures the pipeline, on a broker that runs. */
    void pipeline(PipelineBench pipeline) throws IOException, InterruptedException {
        int d = plan.quick() ? QUICK_WIDTH : PIPELINE_WIDTH;
        BenchSite site = pipeline.site(d);
        List<Point> bySites = new ArrayList<>();
        for (int sites : new int[] {1, 4, 16}) {
            ActivationsTopic topic = pipeline.fill(d, 64, 1, sites);
            if (bySites.isEmpty()) {
                // The first run of a process is slower than any other: it does not count.
                micros(pipeline, site, topic, Windows.LONG);
            }
            bySites.add(new Point(sites, micros(pipeline, site, topic, Windows.LONG)));
            topic.delete(pipeline.bootstrapServers());
        }
        findings.curves.add(Curve.through("pipeline, d = %d".formatted(d), "sites", "us a row", bySites));
        List<Point> byPanes = new ArrayList<>();
        ActivationsTopic topic = pipeline.fill(d, 64, 1, 1);
        for (int panes : new int[] {1, 3, 12}) {
            byPanes.add(new Point(panes, micros(pipeline, site, topic, new Windows(panes + "s", "1s"))));
        }
        topic.delete(pipeline.bootstrapServers());
        findings.curves.add(Curve.through("pipeline, hopping, d = %d".formatted(d), "panes", "us a row", byPanes));
    }

    private double micros(PipelineBench pipeline, BenchSite site, ActivationsTopic topic, Windows windows)
            throws IOException, InterruptedException {
        double[] rates = new double[plan.rounds()];
        for (int round = 0; round < rates.length; round++) {
            findings.next("pipeline, %d sites, windows of %s every %s, round %d"
                    .formatted(topic.sites(), windows.size(), windows.advance(), round + 1));
            rates[round] = pipeline.monitor(site, topic, windows).rowsPerSecond();
        }
        return 1e6 / Measurement.of("", "", "", rates).median();
    }
}
