package io.plumbline.topology;

/** Bytes of heap that are reachable. */
public record HeapUse(long bytes) {

    private static final int COLLECTIONS = 4;

    public static HeapUse now() {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return new HeapUse(least);
    }

    public long since(HeapUse before) {
        return bytes - before.bytes;
    }
}
