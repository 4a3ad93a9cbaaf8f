package io.plumbline.requests;

import io.plumbline.moments.SplitMix;
import io.plumbline.records.RequestName;
import io.plumbline.requests.RequestTotals.Entry;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of one part of {@link RequestTotals}. All numbers are little-endian.
 *
 * <pre>
 * offset  size  what
 *      0     1  version, 1
 *      1     8  hash of the projection
 *      9     4  components p
 *     13     4  capacity
 *     17     8  records of requests that are not kept: in the first part, 0 in the others
 *     25     8  limit: the largest mixed hash up to which requests are whole
 *     33     4  requests in this part
 *  then per request, in ascending order of its mixed hash:
 *            8  request      8  records      8  rows
 *            1  bytes of its name, UTF-8; 255: it has none
 *            n  the name
 *          8 p  sum, finite
 * </pre>
 *
 * <p>The length must be exactly what header and requests imply; lengths are compared before anything is allocated.
 */
final class RequestTotalsCodec {

    private static final byte VERSION = 1;
    private static final int HEADER_BYTES = 37;
    private static final int ENTRY_BYTES = 25;
    private static final int NO_NAME = 255;

    record Part(
            RequestProjection.Id projection,
            int capacity,
            long recordsNotKept,
            long limit,
            TreeMap<Long, Entry> byHash) {}

    private RequestTotalsCodec() {}

    static List<byte[]> parts(
            RequestProjection.Id projection,
            int capacity,
            long limit,
            long recordsNotKept,
            List<Entry> entries,
            int maxBytesPerPart) {
        List<byte[]> parts = new ArrayList<>();
        int from = 0;
        boolean saysMore = recordsNotKept > 0 || limit < RequestTotals.NO_LIMIT;
        while (from < entries.size() || (parts.isEmpty() && saysMore)) {
            int to = from;
            int bytes = HEADER_BYTES;
            while (to < entries.size() && bytes + bytes(entries.get(to)) <= maxBytesPerPart) {
                bytes += bytes(entries.get(to++));
            }
            if (bytes > maxBytesPerPart || (to == from && to < entries.size())) {
                throw new IllegalArgumentException(
                        "a part of %d bytes cannot hold a request of %d components and its header"
                                .formatted(maxBytesPerPart, projection.components()));
            }
            ByteBuffer buffer = ByteBuffer.allocate(bytes)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .put(VERSION)
                    .putLong(projection.hash())
                    .putInt(projection.components())
                    .putInt(capacity)
                    .putLong(parts.isEmpty() ? recordsNotKept : 0)
                    .putLong(limit)
                    .putInt(to - from);
            entries.subList(from, to).forEach(entry -> put(buffer, entry));
            parts.add(buffer.array());
            from = to;
        }
        return parts;
    }

    private static int bytes(Entry entry) {
        return ENTRY_BYTES + utf8(entry.name).length + Double.BYTES * entry.sum.length;
    }

    private static byte[] utf8(@Nullable String name) {
        return name == null ? new byte[0] : name.getBytes(StandardCharsets.UTF_8);
    }

    private static void put(ByteBuffer buffer, Entry entry) {
        byte[] name = utf8(entry.name);
        buffer.putLong(entry.request)
                .putLong(entry.records)
                .putLong(entry.rows)
                .put((byte) (entry.name == null ? NO_NAME : name.length))
                .put(name);
        for (double value : entry.sum) {
            buffer.putDouble(value);
        }
    }

