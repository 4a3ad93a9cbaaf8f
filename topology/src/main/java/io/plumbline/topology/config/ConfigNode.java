package io.plumbline.topology.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.plumbline.judgement.AlarmBudget;
import io.plumbline.judgement.DriftPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A mapping of the configuration file, read key by key. Mistakes are collected rather than thrown, so that one run
 * tells about all of them; a value that is wrong reads as its default until then.
 */
final class ConfigNode {

    private static final int LONGEST_VALUE_SHOWN = 200;

    private final String path;
    private final JsonNode node;
    private final List<String> problems;
    private final Set<String> known = new LinkedHashSet<>();

    /** The values that were read, with defaults filled in. */
    private final ObjectNode effective;

    private ConfigNode(String path, JsonNode node, List<String> problems, ObjectNode effective) {
        this.path = path;
        this.node = node;
        this.problems = problems;
        this.effective = effective;
    }

    static ConfigNode root(JsonNode node, List<String> problems) {
        return new ConfigNode("", mapping("the file", node, problems), problems, JsonNodeFactory.instance.objectNode());
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
        JsonNode child = mapping(pathOf(key), at(key), problems);
        ObjectNode shown = effective.get(key) instanceof ObjectNode there ? there : effective.putObject(key);
        return new ConfigNode(pathOf(key), child, problems, shown);
    }

    /** Returns an empty mapping in place of a value that was complained about. */
    ConfigNode without(String key) {
        return new ConfigNode(pathOf(key), MissingNode.getInstance(), problems, effective.putObject(key));
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

    /** Returns whether there is a value; a key with nothing after it has none. */
    boolean has(String key) {
        JsonNode value = at(key);
        return !value.isMissingNode()
                && !value.isNull()
                && !(value.isTextual() && value.asText().isBlank());
    }

    boolean isMapping(String key) {
        return at(key).isObject();
    }

    /** Returns whether it holds a mapping or a list, where one value was expected. */
    boolean isContainer(String key) {
        return at(key).isContainerNode();
    }

    /** Returns true where the value is {@code off} or {@code false}. */
    boolean isOff(String key) {
        JsonNode value = at(key);
        return value.isBoolean() ? !value.booleanValue() : value.asText("").equalsIgnoreCase("off");
    }

    String text(String key, String otherwise) {
        String text = textOrNull(key);
        if (text == null) {
            effective.put(key, otherwise);
        }
        return text == null ? otherwise : text;
    }

    /**
     * The tree of what was read so far, with the defaults of what the file leaves out; it reads as the same
     * configuration.
     */
    ObjectNode effective() {
        return effective;
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

    /** Returns one value, or a list of them; empty where there is none. */
    List<String> texts(String key) {
        JsonNode value = at(key);
        if (!value.isArray()) {
            String text = has(key) ? textOrNull(key) : null;
            return text == null ? List.of() : List.of(text);
        }
        List<String> texts = new ArrayList<>();
        for (JsonNode element : value) {
            if (element.isValueNode() && !element.isNull()) {
                texts.add(element.asText());
            } else {
                problem(key, value, "expected one value, or a list of values");
                return List.of();
            }
        }
        return texts;
    }

    /** Returns the mappings of a list, or one; a plain value stands for a mapping of {@code plain} to it. */
    List<ConfigNode> mappings(String key, String plain) {
        JsonNode value = at(key);
        if (value.isMissingNode() || value.isNull()) {
            return List.of();
        }
        effective.set(key, value);
        List<ConfigNode> mappings = new ArrayList<>();
        for (JsonNode element : value.isArray() ? value : List.of(value)) {
            String place = value.isArray() ? "%s[%d]".formatted(pathOf(key), mappings.size()) : pathOf(key);
            JsonNode entry = element.isValueNode() && !element.isNull()
                    ? JsonNodeFactory.instance.objectNode().set(plain, element)
                    : mapping(place, element, problems);
            mappings.add(new ConfigNode(place, entry, problems, JsonNodeFactory.instance.objectNode()));
        }
        return mappings;
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
            showDefault(key, otherwise);
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

    /** Shows a list that the file leaves out among what was read. */
    void showDefault(String key, List<String> values) {
        values.forEach(effective.putArray(key)::add);
    }

    private void showDefault(String key, @Nullable Object value) {
        if (value instanceof Integer || value instanceof Long) {
            effective.put(key, ((Number) value).longValue());
        } else if (value instanceof Double number) {
            effective.put(key, number);
        } else if (value instanceof Boolean flag) {
            effective.put(key, flag);
        } else if (value instanceof Duration duration) {
            effective.put(key, DurationText.format(duration));
        } else if (value instanceof BeginFrom from) {
            effective.put(key, from.toString());
        } else if (value instanceof DriftPolicy policy) {
            effective.put(key, "%d of %d".formatted(policy.needed(), policy.memory()));
        } else if (value instanceof AlarmBudget.PerTime budget) {
            effective.put(key, "%d per %s".formatted(budget.alarms(), DurationText.format(budget.time())));
        } else if (value instanceof Enum<?> choice) {
            effective.put(key, choice.name().toLowerCase(Locale.ROOT).replace('_', '-'));
        } else if (value instanceof String text) {
            effective.put(key, text);
        }
    }

    private JsonNode at(String key) {
        known.add(key);
        JsonNode value = node.path(key);
        if (!value.isMissingNode() && !value.isNull() && !value.isObject()) {
            effective.set(key, value);
        }
        return value;
    }

    private String pathOf(String key) {
        return path.isEmpty() ? named(key) : path + "." + named(key);
    }

    /** Returns keys below each other as they stand in messages. */
    static String path(List<String> keys) {
        return keys.stream().map(ConfigNode::named).collect(Collectors.joining("."));
    }

    /** Returns a key as it stands in a path: a site's name holds dots itself, and quoting it keeps that readable. */
    private static String named(String key) {
        return key.contains(".") ? "\"" + cut(key) + "\"" : cut(key);
    }

    static String show(JsonNode value) {
        return cut(value.isValueNode() ? value.asText() : value.toString());
    }

    /** Cuts a value, since one in the wrong place may be the rest of the file. */
    private static String cut(String text) {
        return text.length() <= LONGEST_VALUE_SHOWN ? text : text.substring(0, LONGEST_VALUE_SHOWN) + "…";
    }

    private static String plain(double number) {
        return number == Math.rint(number) && Math.abs(number) < 1e9
                ? Long.toString((long) number)
                : Double.toString(number);
    }
}
