package io.plumbline.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Text that somebody's program saved: UTF-8, with or without the byte order mark that spreadsheets and editors of
 * Windows put before it. Text in another encoding is refused with its name, since it would be read as other text.
 */
public final class TextFile {

    private static final char MARK = '\uFEFF';
    private static final int LOOKED_AT = 64;

    private TextFile() {}

    /**
     * Reads a file.
     *
     * @throws IllegalArgumentException where it is no text in UTF-8, saying what it is; without its path
     */
    public static String read(Path file) throws IOException {
        return text(Files.readAllBytes(file));
    }

    /**
     * Returns the text of bytes, without the mark.
     *
     * @throws IllegalArgumentException where they are no text in UTF-8, saying what they are
     */
    public static String text(byte[] bytes) {
        String wide = wide(bytes);
        if (!wide.isEmpty()) {
            throw new IllegalArgumentException(
                    "is text in %s: expected UTF-8; save it as UTF-8, or run `iconv -f %s -t UTF-8`"
                            .formatted(wide, wide));
        }
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
        ByteBuffer source = ByteBuffer.wrap(bytes);
        CharBuffer text = CharBuffer.allocate(bytes.length);
        CoderResult result = decoder.decode(source, text, true);
        if (result.isError()) {
            throw new IllegalArgumentException(("is not text in UTF-8 (at byte %d); save it as UTF-8, "
                            + "or run `iconv -f WINDOWS-1252 -t UTF-8` where Windows made it")
                    .formatted(source.position()));
        }
        text.flip();
        return (text.hasRemaining() && text.charAt(0) == MARK ? text.subSequence(1, text.length()) : text).toString();
    }

    /** Returns the name of an encoding of two or four bytes a character; empty where the bytes are in none. */
    private static String wide(byte[] bytes) {
        if (startsWith(bytes, 0xFF, 0xFE, 0, 0) || startsWith(bytes, 0, 0, 0xFE, 0xFF)) {
            return "UTF-32";
        }
        if (startsWith(bytes, 0xFF, 0xFE) || startsWith(bytes, 0xFE, 0xFF)) {
            return "UTF-16";
        }
        // Without a mark: every other byte of plain text in UTF-16 is 0.
        int pairs = Math.min(bytes.length, LOOKED_AT) / 2;
        int[] zeros = new int[2];
        for (int i = 0; i < 2 * pairs; i++) {
            zeros[i % 2] += bytes[i] == 0 ? 1 : 0;
        }
        if (pairs > 0 && zeros[1] == pairs && zeros[0] == 0) {
            return "UTF-16LE";
        }
        return pairs > 0 && zeros[0] == pairs && zeros[1] == 0 ? "UTF-16BE" : "";
    }

    private static boolean startsWith(byte[] bytes, int... begin) {
        for (int i = 0; i < begin.length; i++) {
            if (bytes.length <= i || (bytes[i] & 0xFF) != begin[i]) {
                return false;
            }
        }
        return true;
    }
}
