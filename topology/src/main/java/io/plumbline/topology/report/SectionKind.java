package io.plumbline.topology.report;

import com.fasterxml.jackson.core.type.TypeReference;
import java.lang.reflect.Type;
import java.util.function.BiConsumer;

/**
 * A kind of section of a {@link WindowReport}: its key in JSON, the type of what stands there, where the page shows it,
 * and what of it becomes metrics.
 *
 * @param <V> what the section holds; written and read as {@link Json} does
 */
public final class SectionKind<V> {

    private final String key;
    private final String help;
    private final TypeReference<V> type;
    private final Shown shown;
    private final BiConsumer<V, Samples> samples;

    SectionKind(String key, String help, TypeReference<V> type, Shown shown, BiConsumer<V, Samples> samples) {
        this.key = key;
        this.help = help;
        this.type = type;
        this.shown = shown;
        this.samples = samples;
    }

    /** Names the place of a section on the page. */
    public enum Shown {
        /** Every window that a chart has carries it, so it must be small. */
        EACH_WINDOW,
        /** A part of its own shows that of the newest window. */
        NEWEST,
        /** A part of its own shows that of the newest drifted window; before one drifted, of the newest. */
        NEWEST_DRIFTED,
        /** No part of its own: others show it. */
        NOWHERE
    }

    /** Returns where the page shows it. */
    public Shown shown() {
        return shown;
    }

    /** Returns what it is, in Markdown, as docs/reference/json.md has it. */
    public String help() {
        return help;
    }

    /** Returns the key in JSON, in snake case. */
    public String key() {
        return key;
    }

    TypeReference<V> type() {
        return type;
    }

    /** Returns the type of what it holds. */
    public Type valueType() {
        return type.getType();
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
