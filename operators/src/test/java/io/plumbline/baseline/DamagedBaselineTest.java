package io.plumbline.baseline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.wire.Safetensors;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A baseline that lost a bit, on a disk or on its way, must not judge anything. */
class DamagedBaselineTest {

    @TempDir
    private Path folder;

    private Path file = Path.of("");
    private byte[] written = {};

    @BeforeEach
    void write() throws IOException {
        file = folder.resolve("baseline.safetensors");
        BaselineTest.build(12).write(file);
        written = Files.readAllBytes(file);
        assertEquals(105, Baseline.read(file).rowCount(), "sound as it was written");
    }

    @Test
    void oneFlippedBitOfTheMomentIsRefused() throws IOException {
        int header = Math.toIntExact(
                ByteBuffer.wrap(written).order(ByteOrder.LITTLE_ENDIAN).getLong());
        int begin;
        int bytes;
        try (Safetensors tensors = Safetensors.open(file)) {
            ByteBuffer state = tensors.tensor("moment_state").bytes();
            bytes = state.remaining();
            byte[] content = new byte[bytes];
            state.get(content);
            begin = IntStream.range(8 + header, written.length - bytes + 1)
                    .filter(at -> Arrays.equals(written, at, at + bytes, content, 0, bytes))
                    .findFirst()
                    .orElseThrow();
        }
        for (int at = begin; at < begin + bytes; at++) {
            assertRefused(at, at % 8);
        }
    }

    @Test
    void oneFlippedBitAnywhereInTheHeaderIsRefused() throws IOException {
        int header = Math.toIntExact(
                ByteBuffer.wrap(written).order(ByteOrder.LITTLE_ENDIAN).getLong());
        for (int at = 0; at < 8 + header; at++) {
            assertRefused(at, at % 8);
        }
    }

    @Test
    void oneFlippedBitAtARandomPlaceIsRefused() throws IOException {
        long seed = 20261123;
        Random random = new Random(seed);
        for (int i = 0; i < 300; i++) {
            assertRefused(random.nextInt(written.length), random.nextInt(8));
        }
    }

    @Test
    void aFileWithoutItsChecksumIsRefused() throws IOException {
        // The key under another name of the same length: everything else is as it was.
        String text = new String(written, StandardCharsets.ISO_8859_1).replace("content_sha256", "comment_sha256");
        Files.write(file, text.getBytes(StandardCharsets.ISO_8859_1));
        assertTrue(message().contains("no content_sha256"), this::message);
    }

    private void assertRefused(int at, int bit) throws IOException {
        byte[] damaged = written.clone();
        damaged[at] ^= (byte) (1 << bit);
        Files.write(file, damaged);
        String message = message();
        assertTrue(message.startsWith(file.toString()), () -> "byte %d, bit %d: %s".formatted(at, bit, message));
        assertTrue(
                message.contains("copy the file again") && message.contains("run `plumbline baseline` again"),
                () -> "byte %d, bit %d: %s".formatted(at, bit, message));
    }

    private String message() {
        return String.valueOf(
                assertThrows(BaselineException.class, () -> Baseline.read(file)).getMessage());
    }
}
