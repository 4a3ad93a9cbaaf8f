package io.plumbline.topology.windows;

import io.plumbline.topology.panes.LateReason;
import io.plumbline.topology.panes.RowAccount;
import io.plumbline.topology.panes.StateSize;

/** Watches the second stage. Called on stream threads; implementations must be thread-safe and must not block. */
public interface WindowListener {

    /** {@code rows} accepted rows of {@code site} are in no window. */
    default void onLate(String site, long rows, LateReason reason) {}

    /** A record of {@code site} came again under an id that its open pane knows; none of its rows counts twice. */
    default void onRepeated(String site) {}

    /** {@code nanoseconds} were spent adding {@code rows} rows of {@code site} to their pane. */
    default void onAccumulated(String site, int rows, long nanoseconds) {}

    /** Hears what became of all rows of {@code site} so far, from the instance that composes its windows. */
    default void onAccount(String site, RowAccount account) {}

    /** This instance no longer composes the windows of {@code site}: its account must not be shown here any more. */
    default void onAccountReleased(String site) {}

    /** {@code partition} of the source is no longer waited for by the windows of {@code site}, until it catches up. */
    default void onGivenUp(String site, int partition) {}

    /** A record of the moments topic was not written by this program, or with other settings; it was skipped. */
    default void onForeign() {}

    /**
     * {@code nanoseconds} were spent adding the panes of a window together; beside the stream, where there are other
     * threads.
     */
    default void onComposed(long nanoseconds) {}

    /**
     * Hears what {@code task} holds open in the store now; {@code store} is {@link WindowStage#PANES_STORE} or
     * {@link WindowStage#WINDOWS_STORE}.
     */
    default void onState(String store, String task, StateSize size) {}

    /** {@code nanoseconds} were spent writing what changed of a task's open panes before a commit. */
    default void onStored(long nanoseconds) {}

    /** The task left this instance: its state must not be shown here any more. */
    default void onStateReleased(String store, String task) {}

    /**
     * The stream thread took no records for {@code nanoseconds}, at a stretch, because windows were waited for or sent
     * on.
     */
    default void onStall(long nanoseconds) {}

    /** A window of {@code site} closed with {@code rows} rows. */
    default void onWindowClosed(String site, long rows) {}
}
