package io.plumbline.topology.panes;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The parts of the panes of one window, added up: one value of each of {@link PaneParts} that its site has. */
public final class WindowParts {

    /** Holds nothing. */
    public static final WindowParts NONE = new WindowParts(Map.of());

    private final Map<PartKind<?>, Object> values;

    private WindowParts(Map<PartKind<?>, Object> values) {
        this.values = values;
    }

    public <V> WindowParts with(PartKind<V> kind, @Nullable V value) {
        if (value == null) {
            return this;
        }
        Map<PartKind<?>, Object> more = new HashMap<>(values);
        more.put(kind, value);
        return new WindowParts(more);
    }

    public <V> WindowParts withSum(PartKind<V> kind, PaneSite site, Iterable<Pane> panes) {
        return with(kind, kind.sum(site, panes));
    }

    /** Returns the sum of a part; null where the site has none. */
    @SuppressWarnings("unchecked") // with puts only values of the kind's type
    public <V> @Nullable V get(PartKind<V> kind) {
        return (V) values.get(kind);
    }
}
