package io.plumbline.topology.assessment;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;

/**
 * What the monitor asks of the adapter about a site, keyed by the site. The parts of a row sample come first, then the
 * request that names them.
 *
 * <pre>
 * offset  size  field
 *      0     1  version, 1
 *      1     1  kind: 1 sample part, 2 adapt, 3 revert
 *      2     8  window end, ms: names the request
 *  sample part  10  4  index   14  …  a part of a {@link io.plumbline.moments.RowSample}
 *  adapt        10  8  window start, ms   18  8  rows in the window   26  4  capacity of the sample   30  4  parts
 *  revert       (nothing more)
 * </pre>
 *
 * Big endian. No message exceeds 512 KiB.
 */
public sealed interface AdaptationMessage {

    byte VERSION = 1;

    /** End of the window that asks. */
    long windowEndMs();

    byte[] encode();

    /** One part of the window's row sample. */
    record SamplePart(long windowEndMs, int index, byte[] part) implements AdaptationMessage {
        @Override
        public byte[] encode() {
            return header((byte) 1, windowEndMs, 4 + part.length)
                    .putInt(index)
                    .put(part)
                    .array();
        }
    }

    /** Fit, check and if it helps publish a decoder; the sample's {@code parts} parts were sent before. */
    record Adapt(long windowEndMs, long windowStartMs, long rows, int sampleCapacity, int parts)
            implements AdaptationMessage {
        @Override
        public byte[] encode() {
            return header((byte) 2, windowEndMs, 24)
                    .putLong(windowStartMs)
                    .putLong(rows)
                    .putInt(sampleCapacity)
                    .putInt(parts)
                    .array();
        }
    }

    /** Publish the trained decoder again, if an adapted one is active. */
    record Revert(long windowEndMs) implements AdaptationMessage {
        @Override
        public byte[] encode() {
            return header((byte) 3, windowEndMs, 0).array();
        }
    }

    private static ByteBuffer header(byte kind, long windowEndMs, int bodyBytes) {
        return ByteBuffer.allocate(10 + bodyBytes).put(VERSION).put(kind).putLong(windowEndMs);
    }

    /** Reads one message; throws {@link IllegalArgumentException} when the bytes are not one of this version. */
    static AdaptationMessage decode(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        try {
            byte version = buffer.get();
            if (version != VERSION) {
                throw new IllegalArgumentException(
                        "adaptation message of version %d, expected %d".formatted(version, VERSION));
            }
            byte kind = buffer.get();
            long windowEndMs = buffer.getLong();
            return switch (kind) {
                case 1 -> {
                    int index = buffer.getInt();
                    byte[] part = new byte[buffer.remaining()];
                    buffer.get(part);
                    yield new SamplePart(windowEndMs, index, part);
                }
                case 2 -> new Adapt(windowEndMs, buffer.getLong(), buffer.getLong(), buffer.getInt(), buffer.getInt());
                case 3 -> new Revert(windowEndMs);
                default -> throw new IllegalArgumentException("adaptation message of unknown kind " + kind);
            };
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException(
                    "adaptation message of %d bytes is cut short".formatted(bytes.length), e);
        }
    }
}
