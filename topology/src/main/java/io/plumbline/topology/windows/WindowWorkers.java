package io.plumbline.topology.windows;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Threads that work on closed windows while stream threads go on taking records. */
public final class WindowWorkers {

    private static final long IDLE_SECONDS = 10;

    private WindowWorkers() {}

    /**
     * Returns an executor of so many threads, which measure as many windows at a time: each takes memory. Daemon
     * threads that end when they are idle: there is nothing to close. What waits is bounded by those who hand it over,
     * {@value WindowComposer#MOST_UNDER_WAY} windows a task.
     */
    public static Executor of(int threads) {
        AtomicInteger number = new AtomicInteger();
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                threads, threads, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), work -> {
                    Thread thread = new Thread(work, "plumbline-windows-" + number.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    /** Returns no workers: the stream thread does the work itself, as a test driver needs it. */
    public static Executor none() {
        return Runnable::run;
    }
}
