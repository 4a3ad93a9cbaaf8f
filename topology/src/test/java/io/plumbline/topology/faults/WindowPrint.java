package io.plumbline.topology.faults;

import java.nio.ByteBuffer;

/**
 * The identity of a closed window.
 *
 * @param startMs where it begins
 * @param rows how many rows it holds
 * @param hash over every bit of its moment
 * @param whole whether every tile of every contribution was in it
 */
record WindowPrint(long startMs, long rows, long hash, boolean whole) {

    private static final int BYTES = 3 * Long.BYTES + 1;

    static WindowPrint of(long startMs, long rows, double[] state, boolean whole) {
        long hash = 1125899906842597L;
        for (double value : state) {
            // Small integers have only zeros in their low bits: the shift brings the high ones down.
            hash = (hash ^ Double.doubleToLongBits(value)) * 0x9E3779B97F4A7C15L;
            hash ^= hash >>> 32;
        }
        return new WindowPrint(startMs, rows, hash, whole);
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
