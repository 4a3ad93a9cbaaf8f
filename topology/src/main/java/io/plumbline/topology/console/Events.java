package io.plumbline.topology.console;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the last things that happened, numbered, for whoever follows. One who publishes never waits for one who reads:
 * a reader too slow for the ring finds its place gone. Thread-safe.
 */
final class Events {

    /** An event; {@code data} is immutable and written as JSON by each reader. */
    record Event(long number, String name, Object data) {}

    private final Deque<Event> ring = new ArrayDeque<>();
    private final int most;
    private long last;
    private boolean closed;

    Events(int most) {
        this.most = most;
    }

    synchronized void publish(String name, Object data) {
        last++;
        ring.addLast(new Event(last, name, data));
        if (ring.size() > most) {
            ring.removeFirst();
        }
        notifyAll();
    }

    /** Returns the number of the newest event, 0 before the first. */
    synchronized long last() {
        return last;
    }

    /**
     * Returns the events after {@code number}, waiting for the first of them.
     *
     * @return empty when none came in time; null when the place is unknown here: too long ago, or of another process
     */
    synchronized @Nullable List<Event> after(long number, long waitMs) throws InterruptedException {
        long deadline = System.nanoTime() + waitMs * 1_000_000;
        while (number == last && !closed) {
            long left = (deadline - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                return List.of();
            }
            wait(left);
        }
        if (number > last || number < last - ring.size()) {
            return null;
        }
        List<Event> found = new ArrayList<>();
        for (Event event : ring) {
            if (event.number() > number) {
                found.add(event);
            }
        }
        return found;
    }

    synchronized boolean isClosed() {
        return closed;
    }

    /** Lets every reader go. */
    synchronized void close() {
        closed = true;
        notifyAll();
    }
}
