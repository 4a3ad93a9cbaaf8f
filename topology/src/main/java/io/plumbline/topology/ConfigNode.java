package io.plumbline.topology;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A mapping of the configuration file, read key by key. Mistakes are collected rather than thrown, so that one run tells
 * about all of them; a value that is wrong reads as its default until then.
 */
final class ConfigNode {

    private static final int LONGEST_VALUE_SHOWN = 200;

    private final String path;
    private final JsonNode node;
    private final List<String> problems;
    private final Set<String> known = new LinkedHashSet<>();

    private ConfigNode(String path, JsonNode node, List<String> problems) {
        this.path = path;
        this.node = node;
        this.problems = problems;
    }

    static ConfigNode root(JsonNode node, List<String> problems) {
        return new ConfigNode("", mapping("the file", node, problems), problems);
    }

    private static JsonNode mapping(String what, JsonNode node, List<String> problems) {
        if (node.isObject() || node.isMissingNode()) {
            return node;
        }
        if (!node.isNull()) {
            problems.add("%s = %s: expected a mapping of keys to values".formatted(what, show(node)));
        }
        return MissingNode.getInstance();
    }

    ConfigNode child(String key) {
        return new ConfigNode(pathOf(key), mapping(pathOf(key), at(key), problems), problems);
    }

    /** The mapping under each key of this one, whatever the keys are; they count as known. */
    Map<String, ConfigNode> children() {
        Map<String, ConfigNode> children = new LinkedHashMap<>();
        for (String key : keys()) {
            children.put(key, child(key));
        }
        return children;
    }

    List<String> keys() {
        List<String> keys = new ArrayList<>();
        node.fieldNames().forEachRemaining(keys::add);
        return keys;
    }

    /** Whether there is a value; a key with nothing after it has none. */
    boolean has(String key) {
        JsonNode value = at(key);
        return !value.isMissingNode()
                && !value.isNull()
                && !(value.isTextual() && value.asText().isBlank());
    }

    boolean isMapping(String key) {
        return at(key).isObject();
    }

    /** True where the value is {@code off} or {@code false}. */
    boolean isOff(String key) {
        JsonNode value = at(key);
        return value.isBoolean() ? !value.booleanValue() : value.asText("").equalsIgnoreCase("off");
    }

    String text(String key, String otherwise) {
        String text = textOrNull(key);
        return text == null ? otherwise : text;
    }

    /** Reads a value that must be there; {@code otherwise} stands in after the complaint. */
    String required(String key, String otherwise, String expected) {
        if (!has(key)) {
            problem(key, "is missing: expected " + expected);
            return otherwise;
        }
        return text(key, otherwise);
    }

    @Nullable
    String textOrNull(String key) {
        JsonNode value = at(key);
        if (value.isMissingNode() || value.isNull()) {
            return null;
        }
        if (!value.isValueNode()) {
            problem(key, value, "expected one value");
            return null;
        }
        return value.asText();
    }

    int integer(String key, int otherwise, int least) {
        return parsed(key, otherwise, text -> {
            try {
                int number = Integer.parseInt(text);
                if (number >= least) {
                    return number;
                }
            } catch (NumberFormatException notWhole) {
                // Falls through to the sentence below, which says what was expected.
            }
            throw new IllegalArgumentException("expected a whole number of at least " + least);
        });
    }

    double real(String key, double otherwise, double least, double most) {
        return parsed(key, otherwise, text -> inRange(text, least, most));
    }

    static double inRange(String text, double least, double most) {
        try {
            double number = Double.parseDouble(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException notANumber) {
            // Falls through to the sentence below, which says what was expected.
        }
        throw new IllegalArgumentException(
                most == Double.MAX_VALUE
                        ? "expected a number of at least " + plain(least)
                        : "expected a number from %s to %s".formatted(plain(least), plain(most)));
    }

    boolean flag(String key, boolean otherwise) {
        return parsed(key, otherwise, text -> switch (text.toLowerCase(Locale.ROOT)) {
            case "true", "yes", "on" -> true;
            case "false", "no", "off" -> false;
            default -> throw new IllegalArgumentException("expected true or false");
        });
    }

    Duration duration(String key, Duration otherwise) {
        return parsed(key, otherwise, DurationText::parse);
    }

    <T extends Enum<T>> T choice(String key, T otherwise, Class<T> type) {
        return parsed(key, otherwise, text -> {
            List<String> names = new ArrayList<>();
            for (T constant : type.getEnumConstants()) {
                String name = constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
                if (name.equals(text.toLowerCase(Locale.ROOT))) {
                    return constant;
                }
                names.add(name);
            }
            throw new IllegalArgumentException("expected " + String.join(" or ", names));
        });
    }

    /** The value of a key, read by {@code parser}, whose complaint becomes the second half of a sentence. */
    <T> T parsed(String key, T otherwise, Function<String, T> parser) {
        String text = has(key) ? textOrNull(key) : null;
        if (text == null) {
            return otherwise;
        }
        try {
            return parser.apply(text);
        } catch (IllegalArgumentException refused) {
            problem(key, at(key), String.valueOf(refused.getMessage()));
            return otherwise;
        }
    }

    /** Complains about every key nobody asked for; call when all that may be there has been read. */
    void refuseUnknownKeys() {
        for (String key : keys()) {
            if (!known.contains(key)) {
                problems.add("%s is not a known key: did you mean %s? (known here: %s)"
                        .formatted(pathOf(key), Nearest.to(key, known), String.join(", ", known)));
            }
        }
    }

    void problem(String key, String sentence) {
        problems.add(pathOf(key) + " " + sentence);
    }

    void problem(String key, JsonNode value, String expected) {
        problems.add("%s = %s: %s".formatted(pathOf(key), show(value), expected));
    }

    void problem(String key, @Nullable Object value, String expected) {
        problems.add("%s = %s: %s".formatted(pathOf(key), cut(String.valueOf(value)), expected));
    }

    private JsonNode at(String key) {
        known.add(key);
        return node.path(key);
    }

    private String pathOf(String key) {
        // A site's name holds dots itself; quoting it keeps the path readable.
        String name = key.contains(".") ? "\"" + cut(key) + "\"" : cut(key);
        return path.isEmpty() ? name : path + "." + name;
    }

    private static String show(JsonNode value) {
        return cut(value.isValueNode() ? value.asText() : value.toString());
    }

    /** A value in the wrong place may be the rest of the file. */
    private static String cut(String text) {
        return text.length() <= LONGEST_VALUE_SHOWN ? text : text.substring(0, LONGEST_VALUE_SHOWN) + "…";
    }

    private static String plain(double number) {
        return number == Math.rint(number) && Math.abs(number) < 1e9
                ? Long.toString((long) number)
                : Double.toString(number);
    }
}
