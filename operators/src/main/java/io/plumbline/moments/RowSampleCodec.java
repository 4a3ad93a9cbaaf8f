package io.plumbline.moments;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of one part of a {@link RowSample}. All numbers are little-endian.
 *
 * <pre>
 * offset  size  what
 *      0     1  version, 4 with a limit, else 3 with codes and 2 without
 *      1     4  capacity of the sample
 *      5     4  activation width a, 1 or more
 *      9     4  target width t, or 0 when the target is the activation
 *     13     4  rows in this part
 *  version 3
 *     17     4  features f of the encoder
 *     21    32  SHA-256 of the encoder, {@link EncoderId}
 *  version 4
 *     17     8  largest hash up to which every row is known, {@link RowSample#limitTo}
 *     25     4  features f of the encoder, 0 where no row has codes
 *     29    32  SHA-256 of the encoder, where there is one
 *  then per row: hash (8), request (8), event time in ms (8), a float32 activations, t float32 targets
 *  encoder       entries e (4), -1 for a row without codes; e features (4), ascending, below f; e values (8), finite,
 *  not 0
 * </pre>
 *
 * <p>Version 1, of windows that were open when the program was replaced, has no event times; they are read as 0. Where no row has
 * codes version 2 is written, which earlier programs read.
 *
 * <p>The length must be exactly what header and entries imply; lengths are compared before anything is allocated.
 */
final class RowSampleCodec {

    private static final byte VERSION = 4;
    private static final byte WITH_CODES = 3;
    private static final byte WITHOUT_CODES = 2;
    private static final byte WITHOUT_TIMES = 1;
    private static final int HEADER_BYTES = 17;
    private static final int ENCODER_BYTES = Integer.BYTES + EncoderId.BYTES;
    private static final int LIMIT_BYTES = Long.BYTES;
    private static final int NO_FEATURES = 0;
    private static final int ROW_HEADER_BYTES = 24;
    private static final int NO_CODES = -1;

    record Part(int capacity, long limit, List<SampledRow> rows) {}

    private RowSampleCodec() {}

    /**
     * Parts of at most so many bytes. One encoder a sample: codes of another, as after a change, do not travel, nor do those with
     * which a row would not fit in a part.
     */
    static List<byte[]> parts(int capacity, long limit, List<SampledRow> sampled, int maxBytesPerPart) {
        EncoderId encoder = encoder(limit, sampled, maxBytesPerPart);
        int headerBytes = headerBytes(limit, encoder);
        List<SampledRow> rows = sampled.stream()
                .map(row -> travels(limit, row, encoder, maxBytesPerPart) ? row : row.with(null))
                .toList();
        List<byte[]> parts = new ArrayList<>();
        int from = 0;
        while (from < rows.size()) {
            int to = from;
            long bytes = headerBytes;
            while (to < rows.size() && bytes + rowBytes(rows.get(to), encoder) <= maxBytesPerPart) {
                bytes += rowBytes(rows.get(to++), encoder);
            }
            if (to == from) {
                throw new IllegalArgumentException("a part of %d bytes cannot hold a row of %d and its header of %d"
                        .formatted(maxBytesPerPart, rowBytes(rows.get(from), encoder), headerBytes));
            }
            parts.add(encode(capacity, limit, rows.subList(from, to), encoder, Math.toIntExact(bytes)));
            from = to;
        }
        return parts;
    }

    private static boolean travels(long limit, SampledRow row, @Nullable EncoderId encoder, int maxBytesPerPart) {
        RowCodes codes = row.codes();
        return codes == null
                || (codes.encoder().equals(encoder)
                        && headerBytes(limit, encoder) + rowBytes(row, encoder) <= maxBytesPerPart);
    }

    /** That of the first codes that can travel; null where none can. */
    private static @Nullable EncoderId encoder(long limit, List<SampledRow> rows, int maxBytesPerPart) {
        for (SampledRow row : rows) {
            RowCodes codes = row.codes();
            if (codes != null && travels(limit, row, codes.encoder(), maxBytesPerPart)) {
                return codes.encoder();
            }
        }
        return null;
    }

    private static int headerBytes(long limit, @Nullable EncoderId encoder) {
        int bytes = HEADER_BYTES + (encoder == null ? 0 : ENCODER_BYTES);
        return limit == RowSample.NO_LIMIT ? bytes : bytes + LIMIT_BYTES + (encoder == null ? Integer.BYTES : 0);
    }

    private static byte[] encode(
            int capacity, long limit, List<SampledRow> rows, @Nullable EncoderId encoder, int bytes) {
        ByteBuffer buffer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        boolean limited = limit != RowSample.NO_LIMIT;
        buffer.put(limited ? VERSION : encoder == null ? WITHOUT_CODES : WITH_CODES)
                .putInt(capacity)
                .putInt(rows.get(0).activation().length)
                .putInt(targetWidth(rows.get(0)))
                .putInt(rows.size());
        if (limited) {
            buffer.putLong(limit);
        }
        if (limited && encoder == null) {
            buffer.putInt(NO_FEATURES);
        }
        if (encoder != null) {
            buffer.putInt(encoder.features()).put(HexFormat.of().parseHex(encoder.sha256()));
        }
        for (SampledRow row : rows) {
            buffer.putLong(row.hash()).putLong(row.request()).putLong(row.timestampMs());
            putFloats(buffer, row.activation());
            putFloats(buffer, row.target());
            if (encoder != null) {
                putCodes(buffer, row.codes());
            }
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
        if (version < WITHOUT_TIMES || version > VERSION) {
            throw new IllegalArgumentException(
                    "row sample of version %d: this program reads versions up to %d; not merged"
                            .formatted(version, VERSION));
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
        long limit = version == VERSION ? readLimit(buffer) : RowSample.NO_LIMIT;
        EncoderId encoder =
                version == WITH_CODES || (version == VERSION && hasEncoder(buffer)) ? readEncoder(buffer) : null;
        // By division: the product of a hostile count and width can exceed a long.
        long rowBytes = rowBytes(activationWidth, targetWidth)
                - (version == WITHOUT_TIMES ? Long.BYTES : 0)
                + (encoder == null ? 0 : Integer.BYTES);
        int payload = buffer.remaining();
        boolean fits =
                encoder == null ? payload % rowBytes == 0 && payload / rowBytes == count : payload / rowBytes >= count;
        if (!fits) {
            throw new IllegalArgumentException(
                    "row sample of %d rows of %d + %d values (%d bytes each) has %d bytes after its header; not merged"
                            .formatted(count, activationWidth, targetWidth, rowBytes, payload));
        }
        List<SampledRow> rows = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            if (buffer.remaining() < rowBytes) {
                throw cutShort(i, buffer.remaining());
            }
            long hash = buffer.getLong();
            long request = buffer.getLong();
            long timestampMs = version == WITHOUT_TIMES ? 0 : buffer.getLong();
            float[] activation = getFloats(buffer, activationWidth);
            float[] target = targetWidth == 0 ? null : getFloats(buffer, targetWidth);
            RowCodes codes = encoder == null ? null : readCodes(buffer, encoder, i, activationWidth + targetWidth);
            rows.add(new SampledRow(hash, request, timestampMs, activation, target, codes));
        }
        if (buffer.hasRemaining()) {
            throw new IllegalArgumentException("row sample of %d rows has %d bytes after the last; not merged"
                    .formatted(count, buffer.remaining()));
        }
        return new Part(capacity, limit, rows);
    }

    private static long readLimit(ByteBuffer buffer) {
        if (buffer.remaining() < LIMIT_BYTES + Integer.BYTES) {
            throw new IllegalArgumentException(
                    "row sample with a limit has %d bytes after its header; not merged".formatted(buffer.remaining()));
        }
        return buffer.getLong();
    }

    /** Takes the number of features where it says that there is no encoder. */
    private static boolean hasEncoder(ByteBuffer buffer) {
        boolean has = buffer.getInt(buffer.position()) != NO_FEATURES;
        if (!has) {
            buffer.position(buffer.position() + Integer.BYTES);
        }
        return has;
    }

    private static EncoderId readEncoder(ByteBuffer buffer) {
        if (buffer.remaining() < ENCODER_BYTES) {
            throw new IllegalArgumentException(
                    "row sample with codes has %d bytes after its header, expected the %d of its encoder; not merged"
                            .formatted(buffer.remaining(), ENCODER_BYTES));
        }
        int features = buffer.getInt();
        byte[] sha256 = new byte[EncoderId.BYTES];
        buffer.get(sha256);
        return new EncoderId(HexFormat.of().formatHex(sha256), features);
    }

    private static @Nullable RowCodes readCodes(ByteBuffer buffer, EncoderId encoder, int row, int values) {
        int entries = buffer.getInt();
        if (entries == NO_CODES) {
            return null;
        }
        if (entries < 0 || entries > RowCodes.mostEntries(values)) {
            throw new IllegalArgumentException("row %d of a sample has %d codes: expected at most %d; not merged"
                    .formatted(row, entries, RowCodes.mostEntries(values)));
        }
        if (buffer.remaining() < (long) entries * RowCodes.ENTRY_BYTES) {
            throw cutShort(row, buffer.remaining());
        }
        int[] feature = new int[entries];
        buffer.asIntBuffer().get(feature);
        buffer.position(buffer.position() + Integer.BYTES * entries);
        double[] value = new double[entries];
        buffer.asDoubleBuffer().get(value);
        buffer.position(buffer.position() + Double.BYTES * entries);
        return new RowCodes(encoder, feature, value);
    }

    private static IllegalArgumentException cutShort(int row, int remaining) {
        return new IllegalArgumentException(
                "row %d of a sample is cut short, %d bytes are left of it; not merged".formatted(row, remaining));
    }

    private static void putCodes(ByteBuffer buffer, @Nullable RowCodes codes) {
        if (codes == null) {
            buffer.putInt(NO_CODES);
            return;
        }
        buffer.putInt(codes.entries());
        for (int feature : codes.feature()) {
            buffer.putInt(feature);
        }
        for (double value : codes.value()) {
            buffer.putDouble(value);
        }
    }

    private static long rowBytes(SampledRow row, @Nullable EncoderId encoder) {
        long bytes = rowBytes(row.activation().length, targetWidth(row));
        RowCodes codes = row.codes();
        return bytes + (encoder == null ? 0 : Integer.BYTES) + (codes == null ? 0 : codes.bytes());
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
