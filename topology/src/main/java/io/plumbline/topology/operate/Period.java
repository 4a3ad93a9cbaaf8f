package io.plumbline.topology.operate;

import io.plumbline.topology.cli.Options;
import io.plumbline.topology.cli.UsageException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The event time {@code [begin, end)} that {@code --from} and {@code --to} name. */
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

    boolean holds(long ms) {
        Instant time = Instant.ofEpochMilli(ms);
        return !time.isBefore(begin) && time.isBefore(end);
    }
}
