package io.plumbline.topology.windows;

import io.plumbline.explainer.Encoder;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Which sites have their sampled rows encoded while their panes are open, and who does it.
 *
 * @param encoders of those sites
 * @param executor encodes; may refuse with a {@link java.util.concurrent.RejectedExecutionException}, and is asked again later
 */
public record EarlyEncoding(Map<String, Encoder> encoders, Executor executor) {

    /** No site. */
    public static final EarlyEncoding NONE = new EarlyEncoding(Map.of(), Runnable::run);

    private static final long IDLE_SECONDS = 10;

    /** Batches that may wait: some seconds of work for large encoders. What does not fit is asked for again a second later. */
    private static final int WAITING = 64;

    public EarlyEncoding {
        encoders = Map.copyOf(encoders);
    }

    /** One daemon thread for all sites of a process, which ends when it is idle: there is nothing to close. */
    public static Executor background() {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new ArrayBlockingQueue<>(WAITING), work -> {
                    Thread thread = new Thread(work, "plumbline-encoder");
                    thread.setDaemon(true);
                    return thread;
                });
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }
}
