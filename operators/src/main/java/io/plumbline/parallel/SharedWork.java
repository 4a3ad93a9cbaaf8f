package io.plumbline.parallel;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Work that falls into parts, which its owner and helpers from the common pool take one after the other; as often as
 * wanted, and from the second time on without allocating anything.
 *
 * <p>Its owner waits for helpers that have begun, and for no others: a pool whose threads have seconds of something
 * else to do holds nobody up. A helper that comes late finds the work closed, or helps with what is open by then.
 *
 * <p>One thread at a time may call {@link #each}.
 */
public final class SharedWork {

    /** The number that is added to the number of helpers when work is closed: more than there are threads. */
    private static final int CLOSED = 1 << 30;

    private final IntConsumer part;
    private final List<Helper> helpers = new ArrayList<>();
    private final AtomicInteger next = new AtomicInteger();

    /** Helpers at work, and {@link #CLOSED} while none may begin. */
    private final AtomicInteger atWork = new AtomicInteger(CLOSED);

    private final AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();

    // Written by the owner while it is closed.
    private int count;
    private @Nullable Thread owner;

    /** @param part does the part of this number */
    public SharedWork(IntConsumer part) {
        this.part = part;
    }

    /**
     * Does parts 0 to {@code count - 1}, each once, and returns when all are done.
     *
     * @param threads that may take part, the caller included
     * @throws RuntimeException the first thing that a part threw; parts that had not begun are then left out
     */
    public void each(int parts, int threads) {
        count = parts;
        owner = Thread.currentThread();
        thrown.set(null);
        next.set(0);
        atWork.set(0);
        for (int helper = 0; helper < Math.min(threads, parts) - 1; helper++) {
            if (helper == helpers.size()) {
                helpers.add(new Helper());
            }
            helpers.get(helper).call();
        }
        takeParts();
        atWork.addAndGet(CLOSED);
        while (atWork.get() != CLOSED) {
            LockSupport.park(this);
        }
        Throwable first = thrown.get();
        if (first instanceof Error error) {
            throw error;
        }
        if (first instanceof RuntimeException exception) {
            throw exception;
        }
    }

    private void takeParts() {
        try {
            for (int index = next.getAndIncrement(); index < count; index = next.getAndIncrement()) {
                part.accept(index);
            }
        } catch (RuntimeException | Error e) {
            thrown.compareAndSet(null, e);
            // The others need not begin what nobody will look at.
            next.set(count);
        }
    }

    /** Does a helper's share of what is open, if anything is. */
    private void help() {
        int now = atWork.get();
        while (now < CLOSED && !atWork.compareAndSet(now, now + 1)) {
            now = atWork.get();
        }
        if (now < CLOSED) {
            takeParts();
            if (atWork.decrementAndGet() == CLOSED) {
                LockSupport.unpark(owner);
            }
        }
    }

    /** A helper that is never completed, so that the pool may be given it again. */
    private final class Helper extends ForkJoinTask<@Nullable Void> {

        private static final long serialVersionUID = 1L;

        private final transient AtomicBoolean called = new AtomicBoolean();

        /**
         * Calls the helper once until it comes: a pool that is busy for long would otherwise collect it over and over.
         */
        void call() {
            if (called.compareAndSet(false, true)) {
                ForkJoinPool.commonPool().execute(this);
            }
        }

        @Override
        protected boolean exec() {
            // First: whoever calls from here on is heard.
            called.set(false);
            help();
            return false;
        }

        @Override
        public @Nullable Void getRawResult() {
            return null;
        }

        @Override
        protected void setRawResult(@Nullable Void value) {}
    }
}
