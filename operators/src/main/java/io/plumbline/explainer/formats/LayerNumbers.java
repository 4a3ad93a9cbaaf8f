package io.plumbline.explainer.formats;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The numbers that layers of a dictionary go by, in files of rows and in options: those of the model where a dictionary
 * says which of the model's layers it reads, else its own, counted from 0.
 */
final class LayerNumbers {

    private static final Pattern BETWEEN_DOTS = Pattern.compile("(?<=[.])\\d{1,4}(?=[.]|$)");
    private static final Pattern IN_BRACES = Pattern.compile("\\{(\\d{1,4}(?:,\\d{1,4})*)\\}");
    private static final Pattern NUMBER = Pattern.compile("\\d{1,4}");
    private static final Pattern OF_FOLDER = Pattern.compile("layer((?:_\\d{1,4})+)_width_.*");

    private LayerNumbers() {}

    /** Returns 0 to {@code layers - 1}. */
    static List<Integer> counted(int layers) {
        return IntStream.range(0, layers).boxed().toList();
    }

    /** Returns the numbers in hooks such as {@code blocks.9.hook_mlp_out}; counted ones where these do not ascend. */
    static List<Integer> ofHooks(List<String> hooks) {
        List<Integer> numbers = new ArrayList<>();
        for (String hook : hooks) {
            Matcher matcher = BETWEEN_DOTS.matcher(hook);
            if (matcher.find()) {
                numbers.add(Integer.valueOf(matcher.group()));
            }
        }
        return areAscending(numbers, hooks.size()) ? numbers : counted(hooks.size());
    }

    /** Returns the numbers of a hook such as {@code model.layers.{5,9,12}.output}; none where it names not so many. */
    static List<Integer> ofHook(String hook, int layers) {
        return numbers(IN_BRACES, hook, layers);
    }

    /** Returns those of a folder such as {@code layer_5_9_12_width_65k_l0_big}; none where it names not so many. */
    static List<Integer> ofFolder(String folder, int layers) {
        return numbers(OF_FOLDER, folder, layers);
    }

    private static List<Integer> numbers(Pattern pattern, String text, int layers) {
        List<Integer> found = NUMBER.matcher(first(pattern, text))
                .results()
                .map(number -> Integer.valueOf(number.group()))
                .toList();
        return areAscending(found, layers) ? found : List.of();
    }

    /** Returns layers in words: {@code 0 to 5}, or {@code 5, 9, 12} where they are not consecutive. */
    static String words(List<Integer> layers) {
        int first = layers.get(0);
        int last = layers.get(layers.size() - 1);
        return last - first == layers.size() - 1
                ? "%d to %d".formatted(first, last)
                : layers.stream().map(String::valueOf).collect(Collectors.joining(", "));
    }

    /**
     * Returns the order in which the block of a target numbers its features.
     *
     * @param target its place among {@code layers}
     * @param features of each layer
     */
    static String sideBySide(List<Integer> layers, int target, int features) {
        return ("target layer %d of %s: reads the layers %s side by side; feature j of the s-th of them, "
                        + "counted from 0, is number %d s + j")
                .formatted(layers.get(target), words(layers), words(layers.subList(0, target + 1)), features);
    }

    private static String first(Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        return matcher.find() ? matcher.group(1) : "";
    }

    private static boolean areAscending(List<Integer> numbers, int layers) {
        return numbers.size() == layers && numbers.equals(List.copyOf(new TreeSet<>(numbers)));
    }
}
