package io.plumbline.topology.broker;

/**
 * Says how far in event time a partition of a topic of activations may be read while others are behind. Asked on stream
 * threads; implementations must be thread-safe and must not block.
 */
public interface ReadAhead {

    /**
     * Returns how far a partition may be read now.
     *
     * @param firstMs event time of the first record that this process read from it, and that is not refused for its
     *     clock
     */
    Bound bound(int partition, long firstMs);

    /** Takes note that records were held back. */
    void held();

    /**
     * A bound of reading.
     *
     * @param slowestMs event time of the slowest other partition; whoever is behind it is read in any case; {@link
     *     Long#MAX_VALUE} where none is waited for
     * @param limitMs event time up to which a partition ahead of it is read; the same
     * @param clockMs event time from which a record is refused for its clock, so that nobody waits for it
     */
    record Bound(long slowestMs, long limitMs, long clockMs) {

        boolean allows(long reachedMs, long timestampMs) {
            return reachedMs <= slowestMs || timestampMs <= limitMs || timestampMs > clockMs;
        }
    }
}
