package io.plumbline.topology.report;

import com.fasterxml.jackson.core.type.TypeReference;
import java.util.function.BiConsumer;

/**
 * A kind of section of a {@link WindowReport}: its key in JSON, the type of what stands there, and what of it becomes
 * metrics.
 *
 * @param <V> what the section holds; written and read as {@link Json} does
 */
public final class SectionKind<V> {

    private final String key;
    private final TypeReference<V> type;
    private final BiConsumer<V, Samples> samples;

    SectionKind(String key, TypeReference<V> type, BiConsumer<V, Samples> samples) {
        this.key = key;
        this.type = type;
        this.samples = samples;
    }

    /** Returns the key in JSON, in snake case. */
    public String key() {
        return key;
    }

    TypeReference<V> type() {
        return type;
    }

    void addTo(Sections sections, Samples to) {
        V value = sections.get(this);
        if (value != null) {
            samples.accept(value, to);
        }
    }

    @Override
    public String toString() {
        return key;
    }
}
