package io.plumbline.moments;

import io.plumbline.wire.DType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
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
 *     25     1  type of the values: 0 float32, 1 bfloat16, 2 float16
 *     26        per row: hash (8), request (8), event time in ms (8), a activations, t targets
 * </pre>
 *
 * <p>Values take 16 bits where all of the sample are such numbers, as those of most models are: no bit is lost, and
 * what is written at every commit and sent with every pane is half as large.
 *
 * <p>The length must be exactly what header and rows imply; lengths are compared before anything is allocated.
 */
final class RowSampleCodec {

    private static final byte VERSION = 1;
    private static final int HEADER_BYTES = 26;
    private static final int COUNT_OFFSET = 13;
    private static final int ROW_HEADER_BYTES = 24;

    /** The most values of a row, whatever their type, that a part of {@link RowSample#RECORD_PART_BYTES} holds. */
    static final int MOST_VALUES = (RowSample.RECORD_PART_BYTES - HEADER_BYTES - ROW_HEADER_BYTES) / Float.BYTES;

    private static final List<DType> TYPES = List.of(DType.F32, DType.BF16, DType.F16);

    record Part(int capacity, long limit, List<SampledRow> rows) {}

    private RowSampleCodec() {}

    /** Returns parts of at most so many bytes. */
    static List<byte[]> parts(int capacity, long limit, List<SampledRow> rows, int maxBytesPerPart) {
        List<byte[]> parts = new ArrayList<>();
        if (rows.isEmpty()) {
            return parts;
        }
        DType type = smallestType(rows);
        long rowBytes = rowBytes(rows.get(0).activation().length, targetWidth(rows.get(0)), type);
        long rowsPerPart = (maxBytesPerPart - HEADER_BYTES) / rowBytes;
        if (rowsPerPart < 1) {
            throw new IllegalArgumentException("a part of %d bytes cannot hold a row of %d and its header of %d"
                    .formatted(maxBytesPerPart, rowBytes, HEADER_BYTES));
        }
        for (int from = 0; from < rows.size(); ) {
            int to = (int) Math.min(from + rowsPerPart, rows.size());
            parts.add(encode(capacity, limit, rows.subList(from, to), type, rowBytes));
            from = to;
        }
        return parts;
    }

    private static DType smallestType(List<SampledRow> rows) {
        for (DType type : TYPES) {
            if (type != DType.F32 && rows.stream().allMatch(row -> holds(type, row))) {
                return type;
            }
        }
        return DType.F32;
    }

    private static boolean holds(DType type, SampledRow row) {
        float[] target = row.target();
        return type.holds(row.activation()) && (target == null || type.holds(target));
    }

    private static byte[] encode(int capacity, long limit, List<SampledRow> rows, DType type, long rowBytes) {
        ByteBuffer buffer = ByteBuffer.allocate(Math.toIntExact(HEADER_BYTES + rows.size() * rowBytes))
                .order(ByteOrder.LITTLE_ENDIAN);
        buffer.put(VERSION)
                .putInt(capacity)
                .putInt(rows.get(0).activation().length)
                .putInt(targetWidth(rows.get(0)))
                .putInt(rows.size())
                .putLong(limit)
                .put((byte) TYPES.indexOf(type));
        for (SampledRow row : rows) {
            buffer.putLong(row.hash()).putLong(row.request()).putLong(row.timestampMs());
            putValues(buffer, type, row.activation());
            putValues(buffer, type, row.target());
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
        int type = buffer.get();
        if (type < 0 || type >= TYPES.size()) {
            throw new IllegalArgumentException(
                    "row sample with values of type %d: this program knows 0 to %d; not merged"
                            .formatted(type, TYPES.size() - 1));
        }
        DType values = TYPES.get(type);
        if (capacity < 1 || activationWidth < 1 || targetWidth < 0 || count < 0 || count > capacity) {
            throw new IllegalArgumentException(
                    "row sample of capacity %d, activation width %d, target width %d, %d rows: not merged"
                            .formatted(capacity, activationWidth, targetWidth, count));
        }
        // By division: the product of a hostile count and width can exceed a long.
        long rowBytes = rowBytes(activationWidth, targetWidth, values);
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
            float[] activation = values.floats(buffer, activationWidth);
            float[] target = targetWidth == 0 ? null : values.floats(buffer, targetWidth);
            rows.add(new SampledRow(hash, request, timestampMs, activation, target));
        }
        return new Part(capacity, limit, rows);
    }

    /** Returns the part without the rows of a request: an empty one still says what the sample is. */
    static byte[] without(byte[] bytes, long request) {
        List<SampledRow> rows = decode(bytes).rows();
        int rowBytes = rows.isEmpty() ? 0 : (bytes.length - HEADER_BYTES) / rows.size();
        ByteBuffer kept =
                ByteBuffer.allocate(bytes.length).order(ByteOrder.LITTLE_ENDIAN).put(bytes, 0, HEADER_BYTES);
        int count = 0;
        for (int i = 0; i < rows.size(); i++) {
            if (rows.get(i).request() != request) {
                kept.put(bytes, HEADER_BYTES + i * rowBytes, rowBytes);
                count++;
            }
        }
        kept.putInt(COUNT_OFFSET, count);
        return count == rows.size() ? bytes : Arrays.copyOf(kept.array(), kept.position());
    }

    private static long rowBytes(int activationWidth, int targetWidth, DType type) {
        return ROW_HEADER_BYTES + (long) type.bytes() * activationWidth + (long) type.bytes() * targetWidth;
    }

    private static int targetWidth(SampledRow row) {
        float[] target = row.target();
        return target == null ? 0 : target.length;
    }

    private static void putValues(ByteBuffer buffer, DType type, float @Nullable [] values) {
        if (values != null) {
            type.put(buffer, values);
        }
    }
}
