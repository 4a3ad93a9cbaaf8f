package io.plumbline.topology.runtime;

import io.plumbline.topology.broker.BrokerRefusal;
import io.plumbline.wire.Printable;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidPidMappingException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TransactionAbortableException;
import org.apache.kafka.streams.errors.MissingSourceTopicException;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides what becomes of an application that lost a thread: another takes its place where waiting helps, else it
 * stops.
 */
public final class LostThread {

    private static final Logger LOG = LoggerFactory.getLogger(LostThread.class);

    /** The class in which Kafka's producer keeps account of its transaction. */
    private static final String TRANSACTIONS = "org.apache.kafka.clients.producer.internals.TransactionManager";

    /** The class in which Kafka's consumer keeps account of the partitions it was given. */
    private static final String ASSIGNMENT = "org.apache.kafka.clients.consumer.internals.SubscriptionState";

    private LostThread() {}

    /**
     * Decides and logs.
     *
     * @param application for the log, {@code monitor} or {@code adapter}
     */
    public static StreamThreadExceptionResponse response(String application, Throwable error) {
        if (passes(error)) {
            LOG.warn(
                    "a thread was lost and another goes on from the last commit; nothing is lost: "
                            + "application={} reason={}",
                    application,
                    Printable.value(rootMessage(error)));
            return StreamThreadExceptionResponse.REPLACE_THREAD;
        }
        LOG.error(
                "the application stops: application={} reason={}",
                application,
                Printable.value(error.getMessage()),
                error);
        return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
    }

    /**
     * Returns whether another thread helps: the broker was away for longer than a client waits ({@code max.block.ms},
     * 60 s, or {@code delivery.timeout.ms}, 120 s). The thread is lost all the same, since its transaction is; what was
     * not committed is read again.
     *
     * <p>Or this process stood still for longer than {@code transaction.timeout.ms}, and the broker has ended the
     * transaction it wants to go on with.
     *
     * <p>Or the broker lost a batch before the one it was sent, or has forgotten the producer: another producer begins
     * anew. Kafka Streams does that by itself where the send fails with it; where the next call on the producer fails
     * first, the thread is lost.
     *
     * <p>Or a topic did not take a record, and the next call on the producer failed before the send did, perhaps with
     * another exception for the same batch. Another thread sends the record again, and where the send fails, the guard
     * of outputs decides whether to go on.
     *
     * <p>Or a partition was taken away while the thread was about to read it from its beginning: with {@code
     * group.protocol=streams} the consumer does both at once and answers with an {@link IllegalStateException}. The
     * partition has another owner by then.
     *
     * <p>Records that could no longer be delivered leave a producer "in an error state" whose reason is a bare {@link
     * KafkaException}; one whose abort timed out too answers with an {@link IllegalStateException} of its own, known by
     * where it was thrown, since stores throw that class for what waiting does not help. Errors that stay, such as a
     * missing right, have classes of their own.
     */
    static boolean passes(Throwable error) {
        Throwable root = BrokerRefusal.innermost(error);
        if (root.getClass() == KafkaException.class) {
            return true;
        }
        if (root instanceof IllegalStateException && (isThrownBy(TRANSACTIONS, root) || isThrownBy(ASSIGNMENT, root))) {
            return true;
        }
        return BrokerRefusal.causes(error)
                .anyMatch(cause -> (cause.getClass() == KafkaException.class && isRefusal(cause.getCause()))
                        || cause instanceof RetriableException
                        || cause instanceof TransactionAbortableException
                        || cause instanceof InvalidTxnStateException
                        || cause instanceof InvalidProducerEpochException
                        || cause instanceof InvalidPidMappingException
                        || cause instanceof OutOfOrderSequenceException
                        || cause instanceof ProducerFencedException);
    }

    /** Returns whether a topic did not take a record for its time, its key or its size. */
    private static boolean isRefusal(@Nullable Throwable error) {
        return error instanceof InvalidRecordException
                || error instanceof InvalidTimestampException
                || error instanceof RecordTooLargeException;
    }

    /**
     * Returns whether the machine under the program failed: no memory, no stack. What else of it works cannot be known
     * then.
     */
    static boolean isError(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof Error) {
                return true;
            }
        }
        return false;
    }

    private static boolean isThrownBy(String className, Throwable error) {
        StackTraceElement[] trace = error.getStackTrace();
        return trace.length > 0 && trace[0].getClassName().startsWith(className);
    }

    /**
     * Returns why the application stops.
     *
     * @param missing asks the broker which topic of the application is gone; Kafka Streams does not name it
     */
    static String reason(Throwable error, Supplier<Optional<String>> missing) {
        return BrokerRefusal.innermost(error) instanceof MissingSourceTopicException
                ? missing.get().orElseGet(() -> rootMessage(error))
                : rootMessage(error);
    }

    static String rootMessage(Throwable error) {
        Throwable root = BrokerRefusal.innermost(error);
        return root.getMessage() == null ? root.getClass().getName() : root.getMessage();
    }
}
