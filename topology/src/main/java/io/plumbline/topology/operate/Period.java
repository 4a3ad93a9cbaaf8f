package io.plumbline.topology.operate;

import io.plumbline.topology.cli.Options;
import io.plumbline.topology.cli.UsageException;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The event time {@code [begin, end)} that options such as {@code --from} and {@code --to} name. */
record Period(Instant begin, Instant end) {

    /**
     * Reads the two ends of a period as they were typed.
     *
     * @param from null: from the first on
     * @param to null: to the last
     */
    static Period of(@Nullable String from, @Nullable String to) {
        Instant now = Instant.now();
        Instant begin = from == null ? Instant.MIN : Options.instantOrAgo("--from", from, now);
        Instant end = to == null ? Instant.MAX : Options.instantOrAgo("--to", to, now);
        if (!begin.isBefore(end)) {
            throw new UsageException(
                    "--from = %s, --to = %s: expected a range with a beginning before its end".formatted(from, to));
        }
        return new Period(begin, end);
    }

    /**
     * Reads a window as it was typed, by its start or by both ends.
     *
     * @param size of the windows, where the end is not given
     * @param advance from one start to the next, from 1970 on
     */
    static Period window(String option, String text, Duration size, Duration advance) {
        String[] ends = text.split("/", -1);
        if (ends.length > 2) {
            throw new UsageException("%s = %s: expected START or START/END".formatted(option, text));
        }
        Instant begin = start(option, ends[0]);
        Instant end = ends.length == 2 ? start(option, ends[1]) : begin.plus(size);
        if (!begin.isBefore(end)) {
            throw new UsageException(
                    "%s = %s: expected a range with a beginning before its end".formatted(option, text));
        }
        long after = Math.floorMod(begin.toEpochMilli(), advance.toMillis());
        if (ends.length == 1 && after != 0) {
            throw new UsageException("%s = %s: no window begins there, but one at %s and one at %s; START/END takes any"
                    .formatted(
                            option,
                            text,
                            begin.minusMillis(after),
                            begin.minusMillis(after).plus(advance)));
        }
        return new Period(begin, end);
    }

    /** Reads an instant, or milliseconds since 1970 as reports have them. */
    private static Instant start(String option, String text) {
        return text.matches("\\d{10,15}") ? Instant.ofEpochMilli(Long.parseLong(text)) : Options.instant(option, text);
    }

    boolean holds(long ms) {
        Instant time = Instant.ofEpochMilli(ms);
        return !time.isBefore(begin) && time.isBefore(end);
    }
}
