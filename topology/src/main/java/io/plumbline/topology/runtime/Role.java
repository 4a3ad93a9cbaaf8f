package io.plumbline.topology.runtime;

import java.util.Locale;

/** What a process does. */
public enum Role {
    ALL,
    MONITOR,
    ADAPTER;

    boolean monitors() {
        return this != ADAPTER;
    }

    boolean adapts() {
        return this != MONITOR;
    }

    /** As it is typed and completed. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
