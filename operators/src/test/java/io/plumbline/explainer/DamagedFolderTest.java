package io.plumbline.explainer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.formats.Formats;
import io.plumbline.wire.DType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An adapted explainer that lost a bit, on a disk or on its way, must not encode anything. */
class DamagedFolderTest {

    @TempDir
    private Path folder;

    private Path adapted = Path.of("");

    @BeforeEach
    void adapt() throws IOException {
        Explainer trained =
                Formats.read(SaeLensFolder.autoencoder("topk").with("k", "2").writeTo(folder.resolve("trained")));
        adapted = folder.resolve("adapted");
        Formats.writeAdapted(trained, trained.decoder(), DType.F32, Map.of("plumbline.parent", "abc"), adapted);
        assertEquals(5, Formats.read(adapted).features(), "sound as it was written");
    }

    @Test
    void oneFlippedBitAnywhereInTheWeightsIsRefused() throws IOException {
        Path file = adapted.resolve("sae_weights.safetensors");
        byte[] written = Files.readAllBytes(file);
        int header = written[8] == '{' ? Byte.toUnsignedInt(written[0]) | Byte.toUnsignedInt(written[1]) << 8 : 0;
        assertTrue(header > 0 && header < written.length - 8, () -> "a header of " + header);
        for (int at = 8 + header; at < written.length; at++) {
            byte[] damaged = written.clone();
            damaged[at] ^= (byte) (1 << at % 8);
            Files.write(file, damaged);
            assertRefused(file, "copy the folder again", "byte %d, bit %d".formatted(at, at % 8));
        }
    }

    @Test
    void aConfigurationThatEncodesInAnotherWayIsRefused() throws IOException {
        Path file = adapted.resolve("cfg.json");
        String written = Files.readString(file);
        String damaged = written.replaceAll("\"k\"( ?: ?)2", "\"k\"$13");
        assertTrue(!damaged.equals(written), written);
        Files.write(file, damaged.getBytes(StandardCharsets.UTF_8));
        assertRefused(adapted, "topk, TOPK 3, 3 > 5 > 3, b_dec subtracted: false", damaged);
        Files.writeString(file, written.replaceFirst("\\{", "{\"model_name\": \"another\", "));
        assertEquals(5, Formats.read(adapted).features(), "what changes no code may be written there");
    }

    private void assertRefused(Path named, String words, String what) {
        String message = String.valueOf(assertThrows(ExplainerFormatException.class, () -> Formats.read(adapted), what)
                .getMessage());
        assertTrue(message.contains(named.toString()) && message.contains(words), () -> what + ": " + message);
    }
}
