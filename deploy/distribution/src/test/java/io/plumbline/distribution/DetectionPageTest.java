package io.plumbline.distribution;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.topology.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests that the page on detection shows the figures that {@code plumbline study} wrote. */
class DetectionPageTest {

    private static final Path DOCS = Repository.path("docs");
    private static final Pattern USUAL = Pattern.compile("(recorded|toy), ([0-9,]+) rows: usual");
    private static final Pattern SHARES = Pattern.compile("(German|code|severity [0-9.]+), ([0-9, ]+) % of requests");

    @Test
    void theTableOfDetectorsHasThePowersOfTheStudy() throws IOException {
        List<String> lines = Files.readAllLines(DOCS.resolve("concepts/detection.md"));
        int head = lines.indexOf("| traffic | **default** | own level | Hotelling | PCA error | PCA share | MMD | PSI "
                + "| gap | holds one |");
        List<String> detectors = cells(lines.get(head).replace("*", ""));
        Map<String, String> study = Map.of();
        int compared = 0;
        List<String> table = lines.subList(head + 2, lines.size()).stream()
                .takeWhile(line -> line.startsWith("|"))
                .toList();
        for (String line : table) {
            List<String> row = cells(line);
            Matcher usual = USUAL.matcher(row.get(0));
            if (usual.matches()) {
                study = read(usual.group(1), usual.group(2).replace(",", ""));
            }
            List<String> cases = cases(row.get(0));
            for (int column = 1; column < row.size(); column++) {
                List<String> found = new ArrayList<>();
                for (String one : cases) {
                    found.add(study.get(one + "," + detectors.get(column)));
                    compared++;
                }
                assertEquals(String.join(", ", found), row.get(column), row.get(0) + ", " + detectors.get(column));
            }
        }
        assertEquals(135, compared);
    }

    private static List<String> cells(String line) {
        return Stream.of(line.substring(1, line.length() - 1).split("\\|"))
                .map(String::strip)
                .toList();
    }

    /** Returns the cases of the study that a line of the page is of. */
    private static List<String> cases(String traffic) {
        Matcher shares = SHARES.matcher(traffic);
        return shares.matches()
                ? Stream.of(shares.group(2).split(", "))
                        .map(share -> shares.group(1) + "," + share)
                        .toList()
                : List.of("usual,0");
    }

    /** Returns the alarms in windows of so many rows by traffic, share and detector. */
    private static Map<String, String> read(String stream, String rows) throws IOException {
        Map<String, String> alarms = new HashMap<>();
        for (String line : Files.readAllLines(
                DOCS.resolve("data").resolve(stream.equals("toy") ? "study-toy.csv" : "study.csv"))) {
            String[] values = line.split(",", -1);
            if (values[0].equals(rows)) {
                alarms.put(String.join(",", values[1], values[2], values[3]), values[4]);
            }
        }
        return alarms;
    }
}
