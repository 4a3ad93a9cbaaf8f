package io.plumbline.topology.config;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import org.jspecify.annotations.Nullable;

/**
 * Says where a start begins to read a partition from which it has read nothing yet.
 *
 * @param place the end of the topic at which it begins, or a time
 * @param time event time of the first record that is read, where the place is one
 */
public record BeginFrom(Place place, @Nullable Instant time) {

    /** The kinds of place. */
    public enum Place {
        EARLIEST,
        LATEST,
        TIME
    }

    /** Begins at the first record that is on the topic. */
    public static final BeginFrom EARLIEST = new BeginFrom(Place.EARLIEST, null);

    static final BeginFrom LATEST = new BeginFrom(Place.LATEST, null);

    /**
     * Reads {@code earliest}, {@code latest} or a time.
     *
     * @throws IllegalArgumentException saying what to write instead
     */
    static BeginFrom parse(String text) {
        return switch (text) {
            case "earliest" -> EARLIEST;
            case "latest" -> LATEST;
            default -> new BeginFrom(Place.TIME, time(text));
        };
    }

    private static Instant time(String text) {
        Instant time;
        try {
            time = OffsetDateTime.parse(text).toInstant();
        } catch (DateTimeException noTime) {
            throw new IllegalArgumentException(
                    "expected earliest, latest, or a time with its zone, such as 2026-11-01T00:00:00Z", noTime);
        }
        if (time.isAfter(Instant.now())) {
            throw new IllegalArgumentException(
                    "expected a time that is past; latest begins with what comes from now on");
        }
        return time;
    }

    @Override
    public String toString() {
        Instant at = time;
        return at == null ? (place == Place.EARLIEST ? "earliest" : "latest") : at.toString();
    }
}
