package io.plumbline.topology.windows;

import java.util.function.Function;

/**
 * Works out something about a window beside the stream, before it is forwarded: called on any thread, so it must touch
 * no state of the stream, and give the same for the same window.
 *
 * @param <V> what is forwarded
 */
@FunctionalInterface
public interface WindowWork<V> {

    /** Does nothing: the window itself is forwarded. */
    WindowWork<ClosedWindow> NONE = window -> Function.identity();

    /**
     * Does the work.
     *
     * @param window its account is not the last one yet
     * @return makes the value to forward from the window with its account, on the stream thread; quick
     */
    Function<ClosedWindow, V> on(ClosedWindow window);
}
