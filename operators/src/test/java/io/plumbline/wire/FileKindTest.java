package io.plumbline.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FileKindTest {

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "PK\\3\\4------xx-archive/data.pkl | what torch.save writes",
                "PK\\3\\4------xx-W_enc.npy | numpy arrays (.npz)",
                "PK\\3\\4------xx-other | a zip archive; unpack it",
                "\\200\\2}q\\0(X | a bare pickle",
                "\\37\\213\\10\\0\\0\\0\\0\\0\\0 | packed with gzip",
                "{\"d_in\": 3} | a file of JSON",
                "<!DOCTYPE html><p>404 | a web page: the download failed",
                "version https://git-lfs.github.com/spec/v1 | `git lfs pull`"
            })
    void aFileOfAnotherKindIsSaidToBeSo(String content, String expected) throws IOException {
        Path file =
                Files.write(folder.resolve("rows"), content.translateEscapes().getBytes(StandardCharsets.ISO_8859_1));
        SafetensorsException refused = assertThrows(SafetensorsException.class, () -> Safetensors.open(file));
        assertEquals(SafetensorsException.Fault.OTHER_FILE, refused.fault());
        String message = String.valueOf(refused.getMessage());
        assertTrue(message.startsWith(file + ": expected safetensors; this is "), message);
        assertTrue(message.contains(expected), message);
        if (!content.startsWith("PK")) {
            TensorFileException archive = assertThrows(TensorFileException.class, () -> NpzFile.open(file));
            assertTrue(String.valueOf(archive.getMessage()).contains(expected), archive.getMessage());
        }
    }

    /** Tests headers of 123 and 640 bytes, whose lengths begin as JSON and as a pickle do. */
    @Test
    void damagedSafetensorsAreNotTakenForAnotherKind() throws IOException {
        for (int length : new int[] {123, 640}) {
            byte[] header = Arrays.copyOf("{\"a\":1".getBytes(StandardCharsets.UTF_8), length);
            Path file = Files.write(folder.resolve("cut"), Blobs.withLength(length, header, 0));
            SafetensorsException refused = assertThrows(SafetensorsException.class, () -> Safetensors.open(file));
            assertEquals(SafetensorsException.Fault.BAD_JSON, refused.fault());
        }
    }
}
