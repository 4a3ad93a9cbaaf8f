package io.plumbline.topology.metrics;

import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.ingest.IngestListener;
import io.plumbline.topology.panes.LateReason;
import io.plumbline.topology.panes.RowAccount;
import io.plumbline.topology.panes.StateSize;
import io.plumbline.topology.windows.WindowListener;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Guards and joins the listeners of the two stages that every record passes. It does what {@link Listeners} does, in
 * calls that the compiler sees through: a record makes three of them, which took 0.3 microseconds by reflection, one
 * part in twenty of the price of a record of few rows.
 */
final class RecordListeners {

    private RecordListeners() {}

    private static void guarded(Consumer<RuntimeException> failed, Runnable call) {
        try {
            call.run();
        } catch (RuntimeException e) {
            failed.accept(e);
        }
    }

    /**
     * Hands every call to the first listener, whose exceptions go to {@code failed}, and then to the next one.
     *
     * @param failed told of each exception of the first
     */
    record Ingest(IngestListener first, Consumer<RuntimeException> failed, IngestListener next)
            implements IngestListener {

        @Override
        public void onAccepted(String site, int rows) {
            guarded(failed, () -> first.onAccepted(site, rows));
            next.onAccepted(site, rows);
        }

        @Override
        public void onMoment(String site) {
            guarded(failed, () -> first.onMoment(site));
            next.onMoment(site);
        }

        @Override
        public void onRead(long nanoseconds, byte @Nullable [] traceparent) {
            guarded(failed, () -> first.onRead(nanoseconds, traceparent));
            next.onRead(nanoseconds, traceparent);
        }

        @Override
        public void onDeadLetter(DeadLetter.Reason reason) {
            guarded(failed, () -> first.onDeadLetter(reason));
            next.onDeadLetter(reason);
        }
    }

    /**
     * Hands every call to the first listener, whose exceptions go to {@code failed}, and then to the next one.
     *
     * @param failed told of each exception of the first
     */
    record Windows(WindowListener first, Consumer<RuntimeException> failed, WindowListener next)
            implements WindowListener {

        @Override
        public void onLate(String site, long rows, LateReason reason) {
            guarded(failed, () -> first.onLate(site, rows, reason));
            next.onLate(site, rows, reason);
        }

        @Override
        public void onRepeated(String site) {
            guarded(failed, () -> first.onRepeated(site));
            next.onRepeated(site);
        }

        @Override
        public void onAccumulated(String site, int rows, long nanoseconds) {
            guarded(failed, () -> first.onAccumulated(site, rows, nanoseconds));
            next.onAccumulated(site, rows, nanoseconds);
        }

        @Override
        public void onAccount(String site, RowAccount account) {
            guarded(failed, () -> first.onAccount(site, account));
            next.onAccount(site, account);
        }

        @Override
        public void onAccountReleased(String site) {
            guarded(failed, () -> first.onAccountReleased(site));
            next.onAccountReleased(site);
        }

        @Override
        public void onGivenUp(String site, int partition) {
            guarded(failed, () -> first.onGivenUp(site, partition));
            next.onGivenUp(site, partition);
        }

        @Override
        public void onForeign() {
            guarded(failed, first::onForeign);
            next.onForeign();
        }

        @Override
        public void onComposed(long nanoseconds) {
            guarded(failed, () -> first.onComposed(nanoseconds));
            next.onComposed(nanoseconds);
        }

        @Override
        public void onState(String store, String task, StateSize size) {
            guarded(failed, () -> first.onState(store, task, size));
            next.onState(store, task, size);
        }

        @Override
        public void onStored(long nanoseconds) {
            guarded(failed, () -> first.onStored(nanoseconds));
            next.onStored(nanoseconds);
        }

        @Override
        public void onStateReleased(String store, String task) {
            guarded(failed, () -> first.onStateReleased(store, task));
            next.onStateReleased(store, task);
        }

        @Override
        public void onStall(long nanoseconds) {
            guarded(failed, () -> first.onStall(nanoseconds));
            next.onStall(nanoseconds);
        }

        @Override
        public void onWindowClosed(String site, long rows) {
            guarded(failed, () -> first.onWindowClosed(site, rows));
            next.onWindowClosed(site, rows);
        }
    }
}
