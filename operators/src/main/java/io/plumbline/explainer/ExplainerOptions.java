package io.plumbline.explainer;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Facts about an explainer that are in none of its files, told by the user.
 *
 * <pre>
 * option   value             where it is needed
 * k        whole number      Qwen Scope: how many features are active, from the name of the repository (L0_50 is 50);
 *                            SAELens: the same of a transcoder trained with TopK, which SAELens reads as ReLU
 * kind     sae, transcoder   Gemma Scope 1: nothing in params.npz says which it is
 * layer    whole number      sets of transcoders with a file for each layer
 * features whole number      none: how many features the codes are of that come with reconstructions
 * target   whole number      cross-layer transcoders, crosscoders: the target layer whose block is meant
 * norm     positive number   Llama Scope R1-Distill, expected_average_only_in: the factor on rows
 * </pre>
 *
 * @param values by name
 */
public record ExplainerOptions(Map<String, String> values) {

    /** The options where the user gives none. */
    public static final ExplainerOptions NONE = new ExplainerOptions(Map.of());

    public static final String K = "k";
    public static final String KIND = "kind";
    public static final String LAYER = "layer";
    public static final String NORM = "norm";
    static final String FEATURES = "features";
    public static final String TARGET = "target";

    private static final Set<String> NAMES = new TreeSet<>(Set.of(K, KIND, LAYER, NORM, FEATURES, TARGET));

    /**
     * Checks names and values.
     *
     * @throws IllegalArgumentException naming the option, its value and what was expected
     */
    public ExplainerOptions {
        values = Map.copyOf(values);
        new TreeMap<>(values).forEach(ExplainerOptions::check);
    }

    /**
     * Reads {@code name=value} pairs.
     *
     * @throws IllegalArgumentException where one is no pair, is given twice or is not an option
     */
    public static ExplainerOptions parse(Iterable<String> pairs) {
        Map<String, String> values = new LinkedHashMap<>();
        for (String pair : pairs) {
            int equals = pair.indexOf('=');
            if (equals < 1) {
                throw new IllegalArgumentException(
                        "%s: expected NAME=VALUE, with a name of %s".formatted(pair, String.join(", ", NAMES)));
            }
            if (values.put(pair.substring(0, equals), pair.substring(equals + 1)) != null) {
                throw new IllegalArgumentException("%s is given twice".formatted(pair.substring(0, equals)));
            }
        }
        return new ExplainerOptions(values);
    }

    /** Says how to give an option, for a message. */
    public static String howTo(String option, String value) {
        return "--explainer-option %s=%s (in a configuration: explainer_options: {%s: %s})"
                .formatted(option, value, option, value);
    }

    @Nullable
    public Integer k() {
        return whole(K);
    }

    @Nullable
    Integer features() {
        return whole(FEATURES);
    }

    @Nullable
    public Integer layer() {
        return whole(LAYER);
    }

    @Nullable
    public Integer target() {
        return whole(TARGET);
    }

    /** Returns these options with another target layer. */
    public ExplainerOptions ofTarget(int target) {
        Map<String, String> more = new LinkedHashMap<>(values);
        more.put(TARGET, Integer.toString(target));
        return new ExplainerOptions(more);
    }

    /** Returns these options without a target layer. */
    public ExplainerOptions withoutTarget() {
        Map<String, String> fewer = new LinkedHashMap<>(values);
        fewer.remove(TARGET);
        return new ExplainerOptions(fewer);
    }

    @Nullable
    public Double norm() {
        String value = values.get(NORM);
        return value == null ? null : Double.valueOf(value);
    }

    /** Returns whether it is a transcoder; null where that is not told. */
    @Nullable
    public Boolean transcoder() {
        String value = values.get(KIND);
        return value == null ? null : Boolean.valueOf(value.equals("transcoder"));
    }

    /** Refuses an option that has no meaning for a format. */
    public void requireOnly(String format, String... known) {
        for (String name : new TreeSet<>(values.keySet())) {
            if (!Set.of(known).contains(name)) {
                throw new ExplainerFormatException("option %s = %s has no meaning for %s%s"
                        .formatted(
                                name,
                                values.get(name),
                                format,
                                known.length == 0
                                        ? ", which needs no option; leave it out"
                                        : "; it takes " + String.join(", ", known)));
            }
        }
    }

    private @Nullable Integer whole(String name) {
        String value = values.get(name);
        return value == null ? null : Integer.valueOf(value);
    }

    private static void check(String name, String value) {
        boolean sound =
                switch (name) {
                    case K -> value.matches("[1-9][0-9]{0,8}");
                    case FEATURES -> value.matches("[1-9][0-9]{0,6}");
                    case LAYER, TARGET -> value.matches("0|[1-9][0-9]{0,3}");
                    case KIND -> value.equals("sae") || value.equals("transcoder");
                    case NORM -> isPositive(value);
                    default ->
                        throw new IllegalArgumentException(
                                "explainer option %s: expected one of %s".formatted(name, String.join(", ", NAMES)));
                };
        if (!sound) {
            throw new IllegalArgumentException("explainer option %s = %s: expected %s"
                    .formatted(
                            name,
                            value,
                            switch (name) {
                                case K -> "a whole number from 1 on";
                                case FEATURES -> "a whole number from 1 to 9999999";
                                case LAYER, TARGET -> "a whole number from 0 on";
                                case KIND -> "sae or transcoder";
                                default -> "a positive number";
                            }));
        }
    }

    private static boolean isPositive(String value) {
        try {
            double number = Double.parseDouble(value.toLowerCase(Locale.ROOT));
            return number > 0.0 && Double.isFinite(number);
        } catch (NumberFormatException notOne) {
            return false;
        }
    }
}
