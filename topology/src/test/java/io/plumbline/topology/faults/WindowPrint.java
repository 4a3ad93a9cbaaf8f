package io.plumbline.topology.faults;

import io.plumbline.requests.RequestTotal;
import io.plumbline.requests.RequestTotals;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The identity of a closed window.
 *
 * @param startMs where it begins
 * @param rows how many rows it holds
 * @param hash over every bit of its moment and of its request totals, and the tokens that its producers say were served
 * @param whole whether every tile and all request totals of every contribution was in it
 */
record WindowPrint(long startMs, long rows, long hash, boolean whole) {

    private static final int BYTES = 3 * Long.BYTES + 1;

    static WindowPrint of(
            long startMs, long rows, double[] state, @Nullable RequestTotals requests, long served, boolean whole) {
        long hash = hash(hash(1125899906842597L, state), served);
        if (requests == null) {
            return new WindowPrint(startMs, rows, hash, whole);
        }
        for (RequestTotal total : requests.totals()) {
            hash = hash(hash, total.request());
            hash = hash(hash, String.valueOf(total.name()).hashCode());
            hash = hash(hash, total.rows());
            hash = hash(hash, total.sum());
        }
        return new WindowPrint(startMs, rows, hash(hash, requests.recordsNotKept()), whole);
    }

    private static long hash(long before, double[] values) {
        long hash = before;
        for (double value : values) {
            hash = hash(hash, Double.doubleToLongBits(value));
        }
        return hash;
    }

    /** Hashes bits; small integers have only zeros in their low bits: the shift brings the high ones down. */
    private static long hash(long before, long bits) {
        long hash = (before ^ bits) * 0x9E3779B97F4A7C15L;
        return hash ^ (hash >>> 32);
    }

    byte[] encode() {
        return ByteBuffer.allocate(BYTES)
                .putLong(startMs)
                .putLong(rows)
                .putLong(hash)
                .put((byte) (whole ? 1 : 0))
                .array();
    }

    static WindowPrint decode(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return new WindowPrint(buffer.getLong(), buffer.getLong(), buffer.getLong(), buffer.get() == 1);
    }
}
