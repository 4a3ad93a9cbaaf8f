package io.plumbline.topology.ingest;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Limits what one deployment takes; what is past a limit is refused at start or becomes a dead letter. They bound what
 * is made of a record, not the record: Kafka's client unpacks a compressed one before anybody can look at it.
 *
 * @param sites configured sites
 * @param width columns of activations and targets
 * @param rowsPerRecord rows of one activation record
 * @param requestsPerWindow records of one site in one pane of one source partition
 * @param ahead how far event time may lie ahead of this machine's clock
 * @param unjoinedBytes bytes of parts of records of one source partition that wait for their other parts
 */
public record Limits(
        int sites, int width, int rowsPerRecord, int requestsPerWindow, Duration ahead, int unjoinedBytes) {

    /** The limits where the configuration says nothing. */
    public static final Limits DEFAULT = new Limits(1_000, 16_384, 65_536, 1_000_000, Duration.ofMinutes(1), 128 << 20);

    public Limits {
        requirePositive("sites", sites);
        requirePositive("width", width);
        requirePositive("rows_per_record", rowsPerRecord);
        requirePositive("requests_per_window", requestsPerWindow);
        requirePositive("ahead", ahead.toMillis());
        requirePositive("unjoined_bytes", unjoinedBytes);
    }

    /**
     * Returns why a time that is ahead is refused, or null: one clock that runs ahead would close its site's windows,
     * and right rows would be late until the others caught up.
     */
    public @Nullable DeadLetter aheadOfTime(String site, long timestampMs, long wallMs) {
        long aheadMs = timestampMs - wallMs;
        return aheadMs <= ahead.toMillis()
                ? null
                : new DeadLetter(
                        DeadLetter.Reason.AHEAD_OF_TIME,
                        "site %s: the event time %s is %d s ahead of this machine's clock, limits.ahead takes %d s; look at the producer's clock and at this one"
                                .formatted(
                                        site, Instant.ofEpochMilli(timestampMs), aheadMs / 1_000, ahead.toSeconds()));
    }

    private static void requirePositive(String key, long value) {
        if (value <= 0) {
            throw new IllegalArgumentException("limits.%s = %d: expected more than 0".formatted(key, value));
        }
    }
}
