package io.plumbline.topology.fuzz;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Mutates JSON and YAML by their words: numbers, strings, keys, brackets, anchors. */
final class TextMutator {

    private static final String NINES = "9".repeat(2_000);

    private static final List<String> NUMBERS = List.of(
            "0",
            "-0",
            "-1",
            "1",
            "2147483647",
            "2147483648",
            "-2147483649",
            "4294967296",
            "4611686018427387904",
            "9223372036854775807",
            "9223372036854775808",
            "-9223372036854775808",
            "18446744073709551615",
            "1.5",
            "1e3",
            "1e400",
            "1e-400",
            "1E+2147483647",
            "1e999999999",
            NINES,
            "0." + NINES,
            "NaN",
            "-Infinity",
            "null",
            "true",
            "\"7\"",
            "[]",
            "{}");

    /** The words of one language. */
    record Language(List<String> words, Pattern numbers, Pattern strings) {}

    static final Language JSON = new Language(
            List.of(
                    "{",
                    "}",
                    "[",
                    "]",
                    ",",
                    ":",
                    "null",
                    "true",
                    "\"\"",
                    "\"dtype\"",
                    "\"F64\"",
                    "\"BF16\"",
                    "\"I64\"",
                    "\"shape\"",
                    "\"data_offsets\"",
                    "\"__metadata__\"",
                    "\"activations\"",
                    "\"hidden_states\"",
                    "\"targets\"",
                    "\"token_ids\"",
                    "\"request_offsets\"",
                    "\"W_dec\"",
                    "\"k\"",
                    "\"schema\"",
                    "\"\\ud800\"",
                    "\"\\u0000\"",
                    "\"\\uD83D\\uDE00\"",
                    "\\",
                    "//",
                    "/*",
                    "'",
                    "\u0000",
                    "\uFEFF",
                    " ".repeat(500),
                    "\"" + "x".repeat(60_000) + "\"",
                    "\"a\":{\"dtype\":\"F32\",\"shape\":[0]," + "\"data_offsets\":[0,0]},"),
            Pattern.compile("-?\\d+(\\.\\d+)?"),
            Pattern.compile("\"[^\"]*\""));

    static final Language YAML = new Language(
            List.of(
                    "{",
                    "}",
                    "[",
                    "]",
                    ",",
                    ": ",
                    "- ",
                    "? ",
                    "|\n",
                    ">-\n",
                    "&a ",
                    "*a",
                    "<<: *a\n",
                    "!!binary ",
                    "!!java.net.URL ",
                    "!<tag:yaml.org,2002:map> ",
                    "%YAML 9.9\n",
                    "---\n",
                    "...\n",
                    "\t",
                    "#",
                    "~",
                    "off",
                    "yes",
                    "0x7fffffff",
                    "0o17",
                    ".inf",
                    ".nan",
                    "1_000",
                    "12:30:45",
                    "2001-12-14",
                    "\"\\x00\"",
                    "\u0000",
                    "\u0085",
                    "\uFEFF",
                    "\u2028",
                    "9223372036854775807h",
                    "9223372036854775807ms",
                    "106751991167300d",
                    "-1s",
                    "1e99d",
                    "2 of 1",
                    "65 of 65",
                    "{quantile: 1}",
                    "{share: .nan}",
                    bomb()),
            Pattern.compile("-?\\d+(\\.\\d+)?"),
            Pattern.compile("[A-Za-z_.]+"));

    private final SplittableRandom random;
    private final Language language;

    TextMutator(SplittableRandom random, Language language) {
        this.random = random;
        this.language = language;
    }

    /** Returns nine levels of nine aliases each: three billion words to whoever expands them. */
    private static String bomb() {
        StringBuilder bomb = new StringBuilder("a0: &a0 [lol]\n");
        for (int level = 1; level <= 9; level++) {
            bomb.append("a%d: &a%d [%s]\n".formatted(level, level, ("*a" + (level - 1) + ",").repeat(9)));
        }
        return bomb.toString();
    }

    byte[] mutated(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.UTF_8);
        String bad =
                switch (random.nextInt(9)) {
                    case 0, 1 -> replaced(text, language.numbers(), NUMBERS.get(random.nextInt(NUMBERS.size())));
                    case 2 -> replaced(text, language.strings(), word());
                    case 3 -> replaced(text, language.strings(), any(text, language.strings()));
                    case 4 -> inserted(text, word());
                    case 5 -> nested(text);
                    case 6 -> withCopyOfAStretch(text);
                    case 7 -> withCopyOfALine(text);
                    default -> withoutAStretch(text);
                };
        return bad.getBytes(StandardCharsets.UTF_8);
    }

    private String word() {
        return language.words().get(random.nextInt(language.words().size()));
    }

    private String any(String text, Pattern pattern) {
        List<MatchResult> found = pattern.matcher(text).results().toList();
        return found.isEmpty()
                ? word()
                : found.get(random.nextInt(found.size())).group();
    }

    private String replaced(String text, Pattern pattern, String by) {
        List<MatchResult> found = pattern.matcher(text).results().toList();
        if (found.isEmpty()) {
            return inserted(text, by);
        }
        MatchResult one = found.get(random.nextInt(found.size()));
        return text.substring(0, one.start()) + by + text.substring(one.end());
    }

    private String inserted(String text, String word) {
        int at = random.nextInt(text.length() + 1);
        return text.substring(0, at) + word + text.substring(at);
    }

    /** Returns brackets in brackets: what recursion dies of. */
    private String nested(String text) {
        int depth = random.nextInt(6) == 0 ? 50_000 : 1 + random.nextInt(1_500);
        return switch (random.nextInt(4)) {
            case 0 -> inserted(text, "[".repeat(depth));
            case 1 -> inserted(text, "[".repeat(depth) + "]".repeat(depth));
            case 2 -> replaced(text, language.numbers(), "[".repeat(depth) + "]".repeat(depth));
            default -> inserted(text, "{\"a\":".repeat(depth) + "1" + "}".repeat(depth));
        };
    }

    private String withCopyOfAStretch(String text) {
        int from = random.nextInt(text.length() + 1);
        int to = Math.min(text.length(), from + random.nextInt(200));
        return inserted(text, text.substring(from, to).repeat(random.nextInt(20) == 0 ? 100 : 1));
    }

    private String withCopyOfALine(String text) {
        String[] lines = text.split("(?<=[\n,])", -1);
        int from = random.nextInt(lines.length);
        int to = random.nextInt(lines.length);
        String[] copy = lines.clone();
        copy[to] = lines[to] + lines[from];
        return String.join("", copy);
    }

    private String withoutAStretch(String text) {
        int from = random.nextInt(text.length() + 1);
        int to = Math.min(text.length(), from + 1 + random.nextInt(40));
        return text.substring(0, from) + text.substring(to);
    }
}
