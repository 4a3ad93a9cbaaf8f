package io.plumbline.detection;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/** The tables of deploy/DETECTION.md: a row per kind of shift, a column per detector. */
public final class DetectionTable {

    private static final String TOGETHER = "all together";

    private final Levels levels;
    private final Scores usual;
    private final List<String> columns = new ArrayList<>(DetectionBench.STATISTICS);
    private final Consumer<String> lines;

    /**
     * @param usual windows of usual traffic that had no part in the calibration
     * @param lines takes the table line by line, as soon as a line is known
     */
    public DetectionTable(Scores clean, double rate, Scores usual, Consumer<String> lines) {
        this.levels = new Levels(clean, rate);
        this.usual = usual;
        this.lines = lines;
        columns.add(TOGETHER);
        columns.add(DetectionBench.RIVAL);
        lines.accept("| | `" + String.join("` | `", columns) + "` |");
        lines.accept("|---|" + "---|".repeat(columns.size()));
        row(
                "usual, not calibrated on: share above",
                column -> percent(Scores.shareAbove(scores(usual, column), level(column))));
        row(
                "the same, above mean + 3 sd",
                column -> column.equals(TOGETHER)
                        ? "-"
                        : percent(Scores.shareAbove(usual.of(column), levels.threeDeviations(column))));
    }

    /** AUC, windows until the first alarm, and the latter under mean + 3 sd. */
    public void shift(String name, Scores shifted) {
        row(name, column -> {
            double[] scores = scores(shifted, column);
            String cell = String.format(
                    Locale.ROOT,
                    "%.3f / %s",
                    Scores.auc(scores(usual, column), scores),
                    windows(Scores.delay(scores, level(column))));
            return column.equals(TOGETHER)
                    ? cell
                    : cell + " / " + windows(Scores.delay(scores, levels.threeDeviations(column)));
        });
    }

    /** Windows until the first alarm of runs whose shift grows, on average; over the length: none. */
    public void ramp(String name, List<Scores> runs) {
        row(name, column -> {
            double sum = 0.0;
            for (Scores run : runs) {
                double[] scores = scores(run, column);
                int first = 0;
                while (first < scores.length && scores[first] <= level(column)) {
                    first++;
                }
                sum += first + 1;
            }
            return String.format(Locale.ROOT, "%.1f", sum / runs.size());
        });
    }

    public double auc(String detector, Scores shifted) {
        return Scores.auc(scores(usual, detector), scores(shifted, detector));
    }

    private interface Cell {
        String of(String column);
    }

    private void row(String name, Cell cell) {
        List<String> cells = new ArrayList<>(List.of(name));
        columns.forEach(column -> cells.add(cell.of(column)));
        lines.accept("| " + String.join(" | ", cells) + " |");
    }

    private double[] scores(Scores of, String column) {
        return column.equals(TOGETHER) ? levels.together(of, DetectionBench.STATISTICS) : of.of(column);
    }

    private double level(String column) {
        return column.equals(TOGETHER) ? 1.0 : levels.alone(column);
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.1f %%", 100.0 * share);
    }

    private static String windows(double delay) {
        return Double.isInfinite(delay) ? "never" : String.format(Locale.ROOT, "%.1f", delay);
    }
}
