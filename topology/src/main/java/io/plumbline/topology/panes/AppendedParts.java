package io.plumbline.topology.panes;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Stores what grows by appending, and writes it anew where most of what is stored would be history. */
final class AppendedParts {

    /** The most stored bytes beside twice the live ones, before all are written anew. */
    private static final long FEW = 1 << 20;

    private long storedBytes;

    /**
     * Stores what is not stored yet.
     *
     * @param stored counts everything as stored, or nothing
     * @param fresh makes parts of what does not count as stored, which it does from then on
     */
    void store(PartSlots slots, long liveBytes, Consumer<Boolean> stored, Supplier<List<byte[]>> fresh) {
        boolean anew = storedBytes > 2 * liveBytes + FEW;
        if (anew) {
            stored.accept(false);
            storedBytes = 0;
        }
        List<byte[]> parts = fresh.get();
        parts.forEach(part -> storedBytes += part.length);
        if (anew) {
            slots.replace(parts);
        } else {
            slots.append(parts);
        }
    }

    /** Counts a part that was stored before. */
    void loaded(byte[] part) {
        storedBytes += part.length;
    }
}
