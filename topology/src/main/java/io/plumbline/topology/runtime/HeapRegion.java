package io.plumbline.topology.runtime;

import com.sun.management.HotSpotDiagnosticMXBean;
import io.plumbline.wire.HeapNeeded;
import java.lang.management.ManagementFactory;

/**
 * The size of a region of the heap, to which large arrays are rounded up.
 *
 * <p>Java's default collector, G1, gives an array of at least half of one of its regions (8 MiB, as the launcher sets
 * it) regions of its own: a moment of d = 2,048 takes 24 MiB instead of 16.
 *
 * @param bytes 1 for another collector, which wastes nothing
 */
record HeapRegion(long bytes) {

    /** The region that the launcher sets. */
    static final long OF_LAUNCHER = HeapNeeded.REGION;

    private static final int ARRAY_HEADER = 16;

    /** Returns the size as this JVM has it, or as the launcher sets it for one with another heap. */
    static HeapRegion of(long heapBytes) {
        if (heapBytes != Runtime.getRuntime().maxMemory()) {
            return new HeapRegion(OF_LAUNCHER);
        }
        boolean g1 = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .anyMatch(collector -> collector.getName().startsWith("G1"));
        return new HeapRegion(
                g1
                        ? Long.parseLong(ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                                .getVMOption("G1HeapRegionSize")
                                .getValue())
                        : 1);
    }

    /** Returns the bytes that an array of float64 takes. */
    double array(double values) {
        return array(values, Double.BYTES);
    }

    /** Returns the bytes that an array of values of so many bytes takes. */
    double array(double values, int bytesEach) {
        double taken = bytesEach * values + ARRAY_HEADER;
        return taken < bytes / 2.0 ? taken : Math.ceil(taken / bytes) * bytes;
    }
}
