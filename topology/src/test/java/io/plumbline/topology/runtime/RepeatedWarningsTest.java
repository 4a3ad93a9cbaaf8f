package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.core.spi.FilterReply;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RepeatedWarningsTest {

    private final LoggerContext log = new LoggerContext();
    private final Logger client = log.getLogger("org.apache.kafka.clients.consumer.internals.FetchCollector");
    private long nanos;
    private final RepeatedWarnings filter = new RepeatedWarnings(() -> nanos);

    @BeforeEach
    void onlyWarnings() {
        client.setLevel(Level.WARN);
    }

    @Test
    void aLineOfAClientIsWrittenOnceAMinute() {
        assertEquals(FilterReply.NEUTRAL, decide(client, Level.WARN, "topic t is gone"));
        assertEquals(FilterReply.DENY, decide(client, Level.WARN, "topic t is gone"));
        assertEquals(FilterReply.NEUTRAL, decide(client, Level.WARN, "topic u is gone"));
        nanos += TimeUnit.SECONDS.toNanos(61);
        assertEquals(FilterReply.NEUTRAL, decide(client, Level.WARN, "topic t is gone"));
    }

    @Test
    void aLineOfThisProgramOrBelowWarningsIsLeftAlone() {
        Logger own = log.getLogger("io.plumbline.topology.runtime.TopicsWatch");
        for (int i = 0; i < 2; i++) {
            assertEquals(FilterReply.NEUTRAL, decide(own, Level.WARN, "topic t is gone"));
            assertEquals(FilterReply.NEUTRAL, decide(client, Level.INFO, "topic t is gone"));
        }
    }

    private FilterReply decide(Logger logger, Level level, String line) {
        return filter.decide(null, logger, level, line, null, null);
    }
}
