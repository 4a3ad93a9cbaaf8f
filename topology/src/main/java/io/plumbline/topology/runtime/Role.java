package io.plumbline.topology.runtime;

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
}
