package io.plumbline.topology.runtime;

import io.plumbline.topology.broker.Application;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** The part that a process does. */
public enum Role {
    ALL,
    MONITOR,
    ADAPTER;

    public boolean monitors() {
        return this != ADAPTER;
    }

    boolean adapts() {
        return this != MONITOR;
    }

    /** The applications of this process. */
    Set<Application> applications() {
        return switch (this) {
            case ALL -> EnumSet.allOf(Application.class);
            case MONITOR -> EnumSet.of(Application.MONITOR);
            case ADAPTER -> EnumSet.of(Application.ADAPTER);
        };
    }

    /** Returns the name as it is typed and completed. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
