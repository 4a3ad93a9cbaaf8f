package io.plumbline.topology.runtime;

import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TransactionAbortableException;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What becomes of an application that lost a thread: another takes its place where waiting helps, else it stops. */
public final class LostThread {

    private static final Logger LOG = LoggerFactory.getLogger(LostThread.class);

    private LostThread() {}

    /**
     * Decides and logs.
     *
     * @param application for the log, {@code monitor} or {@code adapter}
     */
    public static StreamThreadExceptionResponse response(String application, Throwable error) {
        if (passes(error)) {
            LOG.warn(
                    "a thread of the {} gave up waiting for the broker ({}); another goes on from the last commit, nothing is lost",
                    application,
                    rootMessage(error));
            return StreamThreadExceptionResponse.REPLACE_THREAD;
        }
        LOG.error("the {} stops: {}", application, error.getMessage(), error);
        return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
    }

    /**
     * Whether waiting helps: the broker was away for longer than a client waits ({@code max.block.ms}, 60 s). The thread is
     * lost all the same, since its transaction is; what was not committed is read again.
     */
    static boolean passes(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof RetriableException || cause instanceof TransactionAbortableException) {
                return true;
            }
        }
        return false;
    }

    static String rootMessage(Throwable error) {
        Throwable root = error;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root.getMessage() == null ? root.getClass().getName() : root.getMessage();
    }
}
