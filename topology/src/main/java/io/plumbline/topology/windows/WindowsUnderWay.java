package io.plumbline.topology.windows;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.function.Function;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/**
 * Holds the windows of one task that closed, are being composed and worked on, and are not forwarded yet; in the order
 * in which they closed.
 *
 * <p>Nothing of this is state: the panes of such a window are still in the store, and its site's mark is not moved. So
 * whatever is committed meanwhile, a successor finds the window open, closes it again and gets the same result.
 *
 * <p>Not thread-safe; belongs to the stream thread.
 */
final class WindowsUnderWay<V> {

    private final WindowWork<V> work;
    private final Executor executor;
    private final WindowListener listener;
    private final Deque<Entry<V>> entries = new ArrayDeque<>();
    private final Map<String, Mark> marks = new HashMap<>();

    WindowsUnderWay(WindowWork<V> work, Executor executor, WindowListener listener) {
        this.work = work;
        this.executor = executor;
        this.listener = listener;
    }

    /** The result of the work: the window, and what makes the value to forward from it. */
    record Worked<V>(ClosedWindow window, Function<ClosedWindow, V> result) {}

    /**
     * A window under way.
     *
     * @param panesBeforeMs panes that start before this are needed by no window after it
     * @param result null where the window has no rows, so that nothing is forwarded
     */
    record Entry<V>(
            WindowPanes panes, long panesBeforeMs, @Nullable FutureTask<Worked<V>> result) {

        boolean isDone() {
            return result == null || result.isDone();
        }

        /** Waits for the work, and throws what it threw. */
        @Nullable
        Worked<V> join() {
            if (result == null) {
                return null;
            }
            try {
                return result.get();
            } catch (InterruptedException e) {
                throw new InterruptException(e);
            } catch (ExecutionException e) {
                if (e.getCause() instanceof Error error) {
                    throw error;
                }
                throw new IllegalStateException(
                        "site %s, window from %d ms: it could not be assessed: %s"
                                .formatted(panes.site().site(), panes.startMs(), e.getCause()),
                        e.getCause());
            }
        }
    }

    /** Says how far a site's windows have closed. */
    record Mark(long windowsUpToMs, long panesBeforeMs) {}

    /** Returns how far the windows of a site have been composed since this task began; null before the first. */
    @Nullable
    Mark mark(String site) {
        return marks.get(site);
    }

    void mark(String site, Mark mark) {
        marks.put(site, mark);
    }

    void begin(WindowPanes panes, long panesBeforeMs) {
        if (panes.rows() == 0) {
            entries.add(new Entry<>(panes, panesBeforeMs, null));
            return;
        }
        FutureTask<Worked<V>> task = new FutureTask<>(() -> workOn(panes));
        entries.add(new Entry<>(panes, panesBeforeMs, task));
        executor.execute(task);
    }

    private Worked<V> workOn(WindowPanes panes) {
        long begin = System.nanoTime();
        ClosedWindow window = panes.compose();
        listener.onComposed(System.nanoTime() - begin);
        return new Worked<>(window, work.on(window));
    }

    int size() {
        return entries.size();
    }

    /** Takes the oldest, if it is done or must be waited for. */
    @Nullable
    Entry<V> next(boolean wait) {
        Entry<V> oldest = entries.peek();
        return oldest != null && (wait || oldest.isDone()) ? entries.remove() : null;
    }

    boolean holds(String site) {
        return entries.stream().anyMatch(entry -> entry.panes().site().site().equals(site));
    }

    /** Forgets what was not begun, which is not done any more; what runs ends and is forgotten. */
    void drop() {
        for (Entry<V> entry : entries) {
            if (entry.result() != null) {
                entry.result().cancel(false);
            }
        }
        entries.clear();
        marks.clear();
    }
}
