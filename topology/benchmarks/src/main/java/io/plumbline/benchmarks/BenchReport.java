package io.plumbline.benchmarks;

import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * Holds everything one run found.
 *
 * @param notes what was left out, and why; which rivals these were: one sentence each
 */
public record BenchReport(
        Machine machine,
        List<Measurement> measurements,
        List<Pauses> pauses,
        List<Ratio> ratios,
        List<Curve> curves,
        List<String> notes) {

    private static final JsonMapper JSON = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .enable(SerializationFeature.INDENT_OUTPUT)
            .build();

    public void writeJson(Path file) throws IOException {
        JSON.writeValue(file.toFile(), this);
    }

    /** Prints tables for people. */
    public void print(PrintWriter out) {
        out.printf("%s, %d cores, load %.2f%n", machine.processor(), machine.cores(), machine.loadAverage());
        out.printf("%s, %s, %s%n", machine.java(), machine.system(), machine.date());
        out.printf("kernel: %s%n", machine.kernel());
        if (machine.wasBusy()) {
            out.println("THE MACHINE WAS BUSY when this began: read the ratios, not the figures.");
        }
        printMeasurements(out);
        printPauses(out);
        printCurves(out);
        if (!ratios.isEmpty()) {
            out.printf("%n%-86s %9s%n", "times faster", "at least");
            for (Ratio ratio : ratios) {
                out.printf(Locale.ROOT, "%-86s %9.2f%n", ratio.what(), ratio.least());
            }
        }
        notes.forEach(line -> out.println("note: " + line));
        out.flush();
    }

    private void printMeasurements(PrintWriter out) {
        String what = "";
        for (Measurement one : measurements) {
            if (!one.what().equals(what)) {
                what = one.what();
                out.printf("%n%-48s %14s %14s %7s %7s%n", what, "median", "best", "spread", "ahead");
            }
            out.printf(
                    Locale.ROOT,
                    "  %-46s %,14.1f %,14.1f %6.0f%% %7.2f %s%n",
                    one.variant(),
                    one.median(),
                    one.best(),
                    100 * one.spread(),
                    one.ahead(),
                    one.unit());
        }
    }

    private void printPauses(PrintWriter out) {
        if (!pauses.isEmpty()) {
            out.printf("%n%-72s %7s %8s %8s %8s %9s%n", "pauses, ms", "number", "median", "99th", "longest", "in all");
        }
        for (Pauses one : pauses) {
            out.printf(
                    Locale.ROOT,
                    "  %-70s %,7d %8.1f %8.1f %8.1f %,9.0f%n",
                    one.what(),
                    one.number(),
                    one.median(),
                    one.ninetyNinth(),
                    one.longest(),
                    one.total());
        }
    }

    private void printCurves(PrintWriter out) {
        for (Curve curve : curves) {
            out.printf(
                    Locale.ROOT,
                    "%n%s: %s ~ %s^%.2f (+- %.2f)%n",
                    curve.what(),
                    curve.unit(),
                    curve.variable(),
                    curve.exponent(),
                    curve.error());
            for (Curve.Point point : curve.points()) {
                out.printf(Locale.ROOT, "  %s = %-10s %,14.2f%n", curve.variable(), number(point.x()), point.y());
            }
        }
    }

    private static String number(double x) {
        return String.format(Locale.ROOT, "%,.0f", x);
    }
}
