package io.plumbline.wire;

/** Compares what must be held in memory with the memory that Java may use, before anything is allocated. */
public final class HeapNeeded {

    /** The bytes of a region of the heap, which {@code deploy/distribution/java.sh} sets ({@code G1HeapRegionSize}). */
    public static final int REGION = 8 << 20;

    /**
     * The regions that nothing else can be put into: two to which a collection copies what lives, and two that hold
     * what Java archived of its classes, whose bytes {@link #used} counts and whose regions it does not.
     */
    private static final int TAKEN_REGIONS = 4;

    private static final int MIB = 1 << 20;

    /** The MiB that Java and the rest of a program take besides. */
    private static final long BESIDES = 256;

    private HeapNeeded() {}

    /**
     * Refuses what is larger than the whole heap.
     *
     * @param what begins the message
     * @throws TensorFileException naming the heap to give
     */
    public static void require(String what, long bytes) {
        long heap = Runtime.getRuntime().maxMemory();
        if (bytes > heap) {
            throw new TensorFileException(TensorFileException.Fault.HEAP_TOO_SMALL, refusal(what, bytes));
        }
    }

    /**
     * Returns whether so many bytes are free, beside the regions that Java needs itself. Collects garbage where they do
     * not seem to be, since it counts as used.
     */
    public static boolean isFree(long bytes) {
        long heap = Runtime.getRuntime().maxMemory() - TAKEN_REGIONS * REGION;
        if (bytes <= heap - used()) {
            return true;
        }
        System.gc();
        return bytes <= heap - used();
    }

    /**
     * Returns the bytes that lie idle beside each of many arrays of so many bytes: a region holds whole ones. Those of
     * at least half a region have regions of their own, which {@link #used} counts whole.
     */
    public static long idleBeside(long bytes) {
        return bytes < REGION / 2 ? REGION / (REGION / bytes) - bytes : 0;
    }

    /** Returns the bytes of the heap that are used, garbage among them. */
    public static long used() {
        Runtime java = Runtime.getRuntime();
        return java.totalMemory() - java.freeMemory();
    }

    /** Returns a message with the heap to give. */
    public static String refusal(String what, long bytes) {
        long needed = bytes / MIB + 1;
        return ("%s takes %d MiB of memory, and Java may use %d MiB; give it more: PLUMBLINE_JAVA_OPTS=-Xmx%dm, "
                        + "where the machine has as much")
                .formatted(what, needed, Runtime.getRuntime().maxMemory() / MIB, needed + needed / 2 + BESIDES);
    }
}
