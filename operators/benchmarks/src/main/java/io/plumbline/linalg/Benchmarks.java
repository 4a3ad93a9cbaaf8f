package io.plumbline.linalg;

import java.util.Collection;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;

/** Runs the benchmarks with JMH's own options and prints the GFLOP/s of the best iteration, and how far the worst was from it. */
public final class Benchmarks {

    private Benchmarks() {}

    public static void main(String[] arguments) throws RunnerException, CommandLineOptionException {
        Collection<RunResult> results = new Runner(new CommandLineOptions(arguments)).run();
        System.out.println("Java " + System.getProperty("java.version"));
        System.out.printf("%-48s %6s %12s %8s %10s%n", "variant", "d", "us", "spread", "GFLOP/s");
        for (RunResult result : results) {
            String variant = result.getParams().getBenchmark();
            String d = result.getParams().getParam("d");
            double micros = result.getPrimaryResult().getScore();
            var statistics = result.getPrimaryResult().getStatistics();
            double flops = d == null
                    ? 2.0
                            * EncoderProductBenchmark.ROWS
                            * EncoderProductBenchmark.INPUTS
                            * EncoderProductBenchmark.FEATURES
                    : RankUpdateBenchmark.ROWS * Double.parseDouble(d) * (Double.parseDouble(d) + 1);
            System.out.printf(
                    "%-48s %6s %12.0f %7.0f%% %10.1f%n",
                    variant.substring("io.plumbline.linalg.".length()),
                    d == null ? "" : d,
                    micros,
                    100 * (statistics.getMax() - statistics.getMin()) / statistics.getMin(),
                    flops / statistics.getMin() / 1e3);
        }
    }
}