    static Part decode(byte[] bytes) {
        if (bytes.length < HEADER_BYTES) {
            throw new IllegalArgumentException(
                    "a part of request totals has at least %d bytes, got %d; it was not merged"
                            .formatted(HEADER_BYTES, bytes.length));
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        byte version = buffer.get();
        if (version != VERSION) {
            throw new IllegalArgumentException("request totals of version %d: this program reads version %d; not merged"
                    .formatted(version, VERSION));
        }
        RequestProjection.Id projection = new RequestProjection.Id(buffer.getLong(), buffer.getInt());
        int capacity = buffer.getInt();
        long recordsNotKept = buffer.getLong();
        long limit = buffer.getLong();
        int count = buffer.getInt();
        if (capacity < 1
                || count < 0
                || count > capacity
                || recordsNotKept < 0
                || recordsNotKept > RequestTotals.MOST) {
            throw new IllegalArgumentException(
                    "request totals of capacity %d, %d requests and %d records that are not kept: not merged"
                            .formatted(capacity, count, recordsNotKept));
        }
        int leastBytes = ENTRY_BYTES + Double.BYTES * projection.components();
        if (buffer.remaining() / leastBytes < count) {
            throw new IllegalArgumentException(
                    "request totals of %d requests of at least %d bytes have %d after their header; not merged"
                            .formatted(count, leastBytes, buffer.remaining()));
        }
        TreeMap<Long, Entry> byHash = new TreeMap<>();
        for (int i = 0; i < count; i++) {
            Entry entry = read(buffer, i, projection.components());
            long hash = SplitMix.mix(entry.request);
            if (!byHash.isEmpty() && hash <= byHash.lastKey()) {
                throw new IllegalArgumentException(
                        "request %d of some totals is not in the order of its hash; not merged".formatted(i));
            }
            if (hash > limit) {
                throw new IllegalArgumentException(
                        "request %d of some totals is above their limit; not merged".formatted(i));
            }
            byHash.put(hash, entry);
        }
        if (buffer.hasRemaining()) {
            throw new IllegalArgumentException("request totals of %d requests have %d bytes after the last; not merged"
                    .formatted(count, buffer.remaining()));
        }
        return new Part(projection, capacity, recordsNotKept, limit, byHash);
    }

    private static Entry read(ByteBuffer buffer, int index, int components) {
        int rest = Double.BYTES * components;
        if (buffer.remaining() < ENTRY_BYTES + rest) {
            throw cutShort(index, buffer);
        }
        long request = buffer.getLong();
        long records = buffer.getLong();
        long rows = buffer.getLong();
        if (records < 1 || rows < records || rows > RequestTotals.MOST) {
            throw new IllegalArgumentException(
                    "request %d of some totals has %d rows in %d records; not merged".formatted(index, rows, records));
        }
        int nameBytes = Byte.toUnsignedInt(buffer.get());
        String name = null;
        if (nameBytes != NO_NAME) {
            if (buffer.remaining() < nameBytes + rest) {
                throw cutShort(index, buffer);
            }
            name = name(buffer.slice().limit(nameBytes), index);
            buffer.position(buffer.position() + nameBytes);
        }
        double[] sum = new double[components];
        for (int i = 0; i < components; i++) {
            sum[i] = buffer.getDouble();
            // Written so that NaN fails it.
            if (!(Math.abs(sum[i]) <= RequestTotals.LARGEST_SUM)) {
                throw new IllegalArgumentException(
                        "component %d of request %d is %s: expected a number up to %s in size; not merged"
                                .formatted(i, index, sum[i], RequestTotals.LARGEST_SUM));
            }
        }
        return new Entry(request, name, records, rows, sum);
    }

    private static String name(ByteBuffer bytes, int index) {
        try {
            String name = StandardCharsets.UTF_8.newDecoder().decode(bytes).toString();
            if (name.length() <= RequestName.LONGEST) {
                return name;
            }
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException(
                    "the name of request %d of some totals is not UTF-8; not merged".formatted(index), e);
        }
        throw new IllegalArgumentException(
                "the name of request %d of some totals is longer than %d characters; not merged"
                        .formatted(index, RequestName.LONGEST));
    }

    private static IllegalArgumentException cutShort(int index, ByteBuffer buffer) {
        return new IllegalArgumentException(
                "request %d of some totals is cut short, %d bytes are left of it; not merged"
                        .formatted(index, buffer.remaining()));
    }
}
