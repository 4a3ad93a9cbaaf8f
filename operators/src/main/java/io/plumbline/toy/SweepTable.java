package io.plumbline.toy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A table of the severity sweep as the NumPy reference computed it: a row per severity, a column per quantity.
 *
 * <p>Columns carry the paper's letters: {@code gap_dec} is the faithfulness gap, {@code gap_id} the gap to the baseline,
 * {@code gamma_*} the eigengaps, {@code bound_printed} Proposition 1 as printed, {@code bound_valid2} the valid one.
 */
public final class SweepTable {

    private final List<String> columns;
    private final List<double[]> rows;

    private SweepTable(List<String> columns, List<double[]> rows) {
        this.columns = columns;
        this.rows = rows;
    }

    /** Windows of 2,048 rows of stream 1 against {@link ToyStream#baselineMoment()}, for the autoencoder. */
    public static SweepTable windowsOf2048() {
        return read("replay_sae_k1024_n2048.csv");
    }

    /** Windows of 20,000 rows, the same way. */
    public static SweepTable windowsOf20000() {
        return read("replay_sae_k1024_n20000.csv");
    }

    /** The paper's experiment: 20,000 rows, the baseline made of the same z at severity 0; for the autoencoder. */
    public static SweepTable autoencoder() {
        return read("table_sae_k1024.csv");
    }

    /** The same for the transcoder. */
    public static SweepTable transcoder() {
        return read("table_transcoder_k1024.csv");
    }

    public List<String> columns() {
        return columns;
    }

    /** Number of rows: one per severity. */
    public int size() {
        return rows.size();
    }

    /** One number; {@code row} is the index of the severity. */
    public double get(int row, String column) {
        return rows.get(row)[indexOf(column)];
    }

    /** One column, over all severities. */
    public double[] column(String column) {
        int index = indexOf(column);
        return rows.stream().mapToDouble(row -> row[index]).toArray();
    }

    private int indexOf(String column) {
        int index = columns.indexOf(column);
        if (index < 0) {
            throw new IllegalArgumentException("no column \"%s\": expected one of %s".formatted(column, columns));
        }
        return index;
    }

    private static SweepTable read(String name) {
        List<String> lines = new String(ToyResources.bytes(name), StandardCharsets.UTF_8)
                .lines()
                .filter(line -> !line.isBlank())
                .toList();
        List<double[]> rows = new ArrayList<>();
        for (String line : lines.subList(1, lines.size())) {
            rows.add(Arrays.stream(line.split(",", -1))
                    .mapToDouble(Double::parseDouble)
                    .toArray());
        }
        return new SweepTable(List.of(lines.get(0).split(",", -1)), rows);
    }
}
