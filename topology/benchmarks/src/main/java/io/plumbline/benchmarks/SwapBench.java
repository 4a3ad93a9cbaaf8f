package io.plumbline.benchmarks;

import io.plumbline.topology.config.MonitorConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Measures the time from the verdict that a site has drifted to the verified decoder in a subscriber, through a broker,
 * as an operator has it: the refit the paper prints, made of 2,048 rows.
 */
final class SwapBench {

    private static final String VARIANT = "as weights";
    private static final String PER_MINUTE = "swaps/min";
    private static final double SECONDS_A_MINUTE = 60.0;

    private final PipelineBench pipeline;
    private final Findings findings;
    private final int rounds;

    /** @param rounds swaps that count; one before them shows what the first costs */
    SwapBench(PipelineBench pipeline, Findings findings, int rounds) {
        this.pipeline = pipeline;
        this.findings = findings;
        this.rounds = rounds;
    }

    void run(SwapSite.Size size) throws IOException, InterruptedException {
        String what = "drift to decoder, %,d x %,d, r = %d".formatted(size.d(), size.features(), size.rank());
        findings.next(what + ": writing a dictionary and a baseline");
        Path folder = Files.createDirectories(pipeline.root().resolve("swap-%d".formatted(size.d())));
        SwapSite site = SwapSite.write(folder, size);
        findings.next(what + ", " + VARIANT);
        findings.add(List.of(Measurement.of(what, VARIANT, PER_MINUTE, rates(site, what))));
    }

    private double[] rates(SwapSite site, String what) throws IOException, InterruptedException {
        MonitorConfig config = site.config(pipeline.bootstrapServers(), pipeline.nextRun());
        SwapRun.Swap[] swaps = new SwapRun(site, config, pipeline.bootstrapServers()).swaps(1 + rounds);
        note(what + ", " + VARIANT, swaps);
        return Arrays.stream(swaps)
                .skip(1)
                .mapToDouble(swap -> SECONDS_A_MINUTE / swap.fromVerdict())
                .toArray();
    }

    private void note(String way, SwapRun.Swap[] swaps) {
        StringBuilder text = new StringBuilder(way)
                .append(": seconds from the verdict (of them the refit; processor time meanwhile; from the last row)");
        for (SwapRun.Swap swap : swaps) {
            text.append(String.format(
                    Locale.ROOT,
                    ", %.2f (%.2f; %.2f; %.2f)",
                    swap.fromVerdict(),
                    swap.refit(),
                    swap.processor(),
                    swap.fromRows()));
        }
        findings.notes.add(text.append("; the first does not count").toString());
    }
}
