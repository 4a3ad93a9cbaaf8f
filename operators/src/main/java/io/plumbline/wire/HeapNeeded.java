package io.plumbline.wire;

/** Compares what must be held in memory with the memory that Java may use, before anything is allocated. */
public final class HeapNeeded {

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

    /** Returns a message with the heap to give. */
    public static String refusal(String what, long bytes) {
        long needed = bytes / MIB + 1;
        return "%s takes %d MiB of memory, and Java may use %d MiB; give it more: PLUMBLINE_JAVA_OPTS=-Xmx%dm, where the machine has as much"
                .formatted(what, needed, Runtime.getRuntime().maxMemory() / MIB, needed + needed / 2 + BESIDES);
    }
}
