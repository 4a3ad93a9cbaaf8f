package io.plumbline.topology.windows;

import java.time.Duration;

/**
 * Tells what is known of the source topic from outside the stream. Without it a broker that is away, or records that
 * lie unread, look like sites that fell silent. Called on stream threads; implementations must be thread-safe and must
 * not block.
 */
public interface SourceWatch {

    /** The watch of a source that is always there and read at once. */
    SourceWatch ALWAYS_READ = partition -> new Sight(Long.MIN_VALUE, Long.MAX_VALUE, 0, 0);

    /**
     * The time after which a partition that does not move counts as read: longer than any transaction lives by default
     * (15 min is the broker's ceiling, 1 min a producer's default).
     */
    Duration PATIENCE = Duration.ofMinutes(15);

    /** The newest answer about a source partition. */
    Sight sight(int partition);

    /**
     * One answer about one partition.
     *
     * @param sinceMs wall-clock time since when answers have come without a gap
     * @param answeredMs wall-clock time of this answer
     * @param endOffset end of the partition then
     * @param readUpTo offset before which the application has read everything, control records too
     */
    record Sight(long sinceMs, long answeredMs, long endOffset, long readUpTo) {}
}
