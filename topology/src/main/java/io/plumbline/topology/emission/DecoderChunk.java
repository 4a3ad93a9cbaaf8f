package io.plumbline.topology.emission;

import java.nio.ByteBuffer;

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
 * Big endian. The record key is {@code site#index}, with the same index.
 *
 * @param payload a view of the record's bytes, not a copy
 */
record DecoderChunk(long decoderVersion, int index, ByteBuffer payload) {

    private static final byte VERSION = 1;
    static final int HEADER_BYTES = 13;

    /** The most bytes of a chunk: with key and headers under 512 KiB, half of every default limit. */
    static final int PAYLOAD_BYTES = 511 * 1024;

    /** The number of chunks of the largest artefact a manifest may name. */
    static final int LARGEST_COUNT = chunksOf(DecoderManifest.LARGEST_ARTEFACT);

    static int chunksOf(long bytes) {
        return Math.toIntExact((bytes + PAYLOAD_BYTES - 1) / PAYLOAD_BYTES);
    }

    /** Begins a record's value with its header, and room for so many bytes behind it. */
    static ByteBuffer begin(long decoderVersion, int index, int payloadBytes) {
        return ByteBuffer.allocate(HEADER_BYTES + payloadBytes)
                .put(VERSION)
                .putLong(decoderVersion)
                .putInt(index);
    }

    /** Throws {@link IllegalArgumentException} when the bytes are not a chunk of this layout. */
    static DecoderChunk decode(byte[] bytes) {
        if (bytes.length > HEADER_BYTES + PAYLOAD_BYTES) {
            throw new IllegalArgumentException("decoder chunk of %d bytes: at most %d expected"
                    .formatted(bytes.length, HEADER_BYTES + PAYLOAD_BYTES));
        }
        if (bytes.length < HEADER_BYTES) {
            throw new IllegalArgumentException("decoder chunk of %d bytes is cut short: its header alone has %d"
                    .formatted(bytes.length, HEADER_BYTES));
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        byte version = buffer.get();
        if (version != VERSION) {
            throw new IllegalArgumentException("decoder chunk of layout %d, expected %d".formatted(version, VERSION));
        }
        long decoderVersion = buffer.getLong();
        int index = buffer.getInt();
        if (index < 0 || index >= LARGEST_COUNT) {
            throw new IllegalArgumentException(
                    "decoder chunk with index %d, expected 0 to %d".formatted(index, LARGEST_COUNT - 1));
        }
        return new DecoderChunk(decoderVersion, index, buffer.slice());
    }
}
