package io.plumbline.detection;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/** Prints the tables of docs/data: a row per kind of shift, a column per detector. */
public final class DetectionTable {

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
        columns.addAll(DetectionBench.JUDGED.keySet());
        lines.accept("| | `" + String.join("` | `", columns) + "` |");
        lines.accept("|---|" + "---|".repeat(columns.size()));
        row(
                "usual, not calibrated on: share above",
                column -> percent(Scores.shareAbove(usual.of(column), level(column))));
        row(
                "the same, above mean + 3 sd",
                column -> isJudged(column)
                        ? "-"
                        : percent(Scores.shareAbove(usual.of(column), levels.threeDeviations(column))));
    }

    /** Prints the share of the windows above the level, AUC, and the share above mean + 3 sd. */
    public void shift(String name, Scores shifted) {
        row(name, column -> {
            double[] scores = shifted.of(column);
            String power = percent(Scores.shareAbove(scores, level(column)));
            return isJudged(column)
                    ? power
                    : String.format(
                            Locale.ROOT,
                            "%s / %.3f / %s",
                            power,
                            Scores.auc(usual.of(column), scores),
                            percent(Scores.shareAbove(scores, levels.threeDeviations(column))));
        });
    }

    /** Prints the windows until the first alarm of runs whose shift grows, on average; over the length: none. */
    public void ramp(String name, List<Scores> runs) {
        row(name, column -> {
            double sum = 0.0;
            for (Scores run : runs) {
                double[] scores = run.of(column);
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
        return Scores.auc(usual.of(detector), shifted.of(detector));
    }

    private interface Cell {
        String of(String column);
    }

    private void row(String name, Cell cell) {
        List<String> cells = new ArrayList<>(List.of(name));
        columns.forEach(column -> cells.add(cell.of(column)));
        lines.accept("| " + String.join(" | ", cells) + " |");
    }

    private double level(String column) {
        return isJudged(column) ? 0.5 : levels.alone(column);
    }

    private static boolean isJudged(String column) {
        return DetectionBench.JUDGED.containsKey(column);
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.0f %%", 100.0 * share);
    }
}
