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
 * @param behind how far event time may lie behind that clock; null: as far as the year 2000
 */
public record Limits(
        int sites,
        int width,
        int rowsPerRecord,
        int requestsPerWindow,
        Duration ahead,
        @Nullable Duration behind) {

    /** The time before which nothing was recorded that is watched: a time before it is one of another unit. */
    private static final long OLDEST_MS = Instant.parse("2000-01-01T00:00:00Z").toEpochMilli();

    /** The time from which on milliseconds are microseconds or nanoseconds, the year 9999. */
    private static final long NEWEST_MS = Instant.parse("9999-12-31T00:00:00Z").toEpochMilli();

    /** The limits where the configuration says nothing. */
    public static final Limits DEFAULT = new Limits(1_000, 16_384, 65_536, 1_000_000, Duration.ofMinutes(1), null);

    public Limits {
        requirePositive("sites", sites);
        requirePositive("width", width);
        requirePositive("rows_per_record", rowsPerRecord);
        requirePositive("requests_per_window", requestsPerWindow);
        requirePositive("ahead", ahead.toMillis());
        if (behind != null) {
            requirePositive("behind", behind.toMillis());
        }
    }

    /** Returns why a time is refused that no right clock gives, or null. */
    public @Nullable DeadLetter wrongTime(String site, long timestampMs, long wallMs) {
        DeadLetter ahead = aheadOfTime(site, timestampMs, wallMs);
        return ahead == null ? behindTime(site, timestampMs, wallMs) : ahead;
    }

    /**
     * Returns why a time that is long past is refused, or null: the first record in seconds would open a window of
     * 1970, which closes hours later.
     */
    private @Nullable DeadLetter behindTime(String site, long timestampMs, long wallMs) {
        Instant time = Instant.ofEpochMilli(timestampMs);
        if (timestampMs < OLDEST_MS) {
            return new DeadLetter(
                    DeadLetter.Reason.BEHIND_TIME,
                    timestampMs >= OLDEST_MS / 1_000
                            ? ("site %s: the event time %s (%d ms) is before 2000: it is in seconds, "
                                            + "and in them it would be %s; "
                                            + "Kafka's timestamps are milliseconds since 1970, "
                                            + "so send it times 1,000")
                                    .formatted(site, time, timestampMs, Instant.ofEpochSecond(timestampMs))
                            : ("site %s: the event time %s (%d ms) is before 2000: the record has no timestamp, "
                                            + "or one of another unit; Kafka's timestamps are milliseconds since 1970")
                                    .formatted(site, time, timestampMs));
        }
        long behindMs = wallMs - timestampMs;
        return behind == null || behindMs <= behind.toMillis()
                ? null
                : new DeadLetter(
                        DeadLetter.Reason.BEHIND_TIME,
                        ("site %s: the event time %s is %d s behind this machine's clock, limits.behind takes %d s; "
                                        + "look at the producer's clock and at this one, "
                                        + "or leave limits.behind out for recordings")
                                .formatted(site, time, behindMs / 1_000, behind.toSeconds()));
    }

    /**
     * Returns why a time that is ahead is refused, or null: one clock that runs ahead would close its site's windows,
     * and right rows would be late until the others caught up.
     */
    private @Nullable DeadLetter aheadOfTime(String site, long timestampMs, long wallMs) {
        long aheadMs = timestampMs - wallMs;
        if (aheadMs <= ahead.toMillis()) {
            return null;
        }
        return timestampMs >= NEWEST_MS
                ? new DeadLetter(
                        DeadLetter.Reason.AHEAD_OF_TIME,
                        ("site %s: the event time is after the year 9999: it is in microseconds or nanoseconds; "
                                        + "Kafka's timestamps are milliseconds since 1970, "
                                        + "so send it divided by 1,000 or 1,000,000")
                                .formatted(site))
                : new DeadLetter(
                        DeadLetter.Reason.AHEAD_OF_TIME,
                        ("site %s: the event time %s is %d s ahead of this machine's clock, limits.ahead takes %d s; "
                                        + "look at the producer's clock and at this one")
                                .formatted(
                                        site, Instant.ofEpochMilli(timestampMs), aheadMs / 1_000, ahead.toSeconds()));
    }

    private static void requirePositive(String key, long value) {
        if (value <= 0) {
            throw new IllegalArgumentException("limits.%s = %d: expected more than 0".formatted(key, value));
        }
    }
}
