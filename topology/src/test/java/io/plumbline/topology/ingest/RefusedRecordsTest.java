package io.plumbline.topology.ingest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.plumbline.topology.ingest.DeadLetter.Reason;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class RefusedRecordsTest {

    private static final String ADVICE =
            "\nto see them: plumbline replay --dead-letters --reason %s --config plumbline.yaml --dry-run";

    private final Logger logger = (Logger) LoggerFactory.getLogger(RefusedRecords.class);
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final MockProcessorContext<Object, Object> context = new MockProcessorContext<>();
    private final List<Reason> counted = new ArrayList<>();
    private long nanos;
    private final RefusedRecords refused = new RefusedRecords(
            "letters",
            1_000_000,
            new IngestListener() {
                @Override
                public void onDeadLetter(Reason reason) {
                    counted.add(reason);
                }
            },
            () -> nanos);

    @BeforeEach
    void listen() {
        log.start();
        logger.addAppender(log);
    }

    @AfterEach
    void stopListening() {
        logger.detachAppender(log);
    }

    @Test
    void aLineNamesSitePlaceReasonAndTheCommandThatShowsTheLetters() {
        take("mlp.3", Reason.NON_FINITE, "site mlp.3: row 1, column 1 is NaN", 17);
        assertEquals(Level.WARN, log.list.get(0).getLevel());
        assertEquals(
                List.of("a record was refused and is a dead letter: site mlp.3: row 1, column 1 is NaN"
                        + " site=mlp.3 topic=activations partition=2 offset=17 reason=non_finite "
                        + "others_since_last_line=0"
                        + ADVICE.formatted("non_finite")),
                lines());
    }

    @Test
    void eachReasonHasOneLinePerMinuteWhichCountsThoseLeftOutWhileAllAreCountedAndKept() {
        for (int offset = 0; offset < 5; offset++) {
            take("mlp.3", Reason.NON_FINITE, "NaN", offset);
        }
        take("mlp.3", Reason.MALFORMED, "no tensor", 5);
        assertEquals(2, lines().size(), () -> lines().toString());
        nanos += TimeUnit.SECONDS.toNanos(59);
        take("mlp.3", Reason.NON_FINITE, "NaN", 6);
        assertEquals(2, lines().size(), () -> lines().toString());
        nanos += TimeUnit.SECONDS.toNanos(1);
        take("mlp.3", Reason.NON_FINITE, "NaN", 7);
        assertEquals(
                "a record was refused and is a dead letter: NaN site=mlp.3 topic=activations partition=2 offset=7"
                        + " reason=non_finite others_since_last_line=5" + ADVICE.formatted("non_finite"),
                lines().get(2));
        assertEquals(8, counted.size());
        assertEquals(8, context.forwarded("letters").size());
    }

    @Test
    void aProducersNameNeitherBeginsALineNorIsLong() {
        take("a\u001b[2J\nb" + "x".repeat(1_000), Reason.UNKNOWN_SITE, "site \"a\u001b[2J\nb\" is not configured", 1);
        String line = lines().get(0);
        assertFalse(line.contains("\u001b"), line);
        assertEquals(2, line.lines().count(), line);
        assertTrue(line.length() < 500, line);
    }

    private void take(String site, Reason reason, String message, long offset) {
        byte[] key = site.getBytes(StandardCharsets.UTF_8);
        refused.take(
                context,
                new Record<>(key, new byte[1], 0),
                new DeadLetter(reason, message),
                new DeadLetter.Place("activations", 2, offset));
    }

    private List<String> lines() {
        return log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }
}
