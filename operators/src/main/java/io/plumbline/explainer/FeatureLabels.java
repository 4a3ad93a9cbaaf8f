package io.plumbline.explainer;

import com.fasterxml.jackson.databind.JsonNode;
import io.plumbline.wire.Printable;
import io.plumbline.wire.TextFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The names that people gave the features of a dictionary, by index.
 *
 * <p>A file is a JSON object of index to text, {@code {"17": "dogs", "23": "cities"}}, or CSV in UTF-8 with an index
 * and a text in each line, quoted as spreadsheets do; a first line that is no index is a heading, and where it has more
 * columns than two those are passed over. The file may be anybody's: control characters become {@code ?}, and texts are
 * cut at {@value #LONGEST} characters. Immutable.
 */
public final class FeatureLabels {

    /** Most characters of a label that are kept. */
    public static final int LONGEST = 200;

    private static final long LARGEST_BYTES = 1 << 26;
    private static final Pattern INDEX = Pattern.compile("\\d{1,9}");

    private final Map<Integer, String> labels;

    private FeatureLabels(Map<Integer, String> labels) {
        this.labels = Map.copyOf(labels);
    }

    /**
     * Reads a file, {@code .json} or {@code .csv} by its name.
     *
     * @param features how many the dictionary has
     * @throws ExplainerFormatException saying what is wrong with it
     */
    public static FeatureLabels read(Path file, int features) throws IOException {
        String name = String.valueOf(file.getFileName()).toLowerCase(Locale.ROOT);
        if (!name.endsWith(".json") && !name.endsWith(".csv")) {
            throw new ExplainerFormatException(
                    "%s: expected a file of labels that ends with .json or .csv".formatted(file));
        }
        if (!Files.isRegularFile(file)) {
            throw new ExplainerFormatException("%s: no such file; expected labels of features".formatted(file));
        }
        long bytes = Files.size(file);
        if (bytes > LARGEST_BYTES) {
            throw new ExplainerFormatException(
                    "%s: %d bytes, expected at most %d for labels".formatted(file, bytes, LARGEST_BYTES));
        }
        Map<Integer, String> labels = new HashMap<>();
        if (name.endsWith(".json")) {
            for (Map.Entry<String, JsonNode> entry :
                    ConfigFile.jsonOfPeople(file, LARGEST_BYTES).document().properties()) {
                if (!entry.getValue().isTextual()) {
                    throw new ExplainerFormatException("%s: feature %s: %s, expected a text in quotes"
                            .formatted(
                                    file,
                                    printable(entry.getKey()),
                                    entry.getValue().getNodeType()));
                }
                put(file, labels, entry.getKey(), entry.getValue().textValue(), features);
            }
        } else {
            readCsv(file, labels, features);
        }
        return new FeatureLabels(labels);
    }

    /** Returns the label of a feature, or null. */
    public @Nullable String of(int feature) {
        return labels.get(feature);
    }

    /** Returns how many features have one. */
    public int size() {
        return labels.size();
    }

    private static void readCsv(Path file, Map<Integer, String> labels, int features) throws IOException {
        String text;
        try {
            text = TextFile.read(file);
        } catch (IllegalArgumentException noText) {
            throw new ExplainerFormatException("%s: %s".formatted(file, noText.getMessage()), noText);
        }
        boolean first = true;
        int columns = 2;
        for (List<String> cells : rows(text)) {
            boolean heading = first && !INDEX.matcher(cells.get(0).strip()).matches();
            columns = heading ? Math.max(2, cells.size()) : columns;
            first = false;
            if (heading || (cells.size() == 1 && cells.get(0).isBlank())) {
                continue;
            }
            if (cells.size() != columns) {
                throw new ExplainerFormatException(("%s: a line of %d cells, \"%s\": expected an index and a text; "
                                + "a text with a comma stands in quotes")
                        .formatted(file, cells.size(), printable(String.join(",", cells))));
            }
            put(file, labels, cells.get(0).strip(), cells.get(1), features);
        }
    }

    private static void put(Path file, Map<Integer, String> labels, String index, String text, int features) {
        if (!INDEX.matcher(index).matches() || Integer.parseInt(index) >= features) {
            throw new ExplainerFormatException("%s: feature \"%s\": expected an index from 0 to %d"
                    .formatted(file, printable(index), features - 1));
        }
        if (!text.isBlank() && labels.put(Integer.valueOf(index), printable(text.strip())) != null) {
            throw new ExplainerFormatException("%s: feature %s has two labels".formatted(file, index));
        }
    }

    private static String printable(String text) {
        String shown = Printable.of(text);
        return shown.codePointCount(0, shown.length()) <= LONGEST
                ? shown
                : shown.substring(0, shown.offsetByCodePoints(0, LONGEST));
    }

    /** Returns the cells of each line, as RFC 4180 has them. */
    private static List<List<String>> rows(String text) {
        List<List<String>> rows = new ArrayList<>();
        List<String> row = new ArrayList<>();
        StringBuilder cell = new StringBuilder();
        boolean quoted = false;
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            if (quoted && c == '"' && at + 1 < text.length() && text.charAt(at + 1) == '"') {
                cell.append(c);
                at++;
            } else if (c == '"' && (quoted || cell.isEmpty())) {
                quoted = !quoted;
            } else if (!quoted && c == ',') {
                row.add(cell.toString());
                cell.setLength(0);
            } else if (!quoted && (c == '\n' || c == '\r')) {
                if (!row.isEmpty() || !cell.isEmpty()) {
                    row.add(cell.toString());
                    rows.add(row);
                    row = new ArrayList<>();
                    cell.setLength(0);
                }
            } else {
                cell.append(c);
            }
        }
        if (!row.isEmpty() || !cell.isEmpty()) {
            row.add(cell.toString());
            rows.add(row);
        }
        return rows;
    }
}
