package io.plumbline.topology.emission;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * A piece of a published decoder.
 *
 * <pre>
 * offset  size  field
 *      0     1  version of the layout, 1
 *      1     8  version of the decoder
 *      9     4  index of the chunk
 *     13     …  bytes: 512 KiB less 1 KiB, the last chunk what is left
 * </pre>
 *
 * Big endian. The record key is {@code site#index}.
 */
record DecoderChunk(long decoderVersion, int index, byte[] payload) {

    private static final byte VERSION = 1;
    private static final int HEADER_BYTES = 13;

    /** With key and headers under 512 KiB, half of every default limit. */
    static final int PAYLOAD_BYTES = 511 * 1024;

    /** Chunks of the largest artefact a manifest may name. */
    static final int LARGEST_COUNT = chunksOf(DecoderManifest.LARGEST_ARTEFACT);

    static int chunksOf(long bytes) {
        return Math.toIntExact((bytes + PAYLOAD_BYTES - 1) / PAYLOAD_BYTES);
    }

    /** The chunk with this index of {@code artefact}. */
    static DecoderChunk cut(byte[] artefact, long decoderVersion, int index) {
        int from = index * PAYLOAD_BYTES;
        byte[] payload = new byte[Math.min(PAYLOAD_BYTES, artefact.length - from)];
        System.arraycopy(artefact, from, payload, 0, payload.length);
        return new DecoderChunk(decoderVersion, index, payload);
    }

    static byte[] key(String site, int index) {
        return (site + SEPARATOR + index).getBytes(StandardCharsets.UTF_8);
    }

    /** Stands between site and index in a chunk's key; configuration refuses it in a site's name. */
    static final char SEPARATOR = '#';

    byte[] encode() {
        return ByteBuffer.allocate(HEADER_BYTES + payload.length)
                .put(VERSION)
                .putLong(decoderVersion)
                .putInt(index)
                .put(payload)
                .array();
    }

    /** Throws {@link IllegalArgumentException} when the bytes are not a chunk of this layout. */
    static DecoderChunk decode(byte[] bytes) {
        if (bytes.length > HEADER_BYTES + PAYLOAD_BYTES) {
            throw new IllegalArgumentException("decoder chunk of %d bytes: at most %d expected"
                    .formatted(bytes.length, HEADER_BYTES + PAYLOAD_BYTES));
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        try {
            byte version = buffer.get();
            if (version != VERSION) {
                throw new IllegalArgumentException(
                        "decoder chunk of layout %d, expected %d".formatted(version, VERSION));
            }
            long decoderVersion = buffer.getLong();
            int index = buffer.getInt();
            if (index < 0 || index >= LARGEST_COUNT) {
                throw new IllegalArgumentException("decoder chunk with index " + index);
            }
            byte[] payload = new byte[buffer.remaining()];
            buffer.get(payload);
            return new DecoderChunk(decoderVersion, index, payload);
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException("decoder chunk of %d bytes is cut short".formatted(bytes.length), e);
        }
    }
}
