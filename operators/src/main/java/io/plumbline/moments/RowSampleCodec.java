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
 *      0     1  version, 1
 *      1     4  capacity of the sample
 *      5     4  activation width a, 1 or more
 *      9     4  target width t, or 0 when the target is the activation
 *     13     4  rows in this part
 *     17     8  largest hash up to which every row is known, {@link RowSample#limitTo}
 *     25        per row: hash (8), request (8), event time in ms (8), a float32 activations, t float32 targets
 * </pre>
 *
 * <p>The length must be exactly what header and rows imply; lengths are compared before anything is allocated.
 */
final class RowSampleCodec {

    private static final byte VERSION = 1;
    private static final int HEADER_BYTES = 25;
    private static final int ROW_HEADER_BYTES = 24;

    record Part(int capacity, long limit, List<SampledRow> rows) {}

    private RowSampleCodec() {}

    /** Returns parts of at most so many bytes. */
    static List<byte[]> parts(int capacity, long limit, List<SampledRow> rows, int maxBytesPerPart) {
        List<byte[]> parts = new ArrayList<>();
        if (rows.isEmpty()) {
            return parts;
        }
        long rowBytes = rowBytes(rows.get(0).activation().length, targetWidth(rows.get(0)));
        long rowsPerPart = (maxBytesPerPart - HEADER_BYTES) / rowBytes;
        if (rowsPerPart < 1) {
            throw new IllegalArgumentException("a part of %d bytes cannot hold a row of %d and its header of %d"
                    .formatted(maxBytesPerPart, rowBytes, HEADER_BYTES));
        }
        for (int from = 0; from < rows.size(); ) {
            int to = (int) Math.min(from + rowsPerPart, rows.size());
            parts.add(encode(capacity, limit, rows.subList(from, to), rowBytes));
            from = to;
        }
        return parts;
    }

    private static byte[] encode(int capacity, long limit, List<SampledRow> rows, long rowBytes) {
        ByteBuffer buffer = ByteBuffer.allocate(Math.toIntExact(HEADER_BYTES + rows.size() * rowBytes))
                .order(ByteOrder.LITTLE_ENDIAN);
        buffer.put(VERSION)
                .putInt(capacity)
                .putInt(rows.get(0).activation().length)
                .putInt(targetWidth(rows.get(0)))
                .putInt(rows.size())
                .putLong(limit);
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
        if (version != VERSION) {
            throw new IllegalArgumentException(
                    "row sample of version %d: this program reads version %d; not merged".formatted(version, VERSION));
        }
        int capacity = buffer.getInt();
        int activationWidth = buffer.getInt();
        int targetWidth = buffer.getInt();
        int count = buffer.getInt();
        long limit = buffer.getLong();
        if (capacity < 1 || activationWidth < 1 || targetWidth < 0 || count < 0 || count > capacity) {
            throw new IllegalArgumentException(
                    "row sample of capacity %d, activation width %d, target width %d, %d rows: not merged"
                            .formatted(capacity, activationWidth, targetWidth, count));
        }
        // By division: the product of a hostile count and width can exceed a long.
        long rowBytes = rowBytes(activationWidth, targetWidth);
        int payload = buffer.remaining();
        if (payload % rowBytes != 0 || payload / rowBytes != count) {
            throw new IllegalArgumentException(
                    "row sample of %d rows of %d + %d values (%d bytes each) has %d bytes after its header; not merged"
                            .formatted(count, activationWidth, targetWidth, rowBytes, payload));
        }
        List<SampledRow> rows = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            long hash = buffer.getLong();
            long request = buffer.getLong();
            long timestampMs = buffer.getLong();
            float[] activation = getFloats(buffer, activationWidth);
            float[] target = targetWidth == 0 ? null : getFloats(buffer, targetWidth);
            rows.add(new SampledRow(hash, request, timestampMs, activation, target));
        }
        return new Part(capacity, limit, rows);
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
