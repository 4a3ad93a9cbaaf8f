package io.plumbline.topology.panes;

import io.plumbline.topology.ingest.Ingested;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One thing that a {@link Pane} collects from its records beside the moment of their rows. {@link PaneParts} lists all
 * of them; accumulator, store, composer and window move them and know none.
 *
 * <p>Parts that were encoded at different commits, or by different partitions, merge to the whole in any order, unless
 * a part is never sent. One stream task owns a part while it is filled; nothing changes it once its window has closed.
 *
 * @param <V> what a window reads of it
 */
interface PanePart<V> {

    /** Adds what this record brings, once. */
    void add(Ingested record, long timestampMs);

    /** Returns what has been collected; null where this site collects nothing. */
    @Nullable
    V value();

    /** Returns all of it, in parts of at most 512 KiB for level 2; none where level 2 needs none. */
    List<byte[]> encode();

    /**
     * Merges one of {@link #encode}, sent by level 1.
     *
     * @throws IllegalArgumentException when the bytes are none; nothing is changed then
     */
    void take(byte[] part);

    /** Writes what is not stored yet, or everything anew where most of what is stored would be history. */
    void store(PartSlots slots);

    /** Merges what was stored at one index; indices come in ascending order. */
    void load(byte[] part);

    /** Returns the bytes of heap that the collected values take. */
    long bytes();
}
