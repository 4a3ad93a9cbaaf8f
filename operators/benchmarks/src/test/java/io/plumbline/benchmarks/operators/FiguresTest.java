package io.plumbline.benchmarks.operators;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.benchmarks.operators.Figures.Unit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FiguresTest {

    @TempDir
    private Path folder;

    private final Figures figures = new Figures();

    @Test
    void variantThatIsHalfAsFastIsAheadOfByTwo() {
        figures.add("work", Unit.ROWS_PER_SECOND, both(new double[] {8, 9, 10}, new double[] {4, 4.5, 50}));
        figures.add("work", Unit.SECONDS, both(new double[] {3}, new double[] {6}));
        List<Figures.Row> rows = figures.rows();
        assertEquals(1.0, rows.get(0).ahead());
        assertEquals(2.0, rows.get(1).ahead());
        assertEquals(50.0, rows.get(1).best());
        assertEquals(46.0 / 4.5, rows.get(1).spread(), 1e-12);
        assertEquals(2.0, rows.get(3).ahead());
        assertEquals(6.0, rows.get(3).best());
    }

    @Test
    void everyRowOfTheFileHasTheMachineTheDateAndTheVersion() throws IOException {
        figures.add("update, d = 768", Unit.ROWS_PER_SECOND, both(new double[] {123_456, 2}, new double[] {1}));
        Path csv = folder.resolve("figures.csv");
        figures.write(csv);
        List<String> lines = Files.readAllLines(csv);
        assertEquals(3, lines.size());
        assertTrue(lines.get(0).startsWith("work,variant,unit,median,"), lines.get(0));
        assertTrue(lines.get(0).endsWith("processor,cores,java,system,date,load,version"), lines.get(0));
        assertTrue(lines.get(1).startsWith("\"update, d = 768\",first,rows/s,61730,123500,"), lines.get(1));
        assertTrue(
                lines.get(2).matches(".*,20\\d\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\d:00Z,-?[\\d.]+,[\\w.-]+"), lines.get(2));
    }

    private static Map<String, double[]> both(double[] first, double[] second) {
        Map<String, double[]> variants = new LinkedHashMap<>();
        variants.put("first", first);
        variants.put("second", second);
        return variants;
    }
}
