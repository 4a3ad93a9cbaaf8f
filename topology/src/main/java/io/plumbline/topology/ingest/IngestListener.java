package io.plumbline.topology.ingest;

import org.jspecify.annotations.Nullable;

/** Watches the first stage. Called on stream threads; implementations must be thread-safe and must not block. */
public interface IngestListener {

    /** A record of {@code rows} rows, masked ones among them, was accepted for {@code site}. */
    default void onAccepted(String site, int rows) {}

    /** The record of {@code site} that was accepted brought a moment instead of rows. */
    default void onMoment(String site) {}

    /**
     * {@code nanoseconds} were spent reading and checking a record, taken or refused.
     *
     * @param traceparent the header of that name of a record that was taken, as it came; null without one
     */
    default void onRead(long nanoseconds, byte @Nullable [] traceparent) {}

    /** Hears that a record was refused; {@code reason} is one of a fixed set. */
    default void onDeadLetter(DeadLetter.Reason reason) {}
}
