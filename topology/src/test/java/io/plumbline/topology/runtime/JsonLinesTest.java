package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.joran.spi.JoranException;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.topology.config.LogFormat;
import io.plumbline.topology.config.LogSettings;
import io.plumbline.wire.Printable;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Holds a line of JSON to the fields that programs which collect logs read. */
class JsonLinesTest {

    private static final String OURS = "io.plumbline.topology.ingest.RefusedRecords";

    private final LoggerContext context = new LoggerContext();

    @BeforeEach
    void configure() throws JoranException {
        JoranConfigurator configurator = new JoranConfigurator();
        configurator.setContext(context);
        configurator.doConfigure(JsonLines.class.getResource("/logback.xml"));
        new LogOutput(context).begin(new LogSettings(LogFormat.JSON, null));
    }

    @AfterEach
    void stop() {
        context.stop();
    }

    @Test
    void aLineHasTimeInUtcThenTheLineThenItsPairs() {
        String expected = """
                {"time":"2026-01-31T23:04:05.006Z","level":"WARN","logger":"io.plumbline.topology.ingest.RefusedRecords",\
                "thread":"main","message":"a record was refused: too \\"long\\"","site":"a b\\"c","offset":7,\
                "value":0.5,"reason":"none","advice":"try --reason x"}
                """;
        assertEquals(
                expected.replace("\n", System.lineSeparator()),
                line(
                        OURS,
                        null,
                        "a record was refused: {} site={} offset={} value={} reason={}\ntry --reason {}",
                        "too \"long\"",
                        Printable.value("a b\"c"),
                        7L,
                        0.5,
                        Printable.value(null),
                        "x"));
    }

    @Test
    void aSentenceBeforeItsPairsEndsWithoutAColon() throws JsonProcessingException {
        JsonNode line = read(line(OURS, null, "no broker answers: brokers={} rows={}", "a:1", Double.NaN));
        assertEquals("no broker answers", line.get("message").asText());
        assertEquals("a:1", line.get("brokers").asText());
        assertEquals("NaN", line.get("rows").asText());
    }

    @Test
    void aStackTraceStaysOnTheLine() throws JsonProcessingException {
        String written = line(OURS, new IllegalStateException("broken\nhere"), "it failed: path={}", "/x");
        JsonNode line = read(written);
        assertEquals(1, written.lines().count());
        assertTrue(line.get("error").asText().startsWith("java.lang.IllegalStateException: broken"), written);
        assertTrue(line.get("error").asText().contains("\tat " + JsonLinesTest.class.getName()), written);
    }

    @Test
    void aLineOfALibraryKeepsItsPairsInItsMessage() throws JsonProcessingException {
        JsonNode line = read(line("org.apache.kafka.clients.Metadata", null, "moved: level={} offset={}", "x", 3));
        assertEquals("moved: level=x offset=3", line.get("message").asText());
        assertEquals("WARN", line.get("level").asText());
        List<String> fields = new ArrayList<>();
        line.fieldNames().forEachRemaining(fields::add);
        assertEquals(List.of("time", "level", "logger", "thread", "message"), fields);
    }

    private String line(String name, @Nullable Throwable thrown, String message, Object... arguments) {
        LoggingEvent event = new LoggingEvent("", context.getLogger(name), Level.WARN, message, thrown, arguments);
        event.setInstant(Instant.parse("2026-01-31T23:04:05.006Z"));
        event.setThreadName("main");
        ConsoleAppender<ILoggingEvent> shown = (ConsoleAppender<ILoggingEvent>)
                context.getLogger(Logger.ROOT_LOGGER_NAME).getAppender("STDERR");
        return new String(shown.getEncoder().encode(event), StandardCharsets.UTF_8);
    }

    private static JsonNode read(String line) throws JsonProcessingException {
        return new ObjectMapper().readTree(line);
    }
}
