package io.plumbline.linalg.kernel;

/**
 * Room for floats that is to begin with a line of the cache: {@code array[start ..]}.
 *
 * <p>A vector that lies in two lines is read twice: where its array begins anywhere, nearly every one of 512 bits and
 * every second one of 256. Products take up to a tenth longer then. Java begins an array anywhere, and a collector
 * moves it. But what takes half a region of G1 or more begins with the region and stays there, its numbers {@value
 * #HEADER_BYTES} bytes behind. So large room is an array of its own, and smaller room a piece of a slab that fills a
 * region of 8 MiB, which is what the launcher sets. With other collectors, or larger regions, room begins anywhere, and
 * results are the same.
 *
 * <p>A slab lives as long as anything in it, and the newest one for good: {@link #piece} is for what is soon given up.
 * Safe for any number of threads.
 */
record FloatRoom(float[] array, int start) {

    /** Bytes of an array before its first number. */
    private static final int HEADER_BYTES = 16;

    /** Floats in a line of the cache. */
    private static final int LINE = 64 / Float.BYTES;

    /** The first float of an array, itself at the beginning of a line, that begins one. */
    private static final int FIRST = LINE - HEADER_BYTES / Float.BYTES;

    /** Floats of an array that fills a region. */
    private static final int SLAB = ((8 << 20) - HEADER_BYTES) / Float.BYTES;

    /** Less than that is an array of its own: a few narrow rows do not make a process hold a slab. */
    private static final int LEAST = 1 << 14;

    // The slab that pieces are cut from, and where the next one begins; under the lock of the class.
    private static float[] slab = {};
    private static int next;

    /** Returns room of its own; it begins with a line where it has 4 MiB and more. */
    static FloatRoom whole(int length) {
        return new FloatRoom(new float[Math.addExact(FIRST, length)], FIRST);
    }

    /** Returns room for what is soon given up; it begins with a line where it has 64 KiB and more. */
    static FloatRoom piece(int length) {
        if (length < LEAST) {
            return new FloatRoom(new float[length], 0);
        }
        return length > SLAB - FIRST ? whole(length) : pieceOfSlab((length + LINE - 1) / LINE * LINE);
    }

    private static synchronized FloatRoom pieceOfSlab(int length) {
        if (length > slab.length - next) {
            slab = new float[SLAB];
            next = FIRST;
        }
        int start = next;
        next += length;
        return new FloatRoom(slab, start);
    }
}
