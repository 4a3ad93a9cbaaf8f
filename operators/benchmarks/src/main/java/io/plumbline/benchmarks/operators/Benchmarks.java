package io.plumbline.benchmarks.operators;

import io.plumbline.benchmarks.operators.Figures.Unit;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * Runs the benchmarks, round after round, and prints how far each is ahead of its rivals.
 *
 * <p>Takes {@value #ROUNDS} (3), {@value #CSV} and a file, {@value #QUICK} for one short round of small sizes, which
 * shows whether they run and not how fast, and all of JMH's own options. Benchmarks prepend the options of their JVM:
 * what they append, {@code -jvmArgsAppend} would replace, and without the vector module plain loops are timed.
 */
public final class Benchmarks {

    private static final String QUICK = "--quick";
    private static final String ROUNDS = "--rounds";
    private static final String CSV = "--csv";
    private static final String VARIANT = "variant";

    private static final TimeValue SHORT = TimeValue.milliseconds(50);

    private Benchmarks() {}

    public static void main(String[] arguments) throws RunnerException, CommandLineOptionException, IOException {
        List<String> jmh = new ArrayList<>(Arrays.asList(arguments));
        boolean quick = jmh.remove(QUICK);
        String csv = take(jmh, CSV, "");
        int rounds = Integer.parseInt(take(jmh, ROUNDS, quick ? "1" : "3"));
        Figures figures = new Figures();
        ChainedOptionsBuilder options = new OptionsBuilder()
                .parent(new CommandLineOptions(jmh.toArray(String[]::new)))
                .shouldFailOnError(true);
        if (quick) {
            options.warmupIterations(1)
                    .warmupTime(SHORT)
                    .measurementIterations(1)
                    .measurementTime(SHORT)
                    .param("d", "256")
                    .param("rows", "128");
        }
        Runner runner = new Runner(options.build());
        Map<String, Map<String, List<RunResult>>> results = new LinkedHashMap<>();
        for (int round = 0; round < rounds; round++) {
            for (RunResult result : runner.run()) {
                results.computeIfAbsent(work(result.getParams()), unused -> new LinkedHashMap<>())
                        .computeIfAbsent(result.getParams().getParam(VARIANT), unused -> new ArrayList<>())
                        .add(result);
            }
        }
        results.forEach((work, variants) -> add(figures, work, variants));
        if (results.values().stream().anyMatch(variants -> variants.toString().contains("OpenBLAS"))) {
            figures.note(Rivals.describeOpenBlas());
        }
        figures.print(new PrintWriter(System.out, true, StandardCharsets.UTF_8));
        if (!csv.isEmpty()) {
            figures.write(Path.of(csv));
        }
    }

    /** Takes an option and its value off the list. */
    private static String take(List<String> arguments, String option, String otherwise) {
        int at = arguments.indexOf(option);
        if (at < 0) {
            return otherwise;
        }
        if (at + 1 == arguments.size()) {
            throw new IllegalArgumentException(option + " needs a value");
        }
        arguments.remove(at);
        return arguments.remove(at);
    }

    private static void add(Figures figures, String work, Map<String, List<RunResult>> variants) {
        RunResult any = variants.values().iterator().next().get(0);
        double flops = KernelBenchmark.flops(method(any.getParams()), size(any, "d"), size(any, "rows"));
        Map<String, double[]> measured = new LinkedHashMap<>();
        variants.forEach((variant, rounds) -> measured.put(
                variant,
                rounds.stream()
                        .mapToDouble(round -> round.getPrimaryResult().getScore())
                        .map(micros -> Double.isNaN(flops) ? micros : flops / micros / 1e3)
                        .toArray()));
        Unit unit = Double.isNaN(flops) ? Unit.MICROSECONDS : Unit.GIGAFLOPS;
        figures.add(work, unit, measured);
        if (measured.keySet().containsAll(List.of(KernelBenchmark.DOUBLES, KernelBenchmark.DSYRK))) {
            Map<String, double[]> doubles = new LinkedHashMap<>(measured);
            doubles.keySet().retainAll(List.of(KernelBenchmark.DOUBLES, KernelBenchmark.DSYRK));
            figures.add(work + ", doubles", unit, doubles);
        }
    }

    private static int size(RunResult result, String name) {
        String value = result.getParams().getParam(name);
        return value == null ? 0 : Integer.parseInt(value);
    }

    private static String method(BenchmarkParams params) {
        return params.getBenchmark().substring(params.getBenchmark().lastIndexOf('.') + 1);
    }

    /** Names the piece of work by its method and its sizes. */
    private static String work(BenchmarkParams params) {
        return params.getParamsKeys().stream()
                .filter(name -> !name.equals(VARIANT))
                .map(name -> ", %s = %s".formatted(name, params.getParam(name)))
                .collect(Collectors.joining("", method(params), ""));
    }
}
