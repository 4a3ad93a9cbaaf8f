package io.plumbline.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * A byte-level byte-pair tokenizer of the kind that GPT-2 has, read from a {@code tokenizer.json} of Hugging Face.
 * Immutable.
 */
final class BytePairs {

    /** Matches the words at which GPT-2 cuts before it joins pairs; Unicode's white space, as the original has it. */
    private static final Pattern WORDS = Pattern.compile(
            "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
            Pattern.UNICODE_CHARACTER_CLASS);

    /** The letter that stands for each byte in the vocabulary, and back. */
    private static final char[] LETTERS = letters();

    private static final Map<Character, Integer> BYTES = bytes();

    private record Pair(String left, String right) {}

    private final Map<String, Long> ids;
    private final Map<Long, String> tokens = new HashMap<>();
    private final Map<Pair, Integer> ranks;
    private final Map<String, Long> special;

    private BytePairs(Map<String, Long> ids, Map<Pair, Integer> ranks, Map<String, Long> special) {
        this.ids = ids;
        this.ranks = ranks;
        this.special = special;
        ids.forEach((token, id) -> tokens.put(id, token));
    }

    /**
     * Reads a tokenizer.
     *
     * @throws IllegalArgumentException when it is one of another kind
     */
    static BytePairs read(Path file) throws IOException {
        JsonNode json = new JsonMapper().readTree(file.toFile());
        JsonNode model = json.path("model");
        JsonNode cutting = json.path("pre_tokenizer");
        if (!model.path("type").asText().equals("BPE")
                || !cutting.path("type").asText().equals("ByteLevel")
                || cutting.path("add_prefix_space").asBoolean()
                || !json.path("normalizer").isNull()) {
            throw new IllegalArgumentException(
                    ("%s: a %s model cut by %s; expected BPE cut by ByteLevel, without a prefix space or a normalizer, "
                                    + "as GPT-2 has")
                            .formatted(
                                    file,
                                    model.path("type").asText(),
                                    cutting.path("type").asText()));
        }
        Map<String, Long> ids = new HashMap<>();
        model.path("vocab")
                .properties()
                .forEach(entry -> ids.put(entry.getKey(), entry.getValue().asLong()));
        Map<Pair, Integer> ranks = new HashMap<>();
        for (JsonNode merge : model.path("merges")) {
            String[] halves = merge.isArray()
                    ? new String[] {merge.path(0).asText(), merge.path(1).asText()}
                    : merge.asText().split(" ", 2);
            ranks.put(new Pair(halves[0], halves[1]), ranks.size());
        }
        Map<String, Long> special = new HashMap<>();
        for (JsonNode added : json.path("added_tokens")) {
            special.put(added.path("content").asText(), added.path("id").asLong());
        }
        return new BytePairs(ids, ranks, special);
    }

    /** Returns the tokens of a text; a special token's name in it is that token. */
    long[] encode(String text) {
        LongStream.Builder found = LongStream.builder();
        int from = 0;
        while (from < text.length()) {
            String next = null;
            int at = text.length();
            for (String name : special.keySet()) {
                int place = text.indexOf(name, from);
                if (place >= 0 && place < at) {
                    next = name;
                    at = place;
                }
            }
            words(text.substring(from, at), found);
            if (next == null) {
                break;
            }
            found.add(special.getOrDefault(next, 0L));
            from = at + next.length();
        }
        return found.build().toArray();
    }

    private void words(String text, LongStream.Builder found) {
        Matcher word = WORDS.matcher(text);
        while (word.find()) {
            StringBuilder letters = new StringBuilder();
            for (byte one : word.group().getBytes(StandardCharsets.UTF_8)) {
                letters.append(LETTERS[one & 0xFF]);
            }
            for (String part : joined(letters.toString())) {
                Long id = ids.get(part);
                if (id == null) {
                    throw new IllegalArgumentException("the tokenizer has no token for \"%s\"".formatted(part));
                }
                found.add(id);
            }
        }
    }

    /** Joins neighbours, the pair that was learnt first before others. */
    private List<String> joined(String letters) {
        List<String> parts =
                new ArrayList<>(letters.chars().mapToObj(Character::toString).toList());
        while (parts.size() > 1) {
            int best = -1;
            int lowest = Integer.MAX_VALUE;
            for (int i = 0; i + 1 < parts.size(); i++) {
                int rank = ranks.getOrDefault(new Pair(parts.get(i), parts.get(i + 1)), Integer.MAX_VALUE);
                if (rank < lowest) {
                    lowest = rank;
                    best = i;
                }
            }
            if (best < 0) {
                break;
            }
            parts.set(best, parts.get(best) + parts.remove(best + 1));
        }
        return parts;
    }

    /** Returns the text of some tokens; a character that is there only in part becomes U+FFFD. */
    String decode(long... of) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (long id : of) {
            for (char letter : tokens.getOrDefault(id, "").toCharArray()) {
                Integer value = BYTES.get(letter);
                if (value != null) {
                    bytes.write(value);
                }
            }
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    /** Returns the id of the token that stands before every text, or null. */
    @Nullable
    Long firstToken() {
        return special.get("<|endoftext|>");
    }

    private static char[] letters() {
        char[] letters = new char[256];
        int free = 256;
        for (int value = 0; value < 256; value++) {
            boolean printable = (value >= '!' && value <= '~')
                    || (value >= 0xA1 && value <= 0xAC)
                    || (value >= 0xAE && value <= 0xFF);
            letters[value] = (char) (printable ? value : free++);
        }
        return letters;
    }

    private static Map<Character, Integer> bytes() {
        Map<Character, Integer> bytes = new HashMap<>();
        for (int value = 0; value < 256; value++) {
            bytes.put(LETTERS[value], value);
        }
        return bytes;
    }
}
