package io.plumbline.topology.windows;

import io.plumbline.requests.RequestProjection;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.panes.PaneKeys;
import io.plumbline.topology.panes.PaneStore;
import io.plumbline.topology.panes.PartKind;
import io.plumbline.topology.panes.RequestTotalling;
import io.plumbline.topology.panes.SiteClock;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/** A store of panes of one site, and the bytes that it keeps. */
public abstract class StoredPanes {

    public static final String SITE = "blocks.7";
    public static final int WIDTH = 5;
    public static final long PANE_MS = 10_000;
    public static final int CAPACITY = 16;

    public static final RequestProjection PROJECTION =
            RequestProjection.of(ActivationRecords.integerRows(77, 3, WIDTH));

    public static final RequestTotalling TOTALLING = new RequestTotalling(Map.of(SITE, PROJECTION), 8);

    public final KeyValueStore<Bytes, byte[]> inner =
            Stores.inMemoryKeyValueStore("panes").get();

    public Map<Integer, byte[]> storedParts(PartKind<?> kind) {
        return storedParts(kind.number());
    }

    public Map<Integer, byte[]> storedParts(byte part) {
        Map<Integer, byte[]> parts = new TreeMap<>();
        try (KeyValueIterator<Bytes, byte[]> all = inner.all()) {
            all.forEachRemaining(entry -> {
                PaneKeys key = PaneKeys.decode(entry.key);
                if (key.kind() == PaneKeys.PANE && key.part() == part) {
                    parts.put(key.index(), entry.value);
                }
            });
        }
        return parts;
    }

    public PaneStore<SiteClock> store(int dimension) {
        return new PaneStore<>(inner, SiteClock.CODEC, Map.of(SITE, dimension), CAPACITY, TOTALLING);
    }
}
