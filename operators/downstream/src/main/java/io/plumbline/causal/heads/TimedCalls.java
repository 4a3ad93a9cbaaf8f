package io.plumbline.causal.heads;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Makes calls of native code or of a worker, one at a time on a thread of their own, each with a time limit. A late one
 * is asked to end. Where it does not, the thread is given up, and no further call is made: a native call cannot be
 * ended from outside.
 *
 * <p>Not thread-safe.
 */
final class TimedCalls {

    private static final Duration GRACE = Duration.ofSeconds(5);

    /** Asks a call that is under way to end. */
    static final class Stop {

        private @Nullable Runnable how;
        private boolean asked;

        /** Says how to end it from now on; does so at once where that was asked for already. */
        synchronized void by(Runnable action) {
            how = action;
            if (asked) {
                action.run();
            }
        }

        /** Says that there is nothing left to end. */
        synchronized void over() {
            how = null;
        }

        private synchronized void ask() {
            asked = true;
            if (how != null) {
                how.run();
            }
        }
    }

    private final ExecutorService thread;
    private final Duration limit;
    private boolean lost;

    TimedCalls(String name, Duration limit) {
        this.limit = limit;
        thread = Executors.newSingleThreadExecutor(task -> {
            Thread daemon = new Thread(task, name);
            daemon.setDaemon(true);
            return daemon;
        });
    }

    /** @param late makes the failure of a call that took too long, of what happened to it */
    <T> T call(Function<Stop, T> work, Function<String, ? extends RuntimeException> late) {
        if (lost) {
            throw late.apply("an earlier run did not end, none is started any more");
        }
        Stop stop = new Stop();
        Future<T> answer = thread.submit(() -> work.apply(stop));
        try {
            return answer.get(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException tooLate) {
            stop.ask();
            lost = !ends(answer);
            throw late.apply(lost ? "no answer in time, and it cannot be ended" : "no answer in time");
        } catch (InterruptedException interrupted) {
            stop.ask();
            lost = !ends(answer);
            Thread.currentThread().interrupt();
            throw late.apply("interrupted");
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException(failed.getCause());
        }
    }

    private static boolean ends(Future<?> answer) {
        try {
            answer.get(GRACE.toNanos(), TimeUnit.NANOSECONDS);
            return true;
        } catch (ExecutionException | CancellationException ended) {
            return true;
        } catch (TimeoutException stillRunning) {
            return false;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Returns whether no call is under way, so that what it uses can be given up. */
    boolean close() {
        thread.shutdown();
        return !lost;
    }
}
