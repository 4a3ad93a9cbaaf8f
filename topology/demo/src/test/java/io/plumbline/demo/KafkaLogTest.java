package io.plumbline.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class KafkaLogTest {

    private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    private final ListAppender<ILoggingEvent> shown = new ListAppender<>();

    @BeforeEach
    void listen() {
        shown.start();
        root.addAppender(shown);
    }

    @AfterEach
    void stopListening() {
        root.detachAppender(shown);
    }

    @Test
    void kafkasErrorsStayOutOfTheTableAndAreThereWhenTheDemonstrationFails() {
        StringWriter text = new StringWriter();
        try (KafkaLog log = KafkaLog.keptBack()) {
            LoggerFactory.getLogger("org.apache.kafka.common.network.Selector").error("a connection was closed");
            LoggerFactory.getLogger("kafka.server.KafkaApis").error("a request timed out");
            LoggerFactory.getLogger("io.plumbline.topology.assessment").error("a site has drifted");
            log.print(new PrintWriter(text));
        }
        assertEquals(1, shown.list.size());
        assertEquals("a site has drifted", shown.list.get(0).getFormattedMessage());
        assertTrue(text.toString().contains("Selector - a connection was closed"), text.toString());
        assertTrue(text.toString().contains("KafkaApis - a request timed out"), text.toString());
    }

    @Test
    void afterTheDemonstrationKafkasErrorsAreShownAgain() {
        KafkaLog.keptBack().close();
        LoggerFactory.getLogger("org.apache.kafka.clients.Metadata").error("no such topic");
        assertEquals(1, shown.list.size());
    }
}
