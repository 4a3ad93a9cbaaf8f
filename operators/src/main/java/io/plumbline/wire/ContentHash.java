package io.plumbline.wire;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Computes SHA-256 over everything a safetensors blob says, whatever order it says it in.
 *
 * <pre>
 * text       "plumbline-content-1"
 * count      metadata entries, without {@link #KEY} itself, by key ascending: text key, text value
 * count      tensors, by name ascending: text name, text dtype, count dimensions, I64 each,
 *            I64 bytes, and the bytes themselves
 * </pre>
 *
 * <p>A count is an I64, and a text its bytes in UTF-8 after their count. All integers are big-endian.
 */
final class ContentHash implements ByteSink {

    static final String KEY = "content_sha256";

    private static final String LAYOUT = "plumbline-content-1";

    private final MessageDigest digest;

    private ContentHash(MessageDigest digest) {
        this.digest = digest;
    }

    /** Begins with the metadata; exactly {@code tensors} calls of {@link #tensor} follow, by name ascending. */
    static ContentHash of(Map<String, String> metadata, int tensors) {
        ContentHash hash;
        try {
            hash = new ContentHash(MessageDigest.getInstance("SHA-256"));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
        Map<String, String> others = new TreeMap<>(metadata);
        others.remove(KEY);
        hash.text(LAYOUT);
        hash.number(others.size());
        others.forEach((key, value) -> {
            hash.text(key);
            hash.text(value);
        });
        hash.number(tensors);
        return hash;
    }

    /** Adds the description of a tensor; its bytes are to be written next. */
    void tensor(String name, DType dtype, List<Long> shape, long bytes) {
        text(name);
        text(dtype.name());
        number(shape.size());
        shape.forEach(this::number);
        number(bytes);
    }

    /** Returns the hash in hexadecimal; nothing can be added afterwards. */
    String hex() {
        return HexFormat.of().formatHex(digest.digest());
    }

    private void text(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        number(bytes.length);
        digest.update(bytes);
    }

    private void number(long number) {
        digest.update(ByteBuffer.allocate(Long.BYTES).putLong(number).flip());
    }

    @Override
    public void take(ByteBuffer piece) {
        digest.update(piece);
    }
}
