package io.plumbline.wire;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 in hexadecimal. */
public final class Sha256 {

    private Sha256() {}

    /** Returns that of a file, which is read once. */
    public static String of(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file);
                DigestInputStream through = new DigestInputStream(in, digest())) {
            through.transferTo(OutputStream.nullOutputStream());
            return HexFormat.of().formatHex(through.getMessageDigest().digest());
        }
    }

    /** Returns that of a text in UTF-8. */
    public static String of(String text) {
        return of(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns that of bytes. */
    public static String of(byte[] bytes) {
        return HexFormat.of().formatHex(digest().digest(bytes));
    }

    private static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every Java has SHA-256", impossible);
        }
    }
}
