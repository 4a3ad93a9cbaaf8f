package io.plumbline.topology.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Holds what a file command found, in the order it is printed: as one JSON object, or as a table. A number that does
 * not exist is null in the first, with its reason under {@code undefined}, and the reason itself in the second.
 */
public final class Answer {

    static final String UNDEFINED = "undefined";

    private static final JsonMapper JSON = new JsonMapper();

    private final ObjectNode values = JSON.createObjectNode();
    private final ObjectNode undefined = JSON.createObjectNode();
    private final List<String> summary = new ArrayList<>();
    private final Set<String> jsonOnly = new HashSet<>();

    /** Adds a line of what a person reads in place of the numbers. */
    public Answer say(String line) {
        summary.add(line);
        return this;
    }

    /** Leaves a key out of the table; JSON has it. */
    void leaveOutOfTable(String key) {
        jsonOnly.add(key);
    }

    public Answer put(String key, @Nullable Object value) {
        if (value instanceof Double number && !Double.isFinite(number)) {
            return putUndefined(key, "not a finite number (" + number + ")");
        }
        values.set(key, JSON.valueToTree(value));
        return this;
    }

    public Answer putUndefined(String key, String reason) {
        values.putNull(key);
        undefined.put(key, reason);
        return this;
    }

    ObjectNode json() {
        ObjectNode whole = values.deepCopy();
        whole.set(UNDEFINED, undefined);
        return whole;
    }

    public void printSummary(PrintWriter out) {
        summary.forEach(out::println);
        out.flush();
    }

    public void print(PrintWriter out, boolean asJson) {
        if (asJson) {
            try {
                out.println(JSON.writerWithDefaultPrettyPrinter().writeValueAsString(json()));
            } catch (JsonProcessingException impossible) {
                throw new IllegalStateException("a tree of plain values cannot be written", impossible);
            }
        } else {
            printTable(out);
        }
        out.flush();
    }

    private void printTable(PrintWriter out) {
        int width = 0;
        for (Iterator<String> keys = values.fieldNames(); keys.hasNext(); ) {
            String key = keys.next();
            width = jsonOnly.contains(key) ? width : Math.max(width, key.length());
        }
        for (Map.Entry<String, JsonNode> entry : values.properties()) {
            if (!entry.getValue().isObject() && !jsonOnly.contains(entry.getKey())) {
                String note = values.path("vacuous").path(entry.getKey()).asBoolean() ? " (vacuous)" : "";
                out.println(
                        entry.getKey() + " ".repeat(width + 2 - entry.getKey().length()) + text(entry) + note);
            }
        }
    }

    private String text(Map.Entry<String, JsonNode> entry) {
        JsonNode value = entry.getValue();
        if (value.isNull()) {
            JsonNode reason = undefined.get(entry.getKey());
            return reason == null ? "-" : "- (" + reason.asText() + ")";
        }
        if (value.isArray()) {
            StringBuilder list = new StringBuilder();
            value.forEach(element -> list.append(list.isEmpty() ? "" : " ").append(number(element)));
            return list.toString();
        }
        return number(value);
    }

    private static String number(JsonNode value) {
        if (!value.isDouble()) {
            return value.isValueNode() ? value.asText() : value.toString();
        }
        double number = value.asDouble();
        boolean isPlain = number == 0.0 || (Math.abs(number) >= 1e-3 && Math.abs(number) < 1e6);
        return String.format(Locale.ROOT, isPlain ? "%.4f" : "%.4e", number);
    }
}
