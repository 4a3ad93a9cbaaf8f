package io.plumbline.topology.panes;

import java.util.List;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueStore;

/** The numbered entries of one part of one pane in the inner store, or of its moment. */
public final class PartSlots {

    private final KeyValueStore<Bytes, byte[]> inner;
    private final String site;
    private final long startMs;
    private final byte part;
    private int count;

    public PartSlots(KeyValueStore<Bytes, byte[]> inner, String site, long startMs, byte part) {
        this.inner = inner;
        this.site = site;
        this.startMs = startMs;
        this.part = part;
    }

    /** Counts an entry that the store holds already. */
    void found(int index) {
        count = Math.max(count, index + 1);
    }

    void put(int index, byte[] value) {
        inner.put(PaneKeys.pane(site, startMs, part, index), value);
        found(index);
    }

    void append(List<byte[]> values) {
        values.forEach(value -> put(count, value));
    }

    /** Puts these in the place of all that is stored. */
    void replace(List<byte[]> values) {
        int before = count;
        count = 0;
        append(values);
        delete(count, before);
    }

    void deleteAll() {
        delete(0, count);
        count = 0;
    }

    private void delete(int from, int to) {
        for (int index = from; index < to; index++) {
            inner.delete(PaneKeys.pane(site, startMs, part, index));
        }
    }
}
