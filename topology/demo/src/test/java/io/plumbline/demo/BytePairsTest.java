package io.plumbline.demo;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BytePairsTest {

    @TempDir
    Path folder;

    private BytePairs tokenizer;

    @BeforeEach
    void read() throws IOException {
        Path file = folder.resolve("tokenizer.json");
        try (InputStream in = BytePairs.class.getResourceAsStream("live/model/tokenizer.json")) {
            Files.copy(in, file);
        }
        tokenizer = BytePairs.read(file);
    }

    /** Compares tokens with golden ones: {@code tokenizers} 0.23.3 of Hugging Face on the same file. */
    @Test
    void tokensAreThoseOfTheOriginal() throws IOException {
        JsonNode cases;
        try (InputStream in = BytePairsTest.class.getResourceAsStream("tokens.json")) {
            cases = new JsonMapper().readTree(in);
        }
        assertTrue(cases.size() > 10);
        for (JsonNode one : cases) {
            long[] expected = StreamSupport.stream(one.path("ids").spliterator(), false)
                    .mapToLong(JsonNode::asLong)
                    .toArray();
            String text = one.path("text").asText();
            assertArrayEquals(expected, tokenizer.encode(text), text);
        }
    }

    @Test
    void aTextComesBackFromItsTokens() throws IOException {
        try (InputStream in = BytePairs.class.getResourceAsStream("live/texts/spanish.txt")) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(text, tokenizer.decode(tokenizer.encode(text)));
        }
    }

    @Test
    void aTokenizerOfAnotherKindIsRefused() throws IOException {
        Path other = Files.writeString(
                folder.resolve("other.json"),
                "{\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"Metaspace\"},\"model\":{\"type\":\"Unigram\"}}");
        String said = assertThrows(IllegalArgumentException.class, () -> BytePairs.read(other))
                .getMessage();
        assertTrue(said.contains("a Unigram model cut by Metaspace; expected BPE cut by ByteLevel"), said);
    }
}
