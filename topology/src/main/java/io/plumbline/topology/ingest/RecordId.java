package io.plumbline.topology.ingest;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/** The header by which a producer asks that a record counts once, however often it is sent. */
public final class RecordId {

    /** The name of the header. */
    public static final String HEADER = "record_id";

    /** The most bytes of an id: a longer one is no name. */
    static final int LONGEST = 1_024;

    private RecordId() {}

    /**
     * The first 64 bits of the SHA-256 of the header's bytes: nobody can make an id that takes another's place. Null
     * where there is no such header.
     *
     * @throws IllegalArgumentException if it is empty or too long
     */
    static @Nullable Long of(Headers headers) {
        Header header = headers.lastHeader(HEADER);
        byte[] id = header == null ? null : header.value();
        if (id == null) {
            return null;
        }
        if (id.length == 0 || id.length > LONGEST) {
            throw new IllegalArgumentException(
                    "the header record_id has %d bytes, expected 1 to %d".formatted(id.length, LONGEST));
        }
        try {
            return ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(id))
                    .getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
