package io.plumbline.moments;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of one part of a {@link RowSample}. All numbers are little-endian.
 *
 * <pre>
 * offset  size  what
 *      0     1  version, 2
 *      1     4  capacity of the sample
 *      5     4  activation width a, 1 or more
 *      9     4  target width t, or 0 when the target is the activation
 *     13     4  rows in this part
 *     17        per row: hash (8), request (8), event time in ms (8), a float32 activations, t float32 targets
 * </pre>
 *
 * <p>Version 1, of windows that were open when the program was replaced, has no event times; they are read as 0.
 *
 * <p>The length must be exactly what the header implies; that is compared before anything is allocated.
 */
final class RowSampleCodec {

    private static final byte VERSION = 2;
    private static final byte WITHOUT_TIMES = 1;
    private static final int HEADER_BYTES = 17;
    private static final int ROW_HEADER_BYTES = 24;

    record Part(int capacity, List<SampledRow> rows) {}

    private RowSampleCodec() {}

    static int rowsPerPart(SampledRow row, int maxBytesPerPart) {
        long rowBytes = rowBytes(row.activation().length, targetWidth(row));
        long rows = (maxBytesPerPart - HEADER_BYTES) / rowBytes;
        if (maxBytesPerPart < HEADER_BYTES || rows < 1) {
            throw new IllegalArgumentException("a part of %d bytes cannot hold a row of %d and its header of %d"
                    .formatted(maxBytesPerPart, rowBytes, HEADER_BYTES));
        }
        return (int) rows;
    }

    static byte[] encode(int capacity, List<SampledRow> rows) {
        int activationWidth = rows.get(0).activation().length;
        int targetWidth = targetWidth(rows.get(0));
        long bytes = HEADER_BYTES + rows.size() * rowBytes(activationWidth, targetWidth);
        ByteBuffer buffer = ByteBuffer.allocate(Math.toIntExact(bytes)).order(ByteOrder.LITTLE_ENDIAN);
        buffer.put(VERSION)
                .putInt(capacity)
                .putInt(activationWidth)
                .putInt(targetWidth)
                .putInt(rows.size());
        for (SampledRow row : rows) {
            buffer.putLong(row.hash()).putLong(row.request()).putLong(row.timestampMs());
            putFloats(buffer, row.activation());
            putFloats(buffer, row.target());
        }
        return buffer.array();
    }

    static Part decode(byte[] bytes) {
        if (bytes.length < HEADER_BYTES) {
            throw new IllegalArgumentException("a part of a row sample has at least %d bytes, got %d; it was not merged"
                    .formatted(HEADER_BYTES, bytes.length));
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        byte version = buffer.get();
        if (version != VERSION && version != WITHOUT_TIMES) {
            throw new IllegalArgumentException(
                    "row sample of version %d: this program reads version %d; not merged".formatted(version, VERSION));
        }
        int capacity = buffer.getInt();
        int activationWidth = buffer.getInt();
        int targetWidth = buffer.getInt();
        int count = buffer.getInt();
        if (capacity < 1 || activationWidth < 1 || targetWidth < 0 || count < 0 || count > capacity) {
            throw new IllegalArgumentException(
                    "row sample of capacity %d, activation width %d, target width %d, %d rows: not merged"
                            .formatted(capacity, activationWidth, targetWidth, count));
        }
        // By division: the product of a hostile count and width can exceed a long.
        long rowBytes = rowBytes(activationWidth, targetWidth) - (version == WITHOUT_TIMES ? Long.BYTES : 0);
        int payload = bytes.length - HEADER_BYTES;
        if (payload % rowBytes != 0 || payload / rowBytes != count) {
            throw new IllegalArgumentException(
                    "row sample of %d rows of %d + %d values (%d bytes each) has %d bytes after its header; not merged"
                            .formatted(count, activationWidth, targetWidth, rowBytes, payload));
        }
        List<SampledRow> rows = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            long hash = buffer.getLong();
            long request = buffer.getLong();
            long timestampMs = version == WITHOUT_TIMES ? 0 : buffer.getLong();
            float[] activation = getFloats(buffer, activationWidth);
            rows.add(new SampledRow(
                    hash, request, timestampMs, activation, targetWidth == 0 ? null : getFloats(buffer, targetWidth)));
        }
        return new Part(capacity, rows);
    }

    private static long rowBytes(int activationWidth, int targetWidth) {
        return ROW_HEADER_BYTES + 4L * activationWidth + 4L * targetWidth;
    }

    private static int targetWidth(SampledRow row) {
        float[] target = row.target();
        return target == null ? 0 : target.length;
    }

    private static void putFloats(ByteBuffer buffer, float @Nullable [] values) {
        if (values != null) {
            buffer.asFloatBuffer().put(values);
            buffer.position(buffer.position() + 4 * values.length);
        }
    }

    private static float[] getFloats(ByteBuffer buffer, int count) {
        float[] values = new float[count];
        buffer.asFloatBuffer().get(values);
        buffer.position(buffer.position() + 4 * count);
        return values;
    }
}
