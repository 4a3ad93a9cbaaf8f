package io.plumbline.benchmarks.operators;

import java.util.Arrays;
import java.util.Collection;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * Runs the benchmarks with JMH's own options and prints the GFLOP/s of the best iteration, and how far the worst was
 * from it.
 *
 * <p>All of them take three minutes. With {@value #QUICK} as the first argument one short iteration each, in half a
 * minute: whether they run, not how fast. One that cannot end is stopped after {@value #LONGEST_SECONDS} s, or what
 * {@code -to} says.
 *
 * <p>Benchmarks prepend the options of their JVM: what they append, {@code -jvmArgsAppend} would replace, and without
 * the vector module plain loops are timed.
 */
public final class Benchmarks {

    private static final String QUICK = "--quick";
    private static final int LONGEST_SECONDS = 60;
    private static final TimeValue SHORT = TimeValue.milliseconds(200);

    private Benchmarks() {}

    public static void main(String[] arguments) throws RunnerException, CommandLineOptionException {
        boolean quick = arguments.length > 0 && arguments[0].equals(QUICK);
        String[] others = quick ? Arrays.copyOfRange(arguments, 1, arguments.length) : arguments;
        CommandLineOptions given = new CommandLineOptions(others);
        ChainedOptionsBuilder options = new OptionsBuilder()
                .parent(given)
                .shouldFailOnError(true)
                .timeout(given.getTimeout().orElse(TimeValue.seconds(LONGEST_SECONDS)));
        if (quick) {
            options.warmupIterations(1)
                    .warmupTime(SHORT)
                    .measurementIterations(2)
                    .measurementTime(SHORT);
        }
        Collection<RunResult> results = new Runner(options.build()).run();
        System.out.println("Java " + System.getProperty("java.version"));
        System.out.printf("%-48s %6s %12s %8s %10s%n", "variant", "d", "us", "spread", "GFLOP/s");
        for (RunResult result : results) {
            String variant = result.getParams().getBenchmark();
            String d = result.getParams().getParam("d");
            double micros = result.getPrimaryResult().getScore();
            var statistics = result.getPrimaryResult().getStatistics();
            double flops = flops(variant, d);
            System.out.printf(
                    "%-48s %6s %12.0f %7.0f%% %10.1f%n",
                    variant.substring("io.plumbline.".length()),
                    d == null ? "" : d,
                    micros,
                    100 * (statistics.getMax() - statistics.getMin()) / statistics.getMin(),
                    flops / statistics.getMin() / 1e3);
        }
    }

    /** Returns the flops of a variant; NaN for an iterative one, whose time is the figure. */
    private static double flops(String variant, String d) {
        if (variant.contains("EncoderProduct")) {
            return 2.0
                    * EncoderProductBenchmark.ROWS
                    * EncoderProductBenchmark.INPUTS
                    * EncoderProductBenchmark.FEATURES;
        }
        if (variant.contains("RankUpdate") && d != null) {
            return RankUpdateBenchmark.ROWS * Double.parseDouble(d) * (Double.parseDouble(d) + 1);
        }
        return Double.NaN;
    }
}
