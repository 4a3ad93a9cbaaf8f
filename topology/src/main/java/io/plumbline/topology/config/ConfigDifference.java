package io.plumbline.topology.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Says what one configuration has otherwise than another.
 *
 * @param live what a running process can take over, each as {@code key: before -> after}
 * @param fixed what takes a restart, in the same form
 */
public record ConfigDifference(List<String> live, List<String> fixed) {

    /** Keys of a site that a running process can take over, with all below them. */
    private static final Set<String> OF_SITE = Set.of(
            "adaptation",
            "baseline",
            "clear",
            "cooldown",
            "coverage",
            "debounce",
            "features",
            "sequential",
            "threshold",
            "trigger",
            "warn",
            "warn_threshold",
            "watch");

    private static final List<String> HEADERS = List.of("metrics", "otlp", "headers");

    private static final Set<String> OF_MODEL = Set.of("debounce", "threshold", "wait");

    /**
     * Returns the difference of two configurations; a secret that changed is in it without its value. What a reference
     * such as {@code ${file:PATH}} names may change at any time, by whoever renews it, and is read at the next start.
     */
    public static ConfigDifference of(ReadConfig before, ReadConfig after) {
        Map<List<String>, JsonNode> old = values(before.effective());
        Map<List<String>, JsonNode> next = values(after.effective());
        Set<List<String>> all = new TreeSet<>(Comparator.comparing(key -> String.join("\0", key)));
        all.addAll(old.keySet());
        all.addAll(next.keySet());
        List<String> live = new ArrayList<>();
        List<String> fixed = new ArrayList<>();
        for (List<String> key : all) {
            if (!isSame(old.get(key), next.get(key))) {
                (isLive(key) ? live : fixed)
                        .add("%s: %s -> %s".formatted(ConfigNode.path(key), shown(old.get(key)), shown(next.get(key))));
            } else if (!Objects.equals(written(before.config(), key), written(after.config(), key))) {
                fixed.add("%s: %s -> another value".formatted(ConfigNode.path(key), shown(old.get(key))));
            }
        }
        return new ConfigDifference(List.copyOf(live), List.copyOf(fixed));
    }

    /** Returns whether two values are the same, 60s and 1m among them. */
    private static boolean isSame(@Nullable JsonNode one, @Nullable JsonNode other) {
        if (Objects.equals(one, other)) {
            return true;
        }
        try {
            return one != null
                    && other != null
                    && DurationText.parse(one.asText()).equals(DurationText.parse(other.asText()));
        } catch (IllegalArgumentException noTimes) {
            return false;
        }
    }

    /** Returns what the file has for a key whose value the tree may hide; null for every other key. */
    private static @Nullable String written(MonitorConfig config, List<String> key) {
        String name = key.get(key.size() - 1);
        OtlpSettings otlp = config.otlp();
        return key.get(0).equals("kafka")
                ? config.secrets().written(name, config.kafka().get(name))
                : otlp != null && key.subList(0, key.size() - 1).equals(HEADERS)
                        ? config.secrets().writtenHeader(name, otlp.headers().get(name))
                        : null;
    }

    private static boolean isLive(List<String> key) {
        return switch (key.get(0)) {
            case "sites" -> key.size() > 2 && OF_SITE.contains(key.get(2));
            case "models" -> key.size() > 2 && OF_MODEL.contains(key.get(2));
            case "log" -> key.size() == 2 && key.get(1).equals("level");
            default -> false;
        };
    }

    private static Map<List<String>, JsonNode> values(ObjectNode tree) {
        Map<List<String>, JsonNode> values = new LinkedHashMap<>();
        add(List.of(), tree, values);
        return values;
    }

    private static void add(List<String> at, JsonNode node, Map<List<String>, JsonNode> values) {
        if (!node.isObject()) {
            values.put(at, node);
            return;
        }
        node.properties().forEach(field -> {
            List<String> below = new ArrayList<>(at);
            below.add(field.getKey());
            add(List.copyOf(below), field.getValue(), values);
        });
    }

    private static String shown(@Nullable JsonNode value) {
        return value == null ? "none" : ConfigNode.show(value);
    }
}
