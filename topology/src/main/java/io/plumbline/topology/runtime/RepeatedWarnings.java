package io.plumbline.topology.runtime;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import io.plumbline.topology.kafka.OncePerMinute;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Marker;

/**
 * A filter of the log, named in {@code logback.xml}, that lets one line of Kafka's clients through a minute where they
 * would write the same line again and again.
 *
 * <p>A consumer whose topic was deleted warns at each fetch, thousands of times a second. Whoever reads the log must
 * find the line in which the program says what that means. Lines that differ in a letter are not the same.
 *
 * <p>Thread-safe.
 */
public final class RepeatedWarnings extends TurboFilter {

    private static final String KAFKA = "org.apache.kafka.";

    private final OncePerMinute lines;

    public RepeatedWarnings() {
        this(System::nanoTime);
    }

    RepeatedWarnings(LongSupplier nanoTime) {
        lines = new OncePerMinute(nanoTime);
    }

    @Override
    public FilterReply decide(
            @Nullable Marker marker,
            Logger logger,
            Level level,
            @Nullable String format,
            Object @Nullable [] arguments,
            @Nullable Throwable thrown) {
        // Kafka's clients fill in their arguments themselves; a format whose arguments are still to come says too
        // little.
        boolean mayRepeat = format != null
                && arguments == null
                && thrown == null
                && level.isGreaterOrEqual(Level.WARN)
                && logger.getName().startsWith(KAFKA)
                && level.isGreaterOrEqual(logger.getEffectiveLevel());
        return mayRepeat && lines.take(logger.getName() + format).isEmpty() ? FilterReply.DENY : FilterReply.NEUTRAL;
    }
}
