package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.joran.spi.JoranException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.TimeZone;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Holds the lines of the log to the form by which programs that collect logs read them. */
class LogPatternTest {

    private final LoggerContext context = new LoggerContext();
    private final TimeZone zone = TimeZone.getDefault();

    @BeforeEach
    void configure() throws JoranException {
        TimeZone.setDefault(TimeZone.getTimeZone("America/New_York"));
        JoranConfigurator configurator = new JoranConfigurator();
        configurator.setContext(context);
        configurator.doConfigure(RepeatedWarnings.class.getResource("/logback.xml"));
    }

    @AfterEach
    void stop() {
        context.stop();
        TimeZone.setDefault(zone);
    }

    @Test
    void aLineHasTimeInUtcThenLevelThenLoggerThenMessage() {
        assertEquals(
                "2026-01-31T23:04:05.006Z WARN  i.p.t.a.WindowAssessor - site a has drifted" + System.lineSeparator(),
                line(Level.WARN, "site {} has drifted", "a"));
        assertEquals(
                "2026-01-31T23:04:05.006Z ERROR i.p.t.a.WindowAssessor - no answer" + System.lineSeparator(),
                line(Level.ERROR, "no answer"));
    }

    private String line(Level level, String message, Object... arguments) {
        Logger logger = context.getLogger("io.plumbline.topology.assessment.WindowAssessor");
        LoggingEvent event = new LoggingEvent("", logger, level, message, null, arguments);
        event.setInstant(Instant.parse("2026-01-31T23:04:05.006Z"));
        ConsoleAppender<ILoggingEvent> shown = (ConsoleAppender<ILoggingEvent>)
                context.getLogger(Logger.ROOT_LOGGER_NAME).getAppender("STDERR");
        assertEquals("System.err", shown.getTarget());
        return new String(shown.getEncoder().encode(event), StandardCharsets.UTF_8);
    }
}
