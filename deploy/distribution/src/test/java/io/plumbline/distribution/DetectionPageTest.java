package io.plumbline.distribution;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.topology.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests that the page on detection shows the figures that the study wrote. */
class DetectionPageTest {

    private static final Path DOCS = Repository.path("docs");
    private static final Pattern USUAL = Pattern.compile("(recorded|toy), ([0-9,]+) rows: usual");
    private static final Pattern SHARES = Pattern.compile("(German|code), (.+) % of requests");
    private static final Pattern SEVERITIES = Pattern.compile("all requests, severity (.+)");

    @Test
    void theTableOfTheDefaultHasThePowersOfTheStudy() throws IOException {
        List<String> lines = Files.readAllLines(DOCS.resolve("concepts/detection.md"));
        int head =
                lines.indexOf("| traffic | **default** | request evidence | request FVU | request shift | gap | MMD |");
        List<String> statistics = cells(lines.get(head).replace("*", ""));
        Map<String, Map<String, String>> study = Map.of();
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
                    found.add(study.get(one).get(statistics.get(column) + ": power (%)"));
                    compared++;
                }
                assertEquals(String.join(", ", found), row.get(column), row.get(0) + ", " + statistics.get(column));
            }
        }
        assertEquals(120, compared);
    }

    private static List<String> cells(String line) {
        return Stream.of(line.substring(1, line.length() - 1).split("\\|"))
                .map(String::strip)
                .toList();
    }

    /** Returns the cases of the study that a line of the page is of. */
    private static List<String> cases(String traffic) {
        Matcher shares = SHARES.matcher(traffic);
        if (shares.matches()) {
            return Stream.of(shares.group(2).split(", "))
                    .map(share -> "%s %% of requests %s".formatted(share, shares.group(1)))
                    .toList();
        }
        Matcher severities = SEVERITIES.matcher(traffic);
        return severities.matches()
                ? Stream.of(severities.group(1).split(", "))
                        .map(severity -> "all requests at severity " + Double.parseDouble(severity))
                        .toList()
                : List.of("usual, not calibrated on");
    }

    /** Returns the values of each case, by column. */
    private static Map<String, Map<String, String>> read(String stream, String rows) throws IOException {
        Path file = DOCS.resolve("data")
                .resolve(stream.equals("toy") ? "detection-toy.csv" : "detection-recorded-%s.csv".formatted(rows));
        List<List<String>> table =
                Files.readAllLines(file).stream().map(DetectionPageTest::values).toList();
        Map<String, Map<String, String>> cases = new LinkedHashMap<>();
        for (List<String> row : table.subList(1, table.size())) {
            Map<String, String> values = new LinkedHashMap<>();
            for (int column = 1; column < row.size(); column++) {
                values.put(table.get(0).get(column), row.get(column));
            }
            cases.put(row.get(0), values);
        }
        return cases;
    }

    /** Splits a line at commas outside quotes. */
    private static List<String> values(String line) {
        return Stream.of(line.split(",(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)", -1))
                .map(value -> value.replace("\"", ""))
                .toList();
    }
}
