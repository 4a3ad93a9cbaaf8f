package io.plumbline.benchmarks.operators;

import java.io.IOException;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Collects what one run measures. Not thread-safe. */
public final class Figures {

    private static final String HEADER =
            "work,variant,unit,median,best,spread,rounds,ahead,processor,cores,java,system,date,load,version";

    private static final MathContext FOUR_DIGITS = new MathContext(4);

    private final Machine machine = Machine.here();
    private final List<Row> rows = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();

    /** The units of figures. */
    public enum Unit {
        ROWS_PER_SECOND("rows/s", true),
        GIGAFLOPS("GFLOP/s", true),
        SECONDS("s", false),
        MILLISECONDS("ms", false),
        MICROSECONDS("us", false),
        MEGABYTES("MB", false);

        private final String symbol;
        private final boolean moreIsBetter;

        Unit(String symbol, boolean moreIsBetter) {
            this.symbol = symbol;
            this.moreIsBetter = moreIsBetter;
        }
    }

    /**
     * One variant of one piece of work.
     *
     * @param spread (largest - smallest) / median over the rounds
     * @param ahead how many times faster the first variant of the same work is than this one, by medians; 1 for itself
     */
    record Row(
            String work,
            String variant,
            String unit,
            double median,
            double best,
            double spread,
            int rounds,
            double ahead) {}

    /**
     * Adds one piece of work.
     *
     * @param variants the figures of each variant, a figure a round; the others are compared with the first
     */
    public void add(String work, Unit unit, Map<String, double[]> variants) {
        double first = 0.0;
        for (Map.Entry<String, double[]> variant : variants.entrySet()) {
            double[] sorted = variant.getValue().clone();
            Arrays.sort(sorted);
            double least = sorted[0];
            double most = sorted[sorted.length - 1];
            double median = median(sorted);
            first = first == 0.0 ? median : first;
            rows.add(new Row(
                    work,
                    variant.getKey(),
                    unit.symbol,
                    median,
                    unit.moreIsBetter ? most : least,
                    (most - least) / median,
                    sorted.length,
                    unit.moreIsBetter ? first / median : median / first));
        }
    }

    private static double median(double[] sorted) {
        int n = sorted.length;
        return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    }

    /** Adds one sentence that is printed below the tables. */
    public void note(String sentence) {
        notes.add(sentence);
    }

    List<Row> rows() {
        return List.copyOf(rows);
    }

    /** Prints tables for people. */
    public void print(PrintWriter out) {
        out.printf(Locale.ROOT, "%s, %d cores, load %.2f%n", machine.processor(), machine.cores(), machine.load());
        out.printf("%s, %s, %s%n", machine.java(), machine.system(), machine.date());
        if (machine.wasBusy()) {
            out.println("THE MACHINE WAS BUSY when this began: read the ratios, not the figures.");
        }
        String work = "";
        for (Row row : rows) {
            if (!row.work.equals(work)) {
                work = row.work;
                out.printf("%n%-60s %14s %14s %7s %7s%n", work, "median", "best", "spread", "ahead");
            }
            out.printf(
                    Locale.ROOT,
                    "  %-58s %,14.2f %,14.2f %6.0f%% %7.2f %s%n",
                    row.variant,
                    row.median,
                    row.best,
                    100 * row.spread,
                    row.ahead,
                    row.unit);
        }
        notes.forEach(sentence -> out.println("note: " + sentence));
        out.flush();
    }

    /** Writes a row a variant, each with the machine, the date and the version. */
    public void write(Path csv) throws IOException {
        Files.deleteIfExists(csv);
        append(csv);
    }

    /** Writes them as {@link #write} does, below what the file has. */
    public void append(Path csv) throws IOException {
        List<String> lines = new ArrayList<>();
        if (Files.notExists(csv)) {
            lines.add(HEADER);
        }
        for (Row row : rows) {
            lines.add(line(
                    row.work,
                    row.variant,
                    row.unit,
                    row.median,
                    row.best,
                    row.spread,
                    row.rounds,
                    row.ahead,
                    machine.processor(),
                    machine.cores(),
                    machine.java(),
                    machine.system(),
                    machine.date(),
                    machine.load(),
                    machine.version()));
        }
        Files.write(csv, lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /** Returns whether a file that {@link #append} wrote has figures of this work. */
    public static boolean has(Path csv, String work) throws IOException {
        if (Files.notExists(csv)) {
            return false;
        }
        try (Stream<String> lines = Files.lines(csv)) {
            return lines.anyMatch(line -> line.startsWith(cell(work) + ","));
        }
    }

    private static String line(Object... cells) {
        return Stream.of(cells)
                .map(cell -> cell instanceof Double number
                        ? new BigDecimal(number, FOUR_DIGITS).toPlainString()
                        : String.valueOf(cell))
                .map(Figures::cell)
                .collect(Collectors.joining(","));
    }

    private static String cell(String text) {
        return text.indexOf(',') < 0 ? text : '"' + text + '"';
    }
}
