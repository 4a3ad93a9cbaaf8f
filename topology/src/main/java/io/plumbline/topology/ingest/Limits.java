package io.plumbline.topology.ingest;

import java.time.Duration;

/**
 * Limits what one deployment takes; what is past a limit is refused at start or becomes a dead letter. They bound what
 * is made of a record, not the record: Kafka's client unpacks a compressed one before anybody can look at it.
 *
 * @param sites configured sites
 * @param width columns of activations and targets
 * @param rowsPerRecord rows of one activation record
 * @param requestsPerWindow records of one site in one pane of one source partition
 * @param ahead how far event time may lie ahead of this machine's clock
 */
public record Limits(int sites, int width, int rowsPerRecord, int requestsPerWindow, Duration ahead) {

    /** The limits where the configuration says nothing. */
    public static final Limits DEFAULT = new Limits(1_000, 16_384, 65_536, 1_000_000, Duration.ofMinutes(1));

    public Limits {
        requirePositive("sites", sites);
        requirePositive("width", width);
        requirePositive("rows_per_record", rowsPerRecord);
        requirePositive("requests_per_window", requestsPerWindow);
        requirePositive("ahead", ahead.toMillis());
    }

    private static void requirePositive(String key, long value) {
        if (value <= 0) {
            throw new IllegalArgumentException("limits.%s = %d: expected more than 0".formatted(key, value));
        }
    }
}
