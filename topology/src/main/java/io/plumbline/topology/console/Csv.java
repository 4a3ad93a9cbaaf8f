package io.plumbline.topology.console;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.plumbline.topology.report.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Writes windows as a table (RFC 4180): a column for each key of the JSON that holds one value, in its order, numbers
 * as the JSON writes them, undefined ones empty. A text that a spreadsheet would take for a formula gets an apostrophe
 * in front.
 */
final class Csv {

    private static final JsonMapper MAPPER = new JsonMapper();
    private static final String END = "\r\n";
    private static final String FORMULA = "=+-@\t\r";

    private Csv() {}

    static String of(List<WindowPoint> windows) {
        List<JsonNode> rows = windows.stream().map(Csv::tree).toList();
        List<String> columns = new ArrayList<>();
        if (!rows.isEmpty()) {
            rows.get(0).properties().forEach(field -> {
                if (!field.getValue().isContainerNode()) {
                    columns.add(field.getKey());
                }
            });
        }
        StringBuilder table = new StringBuilder(String.join(",", columns)).append(END);
        for (JsonNode row : rows) {
            table.append(columns.stream().map(column -> cell(row.path(column))).collect(Collectors.joining(",")))
                    .append(END);
        }
        return table.toString();
    }

    private static JsonNode tree(WindowPoint window) {
        try {
            return MAPPER.readTree(Json.bytes(window));
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    private static String cell(JsonNode value) {
        if (value.isNull()) {
            return "";
        }
        if (!value.isTextual()) {
            return value.asText();
        }
        String text = value.asText();
        String safe = !text.isEmpty() && FORMULA.indexOf(text.charAt(0)) >= 0 ? "'" + text : text;
        return safe.chars().anyMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r')
                ? '"' + safe.replace("\"", "\"\"") + '"'
                : safe;
    }
}
