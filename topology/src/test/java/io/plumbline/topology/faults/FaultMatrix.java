package io.plumbline.topology.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;

/**
 * Collects what each case did and found. Printed at the end; a case that lost, doubled or tore anything fails on the
 * spot.
 */
public final class FaultMatrix {

    /**
     * The line of one case.
     *
     * @param expected windows that had to be found, once each
     * @param found windows found, repeats included
     * @param lost windows expected and not found
     * @param twice windows found more than once
     * @param wrong windows found with another number of rows or other bits, or with a tile missing
     * @param rowsIn rows sent
     * @param rowsInWindows rows of the windows found
     * @param lateRows rows counted as late
     * @param deadLetterRows rows in committed dead letters
     */
    public record Line(
            String name,
            int kills,
            int expected,
            int found,
            int lost,
            int twice,
            int wrong,
            long rowsIn,
            long rowsInWindows,
            long lateRows,
            long deadLetterRows,
            double seconds) {}

    private final List<Line> lines = new ArrayList<>();

    /** Keeps the line, and asserts what every case must hold. */
    public void add(Line line) {
        lines.add(line);
        assertTrue(line.expected() > 0, line::toString);
        assertEquals(0, line.lost(), () -> "windows lost: " + line);
        assertEquals(0, line.twice(), () -> "windows emitted twice: " + line);
        assertEquals(0, line.wrong(), () -> "windows with other bits than the truth: " + line);
        assertEquals(line.expected(), line.found(), () -> "windows nobody expected: " + line);
        assertEquals(
                line.rowsIn(),
                line.rowsInWindows() + line.lateRows() + line.deadLetterRows(),
                () -> "rows in = rows in windows + late + dead-lettered: " + line);
    }

    List<Line> lines() {
        return lines;
    }

    int windows() {
        return lines.stream().mapToInt(Line::found).sum();
    }

    /** A table of all cases, with the sums in its last line. */
    public String table() {
        StringBuilder table = new StringBuilder();
        table.append("| case | kills | windows | lost | twice | wrong | rows in | in windows | late | "
                        + "dead-lettered | s |\n")
                .append("|---|---|---|---|---|---|---|---|---|---|---|\n");
        lines.forEach(line -> append(table, line));
        append(
                table,
                new Line(
                        "all",
                        lines.stream().mapToInt(Line::kills).sum(),
                        lines.stream().mapToInt(Line::expected).sum(),
                        windows(),
                        lines.stream().mapToInt(Line::lost).sum(),
                        lines.stream().mapToInt(Line::twice).sum(),
                        lines.stream().mapToInt(Line::wrong).sum(),
                        lines.stream().mapToLong(Line::rowsIn).sum(),
                        lines.stream().mapToLong(Line::rowsInWindows).sum(),
                        lines.stream().mapToLong(Line::lateRows).sum(),
                        lines.stream().mapToLong(Line::deadLetterRows).sum(),
                        lines.stream().mapToDouble(Line::seconds).sum()));
        return table.toString();
    }

    private static void append(StringBuilder table, Line line) {
        table.append("| %s | %d | %d of %d | %d | %d | %d | %d | %d | %d | %d | %.0f |%n"
                .formatted(
                        line.name(),
                        line.kills(),
                        line.found(),
                        line.expected(),
                        line.lost(),
                        line.twice(),
                        line.wrong(),
                        line.rowsIn(),
                        line.rowsInWindows(),
                        line.lateRows(),
                        line.deadLetterRows(),
                        line.seconds()));
    }
}
